"""The cover tree: what users see of it, and the searches for one query or for many."""
