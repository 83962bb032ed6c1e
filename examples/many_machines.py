"""Search vectors that several processes hold, as if they were one index; kill one of them.

    python examples/many_machines.py [scheduler address]

Without an address, a cluster of two processes is started on this machine. With one, the workers of
that cluster do the work; nothing else changes.
"""

import os
import signal
import sys

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import fastmks
from fastmks.dask import ShardedIndex

N_OBJECTS, N_COLUMNS, N_SHARDS, K = 20_000, 16, 4, 5


def main() -> None:
    """Build shards where the data are made, search them, lose a worker, and search again."""
    if len(sys.argv) > 1:
        with Client(sys.argv[1]) as client:
            show(client, can_kill=False)
        return
    local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with local, Client(local) as client:
        show(client, can_kill=True)


def show(client: Client, *, can_kill: bool) -> None:
    """Show that shards answer as one index does."""
    chunk = (N_OBJECTS // N_SHARDS, N_COLUMNS)
    vectors = da.random.default_rng(0).normal(size=(N_OBJECTS, N_COLUMNS), chunks=chunk)
    index = ShardedIndex.build(vectors, "linear", client)
    print(index)
    for shard in index.shards:
        print(f"  {shard.name}: {shard.n_objects} objects, {shard.n_bytes / 1e6:.1f} MB")
    queries = np.random.default_rng(1).normal(size=(3, N_COLUMNS))
    hits = index.search(queries, k=K)
    print("best of each query:", hits.ids[:, 0].tolist())
    one = fastmks.Index(vectors.compute()).search(queries, k=K)
    print("the same as one index:", bool((hits.values == one.values).all()))
    if can_kill:
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        again = index.search(queries, k=K)
        print("the same after a worker was killed:", bool((again.values == one.values).all()))


if __name__ == "__main__":
    main()
