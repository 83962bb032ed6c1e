"""Searches of objects that are not vectors, beside what people of the field use."""
