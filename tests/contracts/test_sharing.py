"""Many threads, forks and interrupts: a search sees what was there before a change, or after."""

import multiprocessing
import os
import pathlib
import signal
import sys
import threading
import time

import numpy as np
import pytest

import fastmks
from fastmks import Index, kernels
from fastmks._util.fork_safe import Lock, cached_property
from fastmks.index.view import current_of
from support.inside import snapshot_of
from support.programs import run_python
from support.waiting import PATIENCE

SIZE = 10  # objects that come and go together


def batch(number):
    """Ten objects of which each knows the batch it belongs to, and what is best for a query."""
    return np.column_stack([np.full(SIZE, 1.0), np.full(SIZE, float(number)), np.arange(SIZE)])


def ids_of(number):
    return [SIZE * number + i for i in range(SIZE)]


def run_all(threads, seconds=20):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "a deadlock"


@pytest.mark.parametrize("algorithm", ["auto", "scan", "tree", "filter"])
def test_searches_see_whole_changes_only(algorithm):
    """One thread adds and removes batches, from few to thousands of objects; six others search."""
    index = Index(batch(0), ids=ids_of(0), algorithm=algorithm)
    faults, done, counts = [], threading.Event(), []
    together = threading.Barrier(7)

    def write():
        try:
            together.wait(PATIENCE)
            rng = np.random.default_rng(0)
            held = [0]
            for number in range(1, 250):
                index.add(batch(number), ids=ids_of(number))
                held.append(number)
                while len(held) > 1 and rng.random() < 0.4:
                    index.remove(ids_of(held.pop(int(rng.integers(len(held))))))
        except BaseException as error:
            faults.append(error)
        finally:
            done.set()

    def check(ids):
        numbers, times = np.unique(ids // SIZE, return_counts=True)
        assert (times == SIZE).all(), f"half a batch: {dict(zip(numbers, times, strict=True))}"
        assert len(np.unique(ids)) == len(ids)

    def read(seed):
        rng = np.random.default_rng(seed)
        try:
            together.wait(PATIENCE)
            while seed not in counts or not done.is_set():
                counts.append(seed)
                check(index.search_above([[1.0, 0.0, 0.0]], threshold=1.0).ids)
                check(index.ids)
                hits = index.search([[0.0, 1.0, 0.0]], k=1)
                newest = int(hits.values.item())
                assert hits.ids.item() == SIZE * newest  # the first of the newest batch
                if rng.random() < 0.1:
                    twin = index.copy()
                    whole = twin.search([[1.0, 0.0, 0.0]], k=len(twin))
                    check(whole.ids[0])
        except BaseException as error:
            faults.append(error)

    run_all(
        [
            threading.Thread(target=write),
            *(threading.Thread(target=read, args=[i]) for i in range(6)),
        ],
        60,
    )
    assert not faults, faults[0]
    assert len(set(counts)) == 6


def test_many_writers_lose_nothing():
    index = Index([[0.0]])
    names = []

    def write():
        for _ in range(50):
            names.extend(index.add([[1.0], [2.0]]).tolist())

    run_all([threading.Thread(target=write) for _ in range(8)])
    assert sorted(names) == list(range(1, 801))
    assert len(index) == 801


def test_a_merge_does_not_hold_up_searches():
    """A search that began before a merge ends while the merge still evaluates a slow kernel."""
    is_slow, is_merging, may_go_on = threading.Event(), threading.Event(), threading.Event()

    def slow(x, y):
        if is_slow.is_set() and threading.current_thread().name == "writer":
            is_merging.set()
            assert may_go_on.wait(PATIENCE)
        return float(x * y)

    index = Index([float(i) for i in range(8)], kernels.Custom(slow), algorithm="tree")

    def write():
        index.add([float(i) for i in range(8, 80)])

    writer = threading.Thread(target=write, name="writer")
    is_slow.set()
    writer.start()
    assert is_merging.wait(PATIENCE)
    assert index.search([1.0]).values.item() == 7.0
    assert len(index) == 8
    may_go_on.set()
    writer.join(PATIENCE)
    assert index.search([1.0]).values.item() == 79.0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_during_a_change():
    """The child has no thread that could release the parent's lock, and needs none."""
    index = Index(np.random.default_rng(0).normal(size=(3000, 3)), algorithm="filter")
    done = threading.Event()

    def write():
        while not done.is_set():
            names = index.add(np.ones((400, 3)))
            index.remove(names)

    def child():
        index.add([[9.0, 9.0, 9.0]])
        found = index.search([[1.0, 1.0, 1.0]], k=2, threads=2)
        sys.exit(0 if found.values[0, 0] == 27.0 else 1)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(15):
            process = multiprocessing.get_context("fork").Process(target=child)
            process.start()
            process.join(PATIENCE)
            assert process.exitcode == 0, process.exitcode
    finally:
        done.set()
        writer.join(PATIENCE)


def test_interrupts_leave_all_or_nothing():
    """An alarm at random moments stands for Ctrl-C; afterwards the index is as before, or after."""
    script = """
    import signal, numpy as np, fastmks
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30_000, 8))
    index = fastmks.Index(rows[:1000], algorithm="filter")
    def interrupt(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    held = 1000
    while interrupted < 60:
        n = int(rng.integers(1, 3000))
        seconds = float(rng.uniform(1e-5, 3e-3))
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                if rng.random() < 0.7:
                    index.add(rows[:n])
                else:
                    index.remove(index.ids[: held - held // 2])
            finally:  # where the alarm may still come
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupted += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
        assert len(index) in (held, held + n, held // 2), (held, n, len(index))
        held = len(index)
        assert len(np.unique(index.ids)) == held
        hits = index.search(rows[:3], k=1)
        assert (hits.values == index.search(rows[:3], k=1, algorithm="scan").values).all()
        if held > 20_000:
            index.remove(index.ids[1000:])
            held = len(index)
    print("interrupted", interrupted)
    """
    done = run_python(script)
    assert done.returncode == 0, done.stderr
    assert "interrupted 60" in done.stdout


class Between:
    """Stands for the lock of an index, and lets others change it around the next change."""

    def __init__(self, index, change, *, is_before):
        self.current, self.change, self.is_before = current_of(index), change, is_before
        self.lock = self.current.changing
        self.current.changing = self

    def alone(self):
        return self

    def __enter__(self):
        if self.is_before:
            self.go()
        self.inner = self.lock.alone()
        self.inner.__enter__()

    def __exit__(self, *error):
        self.inner.__exit__(*error)
        if not self.is_before:
            self.go()

    def go(self):
        self.current.changing = self.lock
        run_all([threading.Thread(target=self.change)])


class TestOthersThatChangeIt:
    """What needs all objects in one part gets that part, whatever comes right after."""

    ROWS = np.random.default_rng(0).normal(size=(60, 3))

    def make(self, change, *, is_before):
        index = Index(self.ROWS[:40], algorithm="tree")
        index.add(self.ROWS[40:45])
        assert len(snapshot_of(index).segments) == 2
        Between(index, lambda: change(index), is_before=is_before)
        return index

    def test_search_self(self):
        index = self.make(lambda index: index.add(self.ROWS[45:]), is_before=False)
        hits = index.search_self(k=3)
        wanted = Index(self.ROWS[:45]).search_self(k=3)
        assert hits.ids.tolist() == wanted.ids.tolist()
        assert len(index) == 60

    def test_tree(self):
        index = self.make(lambda index: index.remove(range(45)), is_before=True)
        with pytest.raises(ValueError, match="holds no objects"):
            _ = index.tree

    def test_a_small_budget(self):
        index = self.make(lambda index: index.add(self.ROWS[45:]), is_before=False)
        assert index.search(self.ROWS[:2], k=40, budget=42).ids.shape == (2, 40)
        index = self.make(lambda index: index.remove(range(20)), is_before=True)
        with pytest.raises(ValueError, match="k must be between 1 and the 25 indexed objects"):
            index.search(self.ROWS[:2], k=40, budget=42)


def test_a_copy_and_a_file_do_not_wait_for_an_add(tmp_path):
    """A kernel function that is called by add takes a copy, and saves what was there before."""
    index = Index([1.0, 2.0], kernels.Normalized(kernels.Custom(lambda x, y: x * y)))

    def copying(x, y):
        if x == 7.0:
            sizes.append(len(living.copy()))
            living.save(tmp_path / "x", encode=lambda one: str(one).encode())
        return float(x * y)

    sizes = []
    living = Index([1.0, 2.0], kernels.Normalized(kernels.Custom(copying)))
    living.add([7.0])
    assert set(sizes) == {2}
    assert len(living) == len(index) + 1
    back = fastmks.load(
        tmp_path / "x", kernel=kernels.Normalized(kernels.Custom(copying)), decode=float
    )
    assert len(back) == 2


class TestLock:
    def test_its_holder_is_told_instead_of_waiting(self):
        lock = Lock("this thread", "not now")
        with lock.alone(), pytest.raises(ValueError, match="not now"):
            lock.alone()
        with lock.alone():
            pass

    def test_it_keeps_others_out(self):
        lock, inside, most = Lock("this thread", ""), [0], [0]

        def work():
            for _ in range(50):
                with lock.alone():
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    time.sleep(0)
                    inside[0] -= 1

        run_all([threading.Thread(target=work) for _ in range(4)])
        assert most == [1]

    def test_it_is_free_in_a_child(self):
        lock = Lock("this thread", "held")
        with lock.alone():
            child = os.fork()
            if child == 0:
                signal.alarm(int(PATIENCE))
                with lock.alone():
                    os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def test_threads_of_a_child_get_the_same_lock(self, monkeypatch):
        """Also those that come while the first of them is making it."""
        lock = Lock("this thread", "held")
        monkeypatch.setattr(os, "getpid", lambda: -1)
        make, made = threading.RLock, []

        def make_while_another_thread_does():
            if not made:
                made.append(None)
                made.append(lock.alone())
            return make()

        monkeypatch.setattr(threading, "RLock", make_while_another_thread_does)
        assert lock.alone() is made[1] is lock.alone()


class TestCachedProperty:
    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    def test_a_fork_while_a_thread_computes(self):
        """That of functools has a lock before Python 3.12, which nobody in the child releases."""
        is_computing, may_go_on = threading.Event(), threading.Event()

        class Slow:
            @cached_property
            def value(self):
                is_computing.set()
                may_go_on.wait(PATIENCE)
                return 3

        thread = threading.Thread(target=lambda: Slow().value)
        thread.start()
        assert is_computing.wait(PATIENCE)
        child = os.fork()
        if child == 0:
            signal.alarm(int(PATIENCE))
            may_go_on = threading.Event()
            may_go_on.set()
            os._exit(Slow().value)
        may_go_on.set()
        thread.join(PATIENCE)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3

    def test_all_get_what_the_first_has_stored(self):
        class Nested:
            depth = 0

            @cached_property
            def value(self):
                """Something."""
                self.depth += 1
                if self.depth == 1:
                    self.first = self.value  # as another thread would, meanwhile
                return object()

        nested = Nested()
        assert nested.value is nested.first is nested.value
        assert Nested.value.__doc__ == "Something."

    def test_nobody_uses_the_one_of_functools(self):
        package = pathlib.Path(fastmks.__file__).parent
        texts = {path.name: path.read_text() for path in package.rglob("*.py")}
        assert not [name for name in texts if "functools import cached_property" in texts[name]]
