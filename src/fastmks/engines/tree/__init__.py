"""The cover tree: its public interface, and the searches for one query or for many."""
