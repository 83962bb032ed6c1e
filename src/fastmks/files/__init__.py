"""Records and files: arrays and facts in one file, replaced as a whole; journals and locks."""
