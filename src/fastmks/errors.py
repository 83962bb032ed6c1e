"""The errors fastmks raises on purpose.

    Exception
    └── FastmksError                    everything below, for one except clause
        ├── ClusterError                the machines that hold a ShardedIndex are gone
        ├── IndexFileError              a file that is no whole index that this version can read
        ├── InvalidArgument             also a ValueError: an argument that cannot be used
        ├── KernelValueError            also an ArithmeticError: a value that is no finite number
        ├── NotMercerError              also a ValueError: values no Mercer kernel can have
        └── ShardError                  the work on a shard failed, with whatever the worker said

Each message names the argument or the objects, the rule, what was seen, and what would do.
"""

__all__ = [
    "ClusterError",
    "FastmksError",
    "IndexFileError",
    "InvalidArgument",
    "KernelValueError",
    "NotMercerError",
    "ShardError",
]


class FastmksError(Exception):
    """Base of all errors that fastmks raises on purpose."""


class ClusterError(FastmksError):
    """The cluster that holds a `fastmks.dask.ShardedIndex` is gone, or cannot do the work."""


class IndexFileError(FastmksError):
    """A file, or bytes, that no index can be made of: cut, changed, of another kind or version."""


class InvalidArgument(FastmksError, ValueError):
    """An argument cannot be used; nothing was changed."""


class KernelValueError(FastmksError, ArithmeticError):
    """A kernel value is no finite number, so no ranking is defined."""


class NotMercerError(FastmksError, ValueError):
    """Kernel values contradict the claim that the kernel is Mercer."""


class ShardError(FastmksError):
    """The work on one shard of a `fastmks.dask.ShardedIndex` failed; says which, and why."""
