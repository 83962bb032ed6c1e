"""Tables of pages, made from the stored results."""
