"""Functions in worker processes: the same answers and errors, and processes that end."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import fastmks
from fastmks import Index, InvalidArgument, KernelValueError
from fastmks import kernels as K
from support import working
from support.comparing import assert_identical
from support.functions import normal, overlap
from support.inside import pool_of
from support.kinds.own import COMPILED
from support.programs import heed_interrupts
from support.waiting import PATIENCE, wait_until
from support.working import Counted, Locked, Noting

_LETTERS = iter("all trees of kernels, searched for the best of all trees " * 4)
WORDS = ["".join(letters) for letters in zip(_LETTERS, _LETTERS, _LETTERS, strict=False)]
QUERIES = ["a tree", "search", "", "kernels of trees"]


SLOW = """
        import os, signal, sys, time
        import fastmks
        from fastmks import kernels as K
        def slow(x, y):
            time.sleep(2e-4)
            return float(x * y)
        kernel = K.Custom(slow, workers=2)
        index = fastmks.Index(list(range(300)), kernel)
"""
READY = """
        while len(kernel._pool.process_ids) < 2:
            index.search([1, 2, 3], algorithm="scan")
        print(*kernel._pool.process_ids, flush=True)
"""


def run_code(code):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def ended(processes):
    wait_until(lambda: not any(map(is_alive, processes)))


def warm(kernel, objects, queries):
    """Search until the processes are ready; return their ids."""
    index = Index(objects, kernel)

    def is_ready():
        index.search(queries, 1, algorithm="scan")
        return len(pool_of(kernel).process_ids) == kernel.workers

    wait_until(is_ready)
    return pool_of(kernel).process_ids


@pytest.fixture(params=["loky", "concurrent.futures"])
def executors(request, monkeypatch):
    """The executors of loky, and those without it."""
    if request.param != "loky":
        monkeypatch.setitem(sys.modules, "loky", None)


@pytest.fixture(scope="module")
def words():
    kernel = K.Custom(working.slow_overlap, workers=2)
    warm(kernel, WORDS, QUERIES)
    yield kernel
    kernel.close()


def test_searches_run_in_the_workers_with_the_same_hits(tmp_path, executors):
    noting = Noting(tmp_path / "processes")
    kernel = K.Custom(noting, workers=2, symmetric=True)
    processes = warm(kernel, WORDS, QUERIES)
    assert os.getpid() not in processes
    noting.path.unlink()
    plain, index = Index(WORDS, K.Custom(overlap)), Index(WORDS, kernel)
    for _ in range(2):
        assert_identical(index.search(QUERIES, 4), plain.search(QUERIES, 4))
    assert set(processes) <= noting.processes() <= {os.getpid(), *processes}
    for algorithm in ("scan", "tree", "dual-tree", "filter"):
        hits = index.search(QUERIES, 4, algorithm=algorithm)
        assert_identical(hits, plain.search(QUERIES, 4))
    assert_identical(index.search_above(QUERIES, 3.0), plain.search_above(QUERIES, 3.0))
    assert_identical(index.search_self(3), plain.search_self(3))
    index.add(["abc", "search"])
    plain.add(["abc", "search"])
    only = [0, 5, 9, len(WORDS)]
    assert_identical(index.search(QUERIES, 2, only=only), plain.search(QUERIES, 2, only=only))
    assert pool_of(kernel).process_ids == processes  # the same ones all the time
    kernel.close()
    ended(processes)
    assert pool_of(kernel).process_ids == []


def test_blocks_of_rows_have_the_same_hits(executors):
    rows = normal(120, 5)
    kernel = K.Normalized(K.Custom(block=working.slow_products, workers=3))
    processes = warm(kernel.kernel, rows, rows[:2])
    plain = K.Normalized(K.Custom(block=lambda x, ys: (ys * x).sum(axis=1)))
    for objects, queries in ((rows, rows[:7] + 0.5), (rows[::-2], rows[3:4])):
        index, wanted = Index(objects, kernel), Index(objects, plain)
        for algorithm in ("scan", "filter", "tree"):
            hits = index.search(queries, 5, algorithm=algorithm)
            assert_identical(hits, wanted.search(queries, 5))
    np.testing.assert_array_equal(kernel.matrix(rows[:50]), plain.matrix(rows[:50]))
    assert pool_of(kernel.kernel).process_ids == processes
    kernel.kernel.close()


def test_a_function_of_microseconds_starts_no_process():
    kernel = K.Custom(overlap, workers=2)
    index = Index(WORDS * 20, kernel)
    for _ in range(5):
        index.search(QUERIES * 20, 3)
    assert not pool_of(kernel).has_started


def test_a_block_of_one_query_has_work_for_every_process(monkeypatch):
    kernel = K.Custom(working.very_slow, workers=4)
    warm(kernel, list(range(20)), [0])
    pool, sizes = pool_of(kernel), []
    evaluate = pool.evaluate

    def noting(*block):
        sizes.append(len(block[-1]))
        return evaluate(*block)

    monkeypatch.setattr(pool, "evaluate", noting)
    Index(list(range(24)), kernel).search([0])
    assert sizes
    assert min(sizes) >= 4
    kernel.close()


def test_an_object_is_sent_once_to_each_worker():
    objects = [Counted(word) for word in WORDS]
    kernel = K.Custom(working.slow_texts, workers=2)
    index = Index(objects, kernel)
    queries = [Counted(word) for word in QUERIES]

    def is_ready():
        index.search(queries, algorithm="scan")
        return len(pool_of(kernel).process_ids) == 2

    wait_until(is_ready)
    Counted.n_pickled = 0
    n_searches = 5
    for _ in range(n_searches):
        index.search(queries, 3, algorithm="scan")
    assert Counted.n_pickled <= 2 * len(objects) + n_searches * 2 * len(queries)
    kernel.close()


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ("raise", LookupError, "no value for raise"),
        ("odd", RuntimeError, "Odd: 1 2"),
        ("text", KernelValueError, r"queries\[\d\] and object 150, and returned 'many' \(str\)"),
        ("nan", KernelValueError, r"gives queries\[\d\] and object 150 the value nan"),
        ("end", RuntimeError, "a worker process ended while it evaluated the kernel"),
    ],
)
def test_errors_name_the_objects_and_end_the_workers(bad, error, message):
    kernel = K.Similarity(working.faulty, workers=2)
    objects = [f"word {i}" for i in range(150)]
    processes = warm(kernel, objects, QUERIES)
    index = Index([*objects, bad], kernel)
    index.search(QUERIES, only=range(100))  # its cost is known
    with pytest.raises(error, match=message):
        index.search(QUERIES)
    if error is not KernelValueError:
        ended(processes)
    hits = index.search(QUERIES, 2, only=range(150))
    assert hits.indices.tolist() == [[0, 1]] * len(QUERIES)
    kernel.close()


def test_objects_that_cannot_be_pickled_are_an_error():
    kernel = K.Custom(working.slow_one, workers=2)
    things = [Locked() for _ in range(200)]
    with pytest.raises(InvalidArgument, match="workers needs objects that can be pickled.*Leave"):
        warm(kernel, things, things[:1])


def test_functions_that_cannot_be_pickled_are_an_error(monkeypatch):
    lock = Locked()
    with pytest.raises(InvalidArgument, match="workers needs a function that can be pickled"):
        K.Custom(lambda x, y: float(lock is x), workers=2)
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(InvalidArgument, match="Install cloudpickle, which takes functions from"):
        K.Similarity(lambda x, y: 1.0, workers=2)


def test_a_pickle_that_the_workers_cannot_read_is_an_error():
    result = run_code(
        """
        import sys
        sys.modules["cloudpickle"] = sys.modules["loky"] = None
        """
        + SLOW
        + """
        try:
            while True:
                index.search([1, 2, 3], algorithm="scan")
        except fastmks.InvalidArgument as error:
            print(error)
        """
    )
    assert "cannot be unpickled in a worker process: AttributeError" in result.stdout, result.stderr
    assert "Install cloudpickle" in result.stdout


def test_the_option_is_a_count_for_functions_in_python():
    for bad in (0, -1, 1.5, "two", True):
        with pytest.raises(InvalidArgument, match="workers must be a whole number of at least 1"):
            K.Custom(overlap, workers=bad)
    assert pool_of(K.Custom(overlap, workers=1)) is None
    with pytest.raises(InvalidArgument, match="workers goes with functions in Python only"):
        K.Custom(COMPILED, workers=2)


def test_workers_are_no_part_of_the_kernel_and_of_files(words, tmp_path):
    assert words == K.Custom(working.slow_overlap)
    assert repr(words) == "Custom(slow_overlap)"
    copied = pickle.loads(pickle.dumps(words))
    assert copied.workers == 2
    assert pool_of(copied) is not pool_of(words)
    path = tmp_path / "words.fmks"
    Index(WORDS, words).save(path, encode=str.encode)
    for kernel in (words, K.Custom(working.slow_overlap, symmetric=True)):
        index = fastmks.load(path, kernel=kernel, decode=bytes.decode)
        assert_identical(index.search(QUERIES, 2), Index(WORDS, words).search(QUERIES, 2))


def test_garbage_ends_the_workers(executors):
    kernel = K.Custom(working.slow_overlap, workers=2)
    processes = warm(kernel, WORDS, QUERIES)
    del kernel
    gc.collect()
    ended(processes)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, None])
@pytest.mark.parametrize("without_loky", [False, True])
def test_the_workers_end_with_the_program(how, without_loky):
    hidden = "\n        import sys\n        sys.modules['loky'] = None\n" if without_loky else ""
    work = "\n        while True:\n            index.search([1, 2, 3], algorithm='scan')\n"
    code = hidden + SLOW + READY + ("" if how is None else work)
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL, preexec_fn=heed_interrupts,
    )  # fmt: skip
    processes = [int(word) for word in program.stdout.readline().split()]
    assert len(processes) == 2
    if how is not None:
        program.send_signal(how)
    program.wait(timeout=PATIENCE)
    program.stdout.close()
    assert (program.returncode == 0) == (how is None)
    ended(processes)


def test_ctrl_c_ends_the_workers_and_leaves_the_index_usable():
    result = run_code(
        SLOW
        + READY
        + """
        signal.signal(signal.SIGINT, signal.default_int_handler)
        before = kernel._pool.process_ids
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        try:
            while True:
                index.search([1, 2, 3], algorithm="scan")
        except KeyboardInterrupt:
            print("stopped")
        while any(os.path.exists(f"/proc/{process}") for process in before):
            time.sleep(0.01)
        print(index.search([1], algorithm="scan").indices[0, 0])
        """
    )
    assert result.stdout.split()[2:] == ["stopped", "299"], result.stderr


def test_a_fork_has_workers_of_its_own():
    result = run_code(
        SLOW
        + READY
        + """
        mine = kernel._pool.process_ids
        child = os.fork()
        if child == 0:
            found = index.search([1, 2], algorithm="scan").indices[0, 0]
            kernel.close()
            os._exit(0 if found == 299 else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        index.search([1, 2], algorithm="scan")
        print(kernel._pool.process_ids == mine)
        """
    )
    assert result.stdout.split()[2:] == ["0", "True"], result.stderr
