"""How the cost of the tree grows with the number of objects."""
