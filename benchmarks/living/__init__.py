"""Indexes that grow, shrink, are read while they are written, and go to files and back."""
