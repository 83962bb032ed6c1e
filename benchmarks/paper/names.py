"""What entrants of the paper's evaluation are called, in cells, tables and pictures."""

__all__ = ["AUTO", "COUNTED", "DUAL", "FILTER", "MLPACK", "MLPACK_DUAL", "NUMPY", "SCAN", "TREE"]

SCAN = "fastmks scan"
TREE = "fastmks tree"
COUNTED = "fastmks tree, blocks of one"  # counts evaluations as the paper does
DUAL = "fastmks dual-tree"
FILTER = "fastmks filter"
AUTO = "fastmks auto"
NUMPY = "numpy"
MLPACK = "mlpack single-tree"
MLPACK_DUAL = "mlpack dual-tree"
