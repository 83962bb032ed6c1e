"""The paper's evaluation on the same or the nearest data that can be had."""
