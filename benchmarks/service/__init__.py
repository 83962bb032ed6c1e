"""The HTTP service under load: many clients on loopback, beside searches within the process."""
