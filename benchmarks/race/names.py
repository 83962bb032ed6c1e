"""The names of entrants in cells, tables and pictures."""

SCAN = "fastmks scan"
TREE = "fastmks tree"
TREE_OF_ONE = "fastmks tree, blocks of one"  # evaluates least, and as the paper counts
DUAL = "fastmks dual-tree"
FILTER = "fastmks filter"
AUTO = "fastmks auto"
NUMPY = "numpy"
MLPACK = "mlpack single-tree"
MLPACK_DUAL = "mlpack dual-tree"
