"""Every measured figure in README.md and docs, bound to its place in the stored results."""
