"""The index: ids and objects that are searched, added and removed, as snapshots of segments."""
