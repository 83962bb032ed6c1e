"""Tables and headline figures of the pages, made from the stored results in benchmarks/results."""
