"""What distribution costs and brings, on one machine; and a model of many."""
