"""Searches of objects that are not vectors, beside the tools of their field."""
