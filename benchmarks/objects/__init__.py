"""Searches of objects that are not vectors, beside what people of the field use."""
"""Objects that are no vectors: evaluations and times of their searches."""
