"""Workers and schedulers that die cost time, or a clear error: never an answer."""

import os
import signal
import subprocess
import sys
import threading

import dask
import dask.array
import numpy as np
import pytest
from distributed import Client

from fastmks import ClusterError, Index, kernels
from fastmks.dask import ShardedIndex
from support.comparing import assert_identical
from support.sharding import CONFIG, cluster, cut
from support.waiting import PATIENCE, wait_until

rng = np.random.default_rng(1)


@pytest.fixture
def client():
    with cluster(2, processes=True) as own:
        yield own


def kill_one(client):
    """Kill one worker as the system does; its nanny starts another one."""
    pid = sorted(client.run(os.getpid, nanny=False).values())[0]
    os.kill(pid, signal.SIGKILL)


class Gate:
    """Work in other processes notes that it has come here, and waits until it may go on."""

    def __init__(self, folder):
        self._folder = folder

    def enter(self):
        (self._folder / f"worker-{os.getpid()}").touch()
        wait_until((self._folder / "open").exists)

    def open(self):
        (self._folder / "open").touch()

    def workers(self):
        return [int(file.name.partition("-")[2]) for file in self._folder.glob("worker-*")]


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path)


def while_killing(gate, work):
    """Do some work, and kill a worker that has begun with it."""
    result = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    wait_until(gate.workers)
    os.kill(gate.workers()[0], signal.SIGKILL)
    gate.open()
    thread.join()
    return result[0]


def test_a_worker_killed_during_a_build(client, gate):
    def load(rows):
        gate.enter()
        return rows

    objects = rng.normal(size=(60, 3))
    parts = [dask.delayed(load, pure=False)(objects[i : i + 15]) for i in range(0, 60, 15)]
    sharded = while_killing(gate, lambda: ShardedIndex.build(parts, "linear", client))
    queries = rng.normal(size=(5, 3))
    assert_identical(sharded.search(queries, 7), Index(objects).search(queries, 7))


def test_a_worker_killed_during_a_search(client, gate):
    def kernel(x, y):
        if abs(x) == 1.5:  # only queries have that
            gate.enter()
        return float(x * y)

    objects = [float(x) for x in rng.normal(size=60)]
    own = kernels.Custom(kernel)
    sharded = ShardedIndex.build(cut(objects, 3), own, client, algorithm="scan")
    hits = while_killing(gate, lambda: sharded.search([1.5, -0.5], k=4))
    wanted = Index(objects, kernels.Custom(lambda x, y: float(x * y))).search([1.5, -0.5], k=4)
    assert_identical(hits, wanted)


@pytest.mark.parametrize("has_changed", [False, True])
def test_all_workers_killed_one_after_the_other(client, has_changed):
    objects = rng.normal(size=(60, 3))
    one = Index(objects)
    sharded = ShardedIndex.build(cut(objects, 4), "linear", client, algorithm="tree")
    if has_changed:  # what was added and removed is not lost either
        for index in (one, sharded):
            index.add(objects[:3] + 1.0)
            index.remove([5, 17, 59, 61])
    queries = rng.normal(size=(5, 3))
    for _ in range(3):
        kill_one(client)
        assert_identical(sharded.search(queries, 7), one.search(queries, 7))


def test_a_lost_worker_reads_its_shard_again(client, tmp_path):
    objects = rng.normal(size=(60, 3))
    ShardedIndex.build(cut(objects, 4), "linear", client).save(tmp_path)
    loaded = ShardedIndex.load(tmp_path, client)
    loaded.save(tmp_path)
    queries = rng.normal(size=(5, 3))
    for _ in range(2):
        kill_one(client)
        assert_identical(loaded.search(queries, 7), Index(objects).search(queries, 7))


def test_lost_futures_are_a_clear_error(client):
    objects = rng.normal(size=(60, 3))
    parts = client.scatter([objects[:30], objects[30:]], hash=False)
    sharded = ShardedIndex.build(parts, "linear", client)
    kill_one(client)
    with pytest.raises(ClusterError, match="given as futures are lost"):
        sharded.search(objects[:2])
    again = ShardedIndex.build(cut(objects, 2), "linear", client)  # the cluster is well
    assert len(again.search(objects[:2]).values) == 2


def test_work_that_kills_every_worker_is_a_clear_error(client):
    def load():
        import os

        os._exit(1)

    with pytest.raises(ClusterError, match="workers died, one after the other"):
        ShardedIndex.build([dask.delayed(load, pure=False)()], "linear", client)


@pytest.fixture
def far_cluster(tmp_path):
    """A scheduler and a worker as programs of their own, in a folder of their own."""
    address = tmp_path / "scheduler.json"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    programs = []

    def start(*words):
        command = [sys.executable, "-m", *words, "--scheduler-file", str(address)]
        programs.append(
            subprocess.Popen(
                command,
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return programs[-1]

    scheduler = start("distributed.cli.dask_scheduler", "--port", "0", "--dashboard-address", ":0")
    start("distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard")
    try:
        with dask.config.set(CONFIG):
            yield scheduler, address
    finally:
        for program in programs:
            program.kill()
            program.wait()


def test_a_lost_scheduler_is_a_clear_error(far_cluster):
    scheduler, address = far_cluster
    client = Client(scheduler_file=str(address), set_as_default=False, timeout=PATIENCE)
    try:
        sharded = ShardedIndex.build(dask.array.ones((6, 2), chunks=3), "linear", client)
        assert sharded.search([1.0, 2.0]).values.tolist() == [[3.0]]
        client._timeout = 1.0  # for which it tries to reach the scheduler again
        scheduler.kill()
        scheduler.wait()
        with pytest.raises(ClusterError, match="scheduler of the cluster is gone"):
            sharded.search([1.0, 2.0])
    finally:
        client.close(timeout=1)


def test_a_closed_client_is_a_clear_error():
    with cluster() as client:
        sharded = ShardedIndex.build(dask.array.ones((6, 2), chunks=3), "linear", client)
    with pytest.raises(ClusterError, match="client of this ShardedIndex is closed"):
        sharded.search([1.0, 2.0])
