"""Engines answer searches: a space evaluates one kernel, and each engine gets values from it."""
