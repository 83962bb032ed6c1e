"""What the tests share: the oracle, problems of every kind, services, clusters, programs."""
