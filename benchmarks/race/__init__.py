"""Races: all entrants search the same queries in turn, are timed, and their answers checked."""
