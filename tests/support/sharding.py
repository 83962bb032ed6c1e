"""Clusters for tests, and collections to be put on them."""

import contextlib

import dask
import numpy as np
from distributed import Client, LocalCluster

CONFIG = {
    "distributed.comm.timeouts.connect": "5s",
    "distributed.scheduler.allowed-failures": 5,
    "distributed.worker.memory.terminate": False,
}


@contextlib.contextmanager
def cluster(n_workers=2, *, processes=False, threads_per_worker=1):
    """A client of a cluster on this machine: of threads, or of processes that can be killed."""
    with (
        dask.config.set(CONFIG),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=threads_per_worker,
            processes=processes,
            dashboard_address=":0",
            silence_logs=50,
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


def cut(objects, n_parts):
    """Objects as a list of delayed parts, of very different lengths, one of them perhaps empty."""
    n = objects.shape[0] if hasattr(objects, "shape") else len(objects)
    ends = np.unique((n * np.linspace(0, 1, n_parts + 1)[1:] ** 2).round().astype(int))
    begins = [0, *ends[:-1].tolist()]
    return [dask.delayed(objects[a:b]) for a, b in zip(begins, ends.tolist(), strict=True)]
