"""Costs and gains of distribution on one machine, and a model of many machines."""
