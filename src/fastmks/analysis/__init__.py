"""Analysis before a search: how hard objects are to search, and what a search will cost."""
