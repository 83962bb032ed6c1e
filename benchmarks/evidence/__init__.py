"""The pictures of README and docs/evidence, drawn from the stored results."""
