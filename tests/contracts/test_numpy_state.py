"""What the caller wants to hear of numpy's arithmetic is about the caller's own."""

import ast
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import fastmks
from fastmks import FastmksError, Index, Traversal, hardness, load
from fastmks import kernels as K
from fastmks._util.progress import Progress
from fastmks.index.index_file import index_to_bytes
from fastmks.sklearn import (
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelNeighborsTransformer,
)
from support.inside import data_of
from support.kinds import KINDS, Kind

_RNG = np.random.default_rng(3)
_ROWS = np.round(_RNG.normal(size=(70, 5)), 2)
_ROWS[3], _ROWS[5] = 0.0, _ROWS[4]
_MIXED = _ROWS * 10.0 ** _RNG.integers(-320, 150, size=(70, 1))


def of_rows(x, y):
    return float(np.exp2(-float(np.abs(x - y).sum())))  # which no value here makes underflow


def tiny(x, y):
    return 1e-200 * of_rows(x, y)


_SCALED = [(f"{scale:g}", scale * _ROWS) for scale in (5e-324, 1e-310, 1e-160, 1e150)]
EXTREMES = [
    Kind(f"{kernel!r} of {name}", kernel, rows, rows[:6] * 0.5)
    for name, rows in [*_SCALED, ("mixed", _MIXED)]
    for kernel in (
        K.Linear(),
        K.Cosine(),
        K.Gaussian(1.0),
        K.Polynomial(2, offset=1.0),
        1e-300 * K.Linear(),
        K.Cosine() + K.Laplacian(1e-150),
    )
]
EXTREMES += [
    Kind("sparse and tiny", K.Cosine(), sp.csr_array(1e-310 * _ROWS), sp.csr_array(_ROWS[:4])),
    Kind("scaled and sparse", 1e-310 * K.Linear(), sp.csr_array(_ROWS), sp.csr_array(_ROWS[:4])),
    Kind("far apart", K.Gaussian(0.001), 50.0 * _ROWS, _ROWS[:5]),
    Kind("counts", K.MinMax(), 1e-310 * np.abs(_ROWS), np.abs(_ROWS[:5])),
    Kind("great counts", K.MinMax(), 1e300 * np.abs(_ROWS), np.abs(_ROWS[:5])),
    Kind("a function", K.Custom(of_rows), list(_ROWS), list(_ROWS[:5])),
    Kind("a function of tiny values", K.Custom(tiny), list(_ROWS), list(_ROWS[:5])),
    Kind("series", K.GlobalAlignment(0.01), list(50.0 * _ROWS), list(_ROWS[:5])),
    Kind("long double", K.Linear(), _ROWS.astype(np.longdouble) / 3, _ROWS[:5]),
    Kind("beyond float64", K.Linear(), np.longdouble("1e-4000") * _ROWS, _ROWS[:5]),
    Kind("a matrix", K.Precomputed(), *[1e-310 * (_ROWS[:, :1] * _ROWS[:, 0])] * 2),
    Kind("many rows", K.Linear(), np.tile(1e-200 * _ROWS, (10, 4)), _ROWS[:6].repeat(4, axis=1)),
]


_MEASURES_NOTHING = Traversal(order="best-first", block=1)


def outcome(work):
    """Return the answer of some work, or its error, as bytes."""
    try:
        found = work()
    except FastmksError as error:
        return f"{type(error).__name__}: {error}".encode()
    return pickle.dumps(found)


def answer(hits):
    return hits.values.tobytes(), hits.indices.tobytes()


def steps(kind, name, folder):
    """Yield everything that can be done with an index, as a name and the work."""
    index = Index(kind.objects, kind.kernel, algorithm=name, threads=1)
    some = [0, 2, 5]
    yield "search", lambda: answer(index.search(kind.queries, 3))
    yield "only", lambda: answer(index.search(kind.queries, 2, only=some))
    yield "self", lambda: answer(index.search_self(2))
    for level in (0.0, np.longdouble("1e-4000"), 1e-320):
        yield f"above {level}", lambda t=level: answer(index.search_above(kind.queries, t))
    yield "explain", lambda: index.explain(kind.queries, 2).n_queries
    for k, option in (2, {"epsilon": 1e-320}), (2, {"relative": 0.1}), (1, {"rank": 5}):
        options = option | {"traversal": _MEASURES_NOTHING}
        yield next(iter(option)), lambda k=k, o=options: answer(index.search(kind.queries, k, **o))
    changed = index.copy()
    yield "add", lambda: changed.add(index.get(some)).tolist()
    yield "remove", lambda: changed.remove([1, 3])
    yield "changed", lambda: answer(changed.search(kind.queries, 2))
    path = folder / "index.fmks"
    yield "save", lambda: index.save(path)
    own = kind.kernel if isinstance(kind.kernel, K.Custom) else None
    objects = None if own is None else kind.objects
    yield "load", lambda: answer(load(path, kernel=own, objects=objects).search(kind.queries, 2))


def walk(kind, folder):
    """Build, search and change an index in every way, and return what came of it."""
    found = {}
    for name in ("scan", "auto", "filter", "tree", "dual-tree"):
        try:
            for step, work in steps(kind, name, folder):
                found[name, step] = outcome(work)
        except FastmksError as error:
            found[name] = repr(error)
    found["matrix"] = outcome(lambda: kind.kernel.matrix(kind.queries, kind.objects).tobytes())
    found["hardness"] = outcome(lambda: repr(hardness(kind.objects, kind.kernel, sample=30)))
    return found


def raising():
    """What a careful caller has: every floating-point event raises, and so does every warning."""
    return np.errstate(all="raise")


@pytest.mark.parametrize("kind", [*KINDS, *EXTREMES], ids=str)
def test_the_callers_state_reaches_none_of_our_arithmetic(kind, tmp_path):
    wanted = walk(kind, tmp_path)
    assert ("scan", "search") in wanted
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raising():
            before = np.geterr()
            found = walk(kind, tmp_path)
            assert np.geterr() == before
    assert found == wanted


@pytest.mark.parametrize("columns", [60, 1100])
def test_planning_a_filter_is_silent(columns):
    """More than 1030 effective dimensions overflowed a power, once for each build."""
    rows = np.random.default_rng(0).normal(size=(600, columns)).astype(np.float32)
    with warnings.catch_warnings(), raising():
        warnings.simplefilter("error")
        for algorithm in ("auto", "filter"):
            index = Index(rows, algorithm=algorithm)
            for _ in range(60):
                index.search(rows[:3], k=2)
    assert data_of(index).engines.has_built_filter


def test_estimators_are_silent():
    rows, labels = np.abs(1e-160 * _ROWS) + 1e-159, np.arange(70) % 3

    def work():
        found = []
        for weights in ("uniform", "values", lambda values: np.full_like(values, 1e-310)):
            classifier = KernelNeighborsClassifier(3, kernel="linear", weights=weights)
            found.append(classifier.fit(rows, labels).predict_proba(rows[:9]))
            regressor = KernelNeighborsRegressor(3, kernel="linear", weights=weights)
            found.append(regressor.fit(rows, 1e-310 * labels).predict(rows[:9]))
        transformer = KernelNeighborsTransformer(
            n_neighbors=3, kernel=K.Gaussian(1e-160), mode="distance"
        )
        return [*found, transformer.fit(rows).transform(rows).toarray()]

    wanted = work()
    with warnings.catch_warnings(), raising():
        warnings.simplefilter("error")
        found = work()
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_functions_of_the_caller_see_the_callers_state():
    """Kernels, checks and encoders run as if they were called by whoever wrote them."""
    state = {"divide": "raise", "over": "ignore", "under": "warn", "invalid": "print"}
    seen = []

    def note(result):
        seen.append(np.geterr() == state)
        return result

    kernel = K.Custom(lambda x, y: note(float(x * y)))
    blocks = K.Custom(block=lambda x, ys: note(np.asarray(ys, float) * x))
    near = K.Similarity(lambda x, y: note(-abs(float(x - y))), upper_bound=lambda x, y: note(0.0))
    numbers = [float(i % 11) for i in range(40)]
    with np.errstate(**state):
        for own, names in ((kernel, ("scan", "tree", "filter")), (blocks, ("tree", "filter"))):
            for name in names:
                index = Index(numbers, own, algorithm=name)
                index.search(numbers[:3], k=2, progress=Progress(False, lambda: note(None)))
                index.search_self(k=2)
            index_to_bytes(index, lambda number: note(str(number).encode()))
            hardness(numbers, own, sample=20)
            own.matrix(numbers[:3])
        Index(numbers, near).search(numbers[:3], k=2, algorithm="filter")
    assert len(seen) > 1000
    assert all(seen)


_FLOATING = {"divide", "exp", "exp2", "expm1", "hypot", "log", "log1p", "log2", "mean", "median"}
_FLOATING |= {"multiply", "outer", "percentile", "power", "prod", "quantile", "reciprocal", "sqrt"}
_FLOATING |= {"square", "std", "subtract", "true_divide", "var"}


def test_arithmetic_stands_in_blocks_of_its_own():
    """The program, which has no caller, may do as it likes."""
    for path in sorted(Path(fastmks.__file__).parent.rglob("*.py")):
        if path.parent.name != "cli" and path.name != "arithmetic.py":
            bare = [f"{path}:{line}" for line in bare_arithmetic(ast.parse(path.read_text()))]
            assert bare == []


def bare_arithmetic(node, is_own=False):
    """Yield the lines of numpy's arithmetic outside of such blocks, and of states set by hand."""
    if isinstance(node, ast.FunctionDef):
        is_own = any(map(is_block, node.decorator_list))
    elif isinstance(node, ast.With):
        is_own = is_own or any(is_block(item.context_expr) for item in node.items)
    elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "np":
        names = {"errstate", "seterr"} if is_own else {"errstate", "seterr", *_FLOATING}
        yield from [node.lineno] * (node.attr in names)
    for child in ast.iter_child_nodes(node):
        yield from bare_arithmetic(child, is_own)


def is_block(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "own_arithmetic"
