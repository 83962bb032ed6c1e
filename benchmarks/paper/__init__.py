"""The paper's evaluation on the same data or the nearest available."""
