"""Objects that are not vectors."""
