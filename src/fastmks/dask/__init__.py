"""Max-kernel search over many machines: one index per partition, on the workers of a Dask cluster.

``pip install ".[dask]"``; docs/guides/many-machines.md leads from a laptop to a cluster.
"""

from fastmks._util.validation import import_extra

import_extra("distributed", extra="dask", needed_by="fastmks.dask")

from fastmks.dask.advice import Advice  # noqa: E402, after the check
from fastmks.dask.sharded import ShardedIndex, ShardInfo  # noqa: E402
from fastmks.dask.sharded_hits import DistributedHits, DistributedHitsAbove  # noqa: E402

__all__ = ["Advice", "DistributedHits", "DistributedHitsAbove", "ShardInfo", "ShardedIndex"]
