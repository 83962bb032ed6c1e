"""Filters bound all values and evaluate few: own bounds, codes, inverted lists, pivots."""
