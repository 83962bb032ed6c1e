"""Objects that are no vectors: evaluations and times of their searches."""
