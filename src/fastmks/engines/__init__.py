"""Engines answer searches: a space evaluates one kernel, and each engine asks it for values."""
