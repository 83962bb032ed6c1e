"""Tables and headline figures of the pages, built from the stored results in benchmarks/results."""
