"""What docs/results.md quotes, its generated blocks apart."""

from collections.abc import Callable, Sequence

from benchmarks.growth.fit import fit_power
from benchmarks.quotes.cells import (
    checked,
    evaluations,
    faster,
    fewer,
    geometric_mean,
    microseconds,
    over_numpy,
    paper_cell,
    paper_cells,
    peer_cell,
    rank_correlation,
    slower,
    times_less,
    wrong,
)
from benchmarks.quotes.quote import Quote, Stated, Value, percent
from benchmarks.quotes.stored import Row, Stored
from benchmarks.race.names import (
    AUTO,
    DUAL,
    FILTER,
    MLPACK,
    MLPACK_DUAL,
    NUMPY,
    TREE,
    TREE_OF_ONE,
)

__all__ = [
    "QUOTES",
    "SINGLE_QUERY",
    "TIMES_FPSIM2",
    "TIMES_LESS",
    "TIMES_MLPACK",
    "TIMES_NUMPY",
    "TIMES_YAHOO",
    "WRONG_OF_DUAL_TREE",
    "WRONG_OF_FAISS",
]

_FLAT = "faiss flat, tuned"
_OURS = "fastmks"
_GALAXIES = "galaxies"
_TEN = "polynomial 10"


def _answers(stored: Stored) -> float:
    """Millions of answers of ours that were held against the scan."""
    cells = [
        cell
        for name in ("paper", "growth", "peers_bars")
        for cell in stored.file(name).all("cells")
    ]
    figures = [one for cell in cells for one in cell.all("figures", is_ours=True)]
    return sum(one.number("checked") for one in figures if one.has("checked")) / 1e6


def _of_cells(
    select: Callable[[Stored], list[Row]], count: Callable[..., float], name: str
) -> Value:
    return lambda stored: count(select(stored), name)


def _by_degree_ten(stored: Stored) -> list[Row]:
    return paper_cells(stored, kernel=_TEN)


def _by_product(stored: Stored) -> list[Row]:
    return stored.file("peers_bars").all("cells", kernel="linear", k=10)


def _times_mlpack(stored: Stored) -> list[float]:
    """mlpack's evaluations over those of auto, where both have some."""
    found = []
    for cell in stored.file("paper").all("cells"):
        both = [
            one
            for name in (MLPACK, AUTO)
            for one in cell.all("figures")
            if one.text("name") == name and one.has("evaluations")
        ]
        if len(both) == 2:
            found.append(evaluations(cell, MLPACK) / evaluations(cell, AUTO))
    return found


def _mean_times_mlpack(stored: Stored) -> float:
    return geometric_mean(_times_mlpack(stored))


def _mean_less_than_numpy(stored: Stored) -> float:
    return geometric_mean(_less_than_numpy(stored))


def _less_than_numpy(stored: Stored) -> list[float]:
    return over_numpy(paper_cells(stored, k=10))


def _at(problem: str, kernel: str, k: int, value: Callable[..., float], name: str) -> Value:
    return lambda stored: value(paper_cell(stored, problem, kernel, k), name)


def _peer(problem: str) -> Value:
    return lambda stored: times_less(peer_cell(stored, problem))


def _fingerprints(stored: Stored) -> float:
    """One fingerprint, k = 10: where FPSim2 is the best peer."""
    cell = stored.cell("peers_bars", problem="fingerprints", k=10, batch=1, threads=1)
    return times_less(cell)


def _speedups(stored: Stored) -> list[float]:
    cells = [cell for cell in paper_cells(stored) if cell.text("kernel") != "tanh"]
    return [fewer(cell, TREE_OF_ONE) for cell in cells]


def _tens(kernel: str) -> Value:
    """On how many sets the tree evaluates ten times fewer pairs, or fewer still."""
    return lambda stored: sum(
        fewer(cell, TREE_OF_ONE) >= 10.0 for cell in paper_cells(stored, kernel=kernel, k=1)
    )


def _n_sets(stored: Stored) -> float:
    return len(paper_cells(stored, kernel="linear", k=1))


def _dense(stored: Stored) -> list[Row]:
    cells = paper_cells(stored, kernel="linear", k=10)
    return [
        cell
        for cell in cells
        if all(
            one.has("median_us")
            for one in cell.all("figures")
            if one.text("name") in (MLPACK, NUMPY)
        )
    ]


def _behind_numpy(stored: Stored) -> float:
    return sum(faster(cell, MLPACK, than=NUMPY) < 1.0 for cell in _dense(stored))


def _with_both(stored: Stored, one: str, other: str) -> list[Row]:
    """Return the cells of the grid in which both have a time, and all answers of `one` are true."""
    found = []
    for cell in paper_cells(stored):
        figures = {row.text("name"): row for row in cell.all("figures")}
        if all(figures[name].has("median_us") for name in (one, other)):
            found += [cell] if wrong([cell], one) == 0 else []
    return found


def _duals(one: str, other: str, *, is_slower: bool) -> tuple[Value, Value]:
    """In how many cells the first takes longer than the other, or less time; and of how many."""

    def count(stored: Stored) -> float:
        cells = _with_both(stored, one, other)
        return sum((slower(cell, one, than=other) > 1.0) == is_slower for cell in cells)

    return count, lambda stored: len(_with_both(stored, one, other))


def _build(problem: str) -> Value:
    def find(stored: Stored) -> float:
        cell = paper_cell(stored, problem, "linear", 1)
        built = cell.one("figures", name=TREE).number("build_evaluations")
        return built / cell.number("n_objects")

    return find


def _protein(kernel: str, n_objects: int, k: int, value: Callable[[Row], float]) -> Value:
    def find(stored: Stored) -> float:
        return value(
            stored.cell("paper", problem="proteins", kernel=kernel, n_objects=n_objects, k=k)
        )

    return find


def _judged_by(name: str) -> Value:
    """How well a fact of `hardness` orders the sets by the share that the tree evaluates."""

    def find(stored: Stored) -> float:
        cells = [cell for cell in paper_cells(stored, k=1) if cell.has_at("facts", name)]
        shares = [1.0 / fewer(cell, TREE_OF_ONE) for cell in cells]
        return rank_correlation([cell.number("facts", name) for cell in cells], shares)

    return find


def _outcomes(stored: Stored, mode: str, promise: float | None = None) -> list[tuple[Row, Row]]:
    return [
        (cell, one)
        for cell in stored.file("paper_approximate").all("cells", k=10)
        for one in cell.all("outcomes", mode=mode)
        if promise is None or one.number("promise") == promise
    ]


def _saved(pair: tuple[Row, Row]) -> float:
    cell, one = pair
    return 1.0 - one.number("evaluations") / cell.number("exact_evaluations")


def _exponent(problem: str, kernel: str) -> Value:
    def find(stored: Stored) -> float:
        cells = stored.file("growth").all("cells", problem=problem, kernel=kernel, k=10)
        points = [(cell.number("n_objects"), evaluations(cell, TREE_OF_ONE)) for cell in cells]
        law = fit_power(points)
        assert law is not None
        return law.exponent

    return find


def _single(stored: Stored, start: str) -> float:
    cell = stored.cell("peers_bars", problem="movielens", kernel="linear", k=10, batch=1, threads=1)
    figures = [one for one in cell.all("figures") if one.text("name").startswith(start)]
    return min(one.number("median_us") for one in figures if one.has("median_us"))


def _extreme(
    pick: Callable[[Sequence[float]], float], find: Callable[[Stored], list[float]]
) -> Value:
    return lambda stored: pick(find(stored))


def _among_few(stored: Stored) -> float:
    """Yahoo! Music: numpy's time over that of auto."""
    return faster(paper_cell(stored, "yahoo", "linear", 10), AUTO, than=NUMPY)


TIMES_LESS = tuple(
    map(_peer, ("mnist", "cifar10_gist384", "gowalla", "glove100_50k", "movielens", "covertype"))
)
WRONG_OF_FAISS = (_of_cells(_by_product, wrong, _FLAT), _of_cells(_by_product, checked, _FLAT))
SINGLE_QUERY: tuple[Value, ...] = (
    lambda stored: _single(stored, "faiss"),
    lambda stored: _single(stored, _OURS),
)
TIMES_FPSIM2: Value = _fingerprints
TIMES_MLPACK: Value = _mean_times_mlpack
TIMES_NUMPY: Value = _mean_less_than_numpy
TIMES_YAHOO: Value = _among_few
WRONG_OF_DUAL_TREE = (
    _of_cells(_by_degree_ten, wrong, MLPACK_DUAL),
    _of_cells(_by_degree_ten, checked, MLPACK_DUAL),
)

QUOTES = (
    Quote("held {} million answers of ours", _answers),
    Quote(
        "has a wrong answer to {} of {} queries under a polynomial",
        *WRONG_OF_DUAL_TREE,
    ),
    Quote(
        "has one to {} of {} by inner product at k = 10",
        *WRONG_OF_FAISS,
    ),
    Quote(
        "{} times fewer pairs than mlpack's single tree in the geometric mean of {} cells",
        TIMES_MLPACK,
        lambda stored: len(_times_mlpack(stored)),
    ),
    Quote(
        "`auto` takes {} times less time than numpy in the geometric mean of the dense sets and "
        "four kernels of the grid, from {} to {} times",
        TIMES_NUMPY,
        _extreme(min, _less_than_numpy),
        _extreme(max, _less_than_numpy),
    ),
    Quote(
        "takes {} times as long on MNIST, {} on GIST, {} on Gowalla, {} on GloVe, {} on MovieLens "
        "and {} on Covertype",
        *TIMES_LESS,
    ),
    Quote("FPSim2 takes {} times as long for one query", _fingerprints),
    Quote(
        "An index of a million vectors loads in {} ms",
        lambda stored: stored.cell(
            "living", section="files", case="warm", problem="decaying", dtype="float32"
        ).measure("fastmks filter: load", "load_ms"),
    ),
    Quote("numpy takes {} times as long as `auto` (linear, k = 10)", TIMES_YAHOO),
    Quote(
        "they range from {} (yahoo) to {3} (galaxies, linear, k = 1)",
        _extreme(min, _speedups),
        _extreme(max, _speedups),
    ),
    Quote("mlpack's tree has {3} there", _at(_GALAXIES, "linear", 1, fewer, MLPACK)),
    Quote(
        "at k = 1 on {} of {} sets, and for fewer under other kernels (cosine: {}, degree 10: {})",
        _tens("linear"),
        _n_sets,
        _tens("cosine"),
        _tens(_TEN),
    ),
    Stated("10 times or more", "what an order of magnitude is"),
    Quote(
        "MNIST: {} (linear), {} (cosine)",
        _at("mnist", "linear", 1, fewer, TREE_OF_ONE),
        _at("mnist", "cosine", 1, fewer, TREE_OF_ONE),
    ),
    Quote(
        "Bio: {3} by inner product, {} by cosine",
        _at("bio", "linear", 1, fewer, TREE_OF_ONE),
        _at("bio", "cosine", 1, fewer, TREE_OF_ONE),
    ),
    Quote(
        "On MovieLens the tree saves {} times the evaluations and takes {} times as long as our "
        "scan; on the digits {} times and {}",
        _at("movielens", "linear", 10, fewer, TREE_OF_ONE),
        _at("movielens", "linear", 10, slower, TREE),
        _at("digits", "linear", 10, fewer, TREE_OF_ONE),
        _at("digits", "linear", 10, slower, TREE),
    ),
    Stated("Below some 20 times fewer evaluations", "a rough reading of the tables"),
    Quote(
        "slower than numpy on {} of {} dense sets",
        _behind_numpy,
        lambda stored: len(_dense(stored)),
    ),
    Quote(
        "It takes {3} evaluations for each object of MNIST (linear) and {} for each galaxy",
        _build("mnist"),
        _build(_GALAXIES),
    ),
    Quote(
        "mlpack's single tree gave {} wrong answers",
        lambda stored: wrong(paper_cells(stored, kernel="tanh"), MLPACK),
    ),
    Quote(
        "ours take longer than single trees in {} of {} cells",
        *_duals(DUAL, TREE, is_slower=True),
    ),
    Quote(
        "less time than its single trees in {} of {} cells",
        *_duals(MLPACK_DUAL, MLPACK, is_slower=False),
    ),
    Quote(
        "**Holds for p = 1** ({3} times, k = 1)",
        _protein("spectrum 1", 99_900, 1, lambda cell: fewer(cell, TREE_OF_ONE)),
    ),
    Quote(
        "for p = 2 ({} times among 50 000 sequences",
        _protein("spectrum 2", 50_000, 1, lambda cell: fewer(cell, TREE_OF_ONE)),
    ),
    Quote(
        "the usual length: {} times among 20 000",
        _protein("spectrum 3", 20_000, 1, lambda cell: fewer(cell, TREE_OF_ONE)),
    ),
    Quote(
        "takes {} times less time than the scan at p = 3",
        _protein("spectrum 3", 99_900, 10, lambda cell: faster(cell, FILTER)),
    ),
    Quote(
        "its rank correlation with the share that the tree evaluates is {}; that of γ is {}, that "
        "of the forecast of `fastmks.hardness`, which builds small trees, {}",
        _judged_by("expansion_constant"),
        _judged_by("directional_concentration"),
        _judged_by("forecast"),
    ),
    Quote(
        "missed by at most {} and saved {} % to {} %",
        lambda stored: max(one.number("greatest") for _, one in _outcomes(stored, "relative", 0.1)),
        lambda stored: percent(min(map(_saved, _outcomes(stored, "relative", 0.1)))),
        lambda stored: percent(max(map(_saved, _outcomes(stored, "relative", 0.1)))),
    ),
    Quote(
        "it needs *more* (up to {} times as many)",
        lambda stored: max(1.0 - _saved(pair) for pair in _outcomes(stored, "rank")),
    ),
    Quote(
        "the tree answers in {} µs and `auto` in {}, among 99 900 proteins at p = 1 in {} and {}",
        _at("bio", "linear", 10, microseconds, TREE),
        _at("bio", "linear", 10, microseconds, AUTO),
        _protein("spectrum 1", 99_900, 10, lambda cell: microseconds(cell, TREE)),
        _protein("spectrum 1", 99_900, 10, lambda cell: microseconds(cell, AUTO)),
    ),
    Quote(
        "grow as n^{} (uniform in 3 dimensions, linear, k = 10, blocks of one) to n^{} (normal",
        _exponent("uniform 3-d", "linear"),
        _exponent("normal 10-d", "cosine"),
    ),
    Quote(
        "among MovieLens' 3706 items in {} µs, we need {}",
        *SINGLE_QUERY,
    ),
)
