"""How costs grow with the number of objects and with their intrinsic dimension."""
