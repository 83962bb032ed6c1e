"""Long searches: Ctrl-C, progress bars, fork, threads without the GIL."""

import ast
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import fastmks
from fastmks import Index
from fastmks import kernels as K
from fastmks._util.progress import Progress, checked_work
from support.inside import snapshot_of
from support.programs import run_python
from support.waiting import PATIENCE, stop_after, wait_until

PACKAGE = Path(fastmks.__file__).parent


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "search", ["search(X[:20_000], k=5)", "search_self(k=5)", "search_above(X, 1e9)"]
)
def test_ctrl_c_stops_soon_and_leaves_the_index_usable(search, threads):
    """Seconds of CPU say how soon: other processes cannot make those more."""
    result = run_python(
        f"""
        import os, signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        import numpy as np
        import fastmks
        X = np.random.default_rng(0).normal(size=(200_000, 64))
        index = fastmks.Index(X, threads={threads})
        def interrupt():
            global pressed
            time.sleep(0.3)
            pressed = time.process_time()
            os.kill(os.getpid(), signal.SIGINT)
        try:
            threading.Thread(target=interrupt).start()
            index.{search}
        except KeyboardInterrupt:
            print("stopped after", time.process_time() - pressed)
        assert index.search(X[7], k=1).indices[0, 0] >= 0
        print("usable")
        """
    )
    assert "usable" in result.stdout, result.stderr
    assert float(result.stdout.split()[2]) < 0.5


def test_the_gil_is_free_while_searching():
    """Another thread counts meanwhile; where the machine is busy, not in every search."""
    index = Index(np.random.default_rng(0).normal(size=(50_000, 64)), algorithm="scan")
    queries = np.random.default_rng(1).normal(size=(300, 64))
    n_ticks, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            n_ticks[0] += 1
            time.sleep(0.001)

    def ticks_of_a_search():
        before = n_ticks[0]
        index.search(queries, k=5, threads=1)
        return n_ticks[0] - before

    other = threading.Thread(target=tick)
    other.start()
    try:
        wait_until(lambda: ticks_of_a_search() >= 3)
    finally:
        stop.set()
        other.join()


def test_progress_bar(capsys):
    index = Index(np.random.default_rng(0).normal(size=(20_000, 64)))
    queries = np.random.default_rng(1).normal(size=(200, 64))
    shown = index.search(queries, k=3, progress=True)
    assert "100%" in capsys.readouterr().err
    hidden = index.search(queries, k=3)
    assert capsys.readouterr().err == ""
    np.testing.assert_array_equal(shown.values, hidden.values)


def test_search_works_in_a_child_after_the_parent_has_searched():
    result = run_python(
        """
        import os, warnings
        import numpy as np
        import fastmks
        warnings.simplefilter("ignore")
        X = np.random.default_rng(0).normal(size=(20_000, 16))
        index = fastmks.Index(X, threads=4)
        expected = index.search(X[:100], k=3)
        child = os.fork()
        if child == 0:
            same = (index.search(X[:100], k=3).values == expected.values).all()
            os._exit(0 if same else 1)
        print("child said", os.waitpid(child, 0)[1])
        """
    )
    assert result.stdout == "child said 0\n", result.stderr


def test_signals_reach_their_handlers_during_a_search():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.perf_counter()))
    try:
        index = Index(np.random.default_rng(0).normal(size=(100_000, 64)), threads=2)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        index.search(np.random.default_rng(1).normal(size=(2_000, 64)), k=5)
        ended = time.perf_counter()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen
    assert seen[0] < ended


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("work", ["index.search(X[:20_000], progress=seen)", "choose()"])
def test_python_may_end_while_a_daemon_thread_searches(work, threads):
    """It ends while the thread is at work for certain: no clock says when."""
    result = run_python(
        f"""
        import atexit, threading
        import numpy as np
        import fastmks
        from fastmks.engines.filters.axes import choose_axes
        from fastmks._util.progress import Progress
        from fastmks.index.view import view_of
        X = np.random.default_rng(0).normal(size=(100_000, 64))
        index = fastmks.Index(X, threads={threads})
        atexit.register(lambda: print("at exit", index.search(X[:1]).values.shape))
        is_at_work = threading.Semaphore(0)
        seen = Progress(False, is_at_work.release)
        def choose():
            while True:
                choose_axes(view_of(index).space, threads={threads}, progress=seen)
        threading.Thread(target=lambda: {work}, daemon=True).start()
        for _ in range(5):
            is_at_work.acquire()
        """
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "at exit (1, 1)\n"


_BLAS = {"dot", "einsum", "inner", "linalg", "matmul", "matvec", "tensordot", "vdot", "vecdot"}
_BLAS |= {"corrcoef", "cov", "polyfit", "vecmat"}
_OF_THE_PROGRAM = {
    "cli/engine_comparison.py",
    "cli/digits.py",
    "cli/object_files.py",
}  # on its main thread


def test_nothing_calls_blas():
    """Its own end may hang, or crash, when a daemon thread is in it while Python ends."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).as_posix() in _OF_THE_PROGRAM:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
            is_called = isinstance(node, ast.Attribute) and node.attr in _BLAS
            assert not is_product, f"{path}:{node.lineno}"
            assert not is_called, f"{path}:{node.lineno}"


@pytest.mark.parametrize("value", ["99999999999999999999999", "²", "-3", "0", "two", "3,2"])
def test_the_environment_cannot_break_the_default_threads(value, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    threads = Index([[1.0]]).search([1.0]).stats.threads
    assert 1 <= threads <= 1024
    if value == "3,2":
        assert threads == 3


_LETTERS = "".join(np.random.default_rng(2).choice(list("ARNDC"), size=150_000))
_STEPS = np.random.default_rng(3).normal(size=150_000)
_NODES = np.arange(20_000)
_RING = (np.stack([_NODES, np.roll(_NODES, 1)], axis=1), len(_NODES))
_LONG = [  # objects of one evaluation, each of which takes seconds
    (K.LocalAlignment(0.1), _LETTERS),
    (K.Normalized(K.LocalAlignment(0.1)), _LETTERS),
    (K.SmithWaterman(), _LETTERS),
    (K.SmithWaterman(K.Substitution.uniform("ARNDC", match=1.5, mismatch=0.5)), _LETTERS),
    (K.SegmentMatch(), _LETTERS),
    (K.GlobalAlignment(1.0), _STEPS),
    (K.Normalized(K.GlobalAlignment(1.0, triangular=100_000)), _STEPS),
    (K.ShortestPath(), _RING),
    (K.Mismatch(5, 2), _LETTERS),
]


@pytest.mark.parametrize(("kernel", "long"), _LONG, ids=[repr(kernel) for kernel, _ in _LONG])
@pytest.mark.parametrize("how", ["call", "matrix", "tree"])
def test_a_single_evaluation_asks_whether_to_stop(how, kernel, long):
    """Again and again: otherwise what takes hours would ask before and after it only."""
    check, calls = stop_after(3)
    work = {
        "call": lambda: kernel(long, long),
        "matrix": lambda: kernel.matrix([long, long], threads=2),
        "tree": lambda: Index(
            [long, long], kernel, algorithm="tree" if kernel.is_mercer else "scan"
        ).search([long]),
    }
    with pytest.raises(TimeoutError, match="enough"), checked_work(check):
        work[how]()
    assert len(calls) == 4


@pytest.mark.parametrize("algorithm", ["auto", "scan", "filter", "tree"])
def test_a_check_stops_a_search_and_what_is_built_for_it(algorithm):
    """What a check raises reaches the caller, and the index answers the next search."""
    rng = np.random.default_rng(0)
    index = Index(rng.normal(size=(30_000, 40)), algorithm="scan")
    queries = rng.normal(size=(4000, 40))
    check, calls = stop_after(1)
    with pytest.raises(TimeoutError, match="enough"):
        index.search(queries, k=3, algorithm=algorithm, threads=1, progress=Progress(False, check))
    assert len(calls) == 2
    wanted = index.search(queries[:2], k=3, algorithm="scan")
    found = index.search(queries[:2], k=3, progress=Progress(False, lambda: None))
    assert np.array_equal(found.values, wanted.values)


def test_a_check_ends_the_wait_for_a_tree_that_another_thread_builds():
    begun, over = threading.Event(), threading.Event()

    def product(x, y):
        begun.set()
        over.wait(PATIENCE)
        return float(x * y)

    index = Index([1.0, 2.0, 3.0], product)
    builder = threading.Thread(target=lambda: index.tree)
    builder.start()
    assert begun.wait(PATIENCE)
    check, calls = stop_after(2)
    engines = snapshot_of(index).segments[0].data.engines
    try:
        with pytest.raises(TimeoutError, match="enough"):
            engines.tree(Progress(False, check))
    finally:
        over.set()
        builder.join()
    assert len(calls) == 3
    assert engines.tree(Progress(False, lambda: None)) is index.tree
