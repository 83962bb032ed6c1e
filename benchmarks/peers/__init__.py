"""fastmks and other libraries side by side, each in the best form we know for it."""
