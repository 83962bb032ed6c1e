"""Expansion and directional concentration of a sample, from kernel values: for `hardness`.

Distances are those of the Hilbert space, d(x, y)^2 = K(x, x) + K(y, y) - 2 K(x, y). Rounding blurs
them, so two squares are kept for a pair: the one computed, and the `nearest` that rounding could
have hidden. An object counts as outside a ball only where rounding cannot explain it: both
constants err downwards, and objects whose distance is lost in rounding count as equal.
"""

import math
from collections.abc import Callable, Iterator
from copy import copy

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Bools, Floats, Int64s
from fastmks.engines.faults import finite_advice, named_faults
from fastmks.engines.space import Rounding, Space
from fastmks.errors import KernelValueError, NotMercerError
from fastmks.kernels import Kernel
from fastmks.kernels.object_kernel import leaves
from fastmks.kernels.objects import Objects

_UNIT = 2.0**-53
_MOST_VALUES = 1_000_000  # kernel values of a block
_MOST_EXPENSIVE = 4096  # objects whose values are stored: 128 MiB
_EXPENSIVE_ROWS = 32  # of a block of values to store, at most
_POINTS = 4  # on which intervals are centred, along each direction
_SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1.0)  # of the objects, per interval


class Sample:
    """A sample of the objects, under a kernel that must be Mercer.

    Values of an expensive kernel are evaluated once for each pair, and stored.
    """

    def __init__(
        self, kernel: Kernel, objects: Objects, positions: Int64s, name: str, threads: int
    ) -> None:
        self.objects, self.positions, self.name = objects, positions, name
        self.space = Space(objects.take(positions), kernel, name=self.name_of)
        self.threads = self.space.threads(threads)
        self.self_values = self.space.self_values()
        self.is_expensive = len(self) <= _MOST_EXPENSIVE and any(
            leaf.is_expensive for _, leaf in leaves(kernel)
        )
        self.part_of: Sample | None = None
        self.places = np.arange(len(self))
        self.remembered: dict[Space, Floats] = {}  # K(row, object), by the space of the rows
        bad = np.flatnonzero(~((self.self_values >= 0.0) & (self.self_values < math.inf)))
        if len(bad):
            value = self.self_values[bad[0]]
            seen = f"{kernel!r} gives {self.name_of(int(bad[0]))} K(x, x) = {value}"
            if value < 0.0:
                raise NotMercerError(f"{seen}; hardness needs a Mercer kernel, which has none < 0.")
            advice = finite_advice(kernel)
            raise KernelValueError(f"{seen}; distances need finite values. {advice}")

    def __len__(self) -> int:
        return len(self.positions)

    def name_of(self, at: int) -> str:
        """Return the text that errors use for an object."""
        return f"{self.name}[{self.positions[at]}]"

    def part(self, places: slice) -> "Sample":
        """Return some of the objects."""
        if not self.is_expensive:
            return self.taken(places)
        part = copy(self)
        part.positions, part.self_values = self.positions[places], self.self_values[places]
        part.part_of, part.places = self.whole, self.places[places]
        return part

    @property
    def whole(self) -> "Sample":
        """The sample that this one is a part of, and whose values are stored."""
        return self if self.part_of is None else self.part_of

    def taken(self, places: slice) -> "Sample":
        """Return some of the objects, on their own."""
        taken = np.arange(len(self))[places]
        part = Sample(self.space.kernel, self.space.objects, taken, self.name, self.threads)
        part.objects, part.positions = self.objects, self.positions[places]
        return part

    def blocks(self, most: int = _MOST_VALUES) -> Iterator[slice]:
        """Yield slices of rows whose values with all objects fit into memory."""
        step = max(1, most // len(self))
        return (slice(at, min(at + step, len(self))) for at in range(0, len(self), step))

    def rounding_with(self, rows: "Sample") -> Rounding:
        """Return the error of values between two samples; finite, since only ratios matter here."""
        relative, absolute = self.space.rounding.joined(rows.space.rounding)
        return Rounding(min(relative, 1.0), absolute if math.isfinite(absolute) else 0.0)

    def values_from(self, rows: "Sample") -> Floats:
        """Return K(row, object) for every row, checked against Cauchy and Schwarz."""
        if not self.is_expensive:
            return self.evaluated(rows)
        self.remember(rows, None)
        return self.whole.remembered[rows.space][np.ix_(rows.places, self.places)]

    def remember(self, rows: "Sample", report: Callable[[int], None] | None) -> None:
        """Evaluate all pairs of the whole samples of both, unless done before."""
        whole, rows = self.whole, rows.whole
        if rows.space in whole.remembered:
            return
        if rows is not whole:
            whole.remembered[rows.space] = whole.evaluated(rows)
            return
        values = np.zeros((len(whole), len(whole)))
        for places in whole.blocks(
            rows_at_once(len(whole)) * len(whole)
        ):  # on and above the diagonal
            begin = slice(places.start, None)
            values[places, begin] = whole.taken(begin).evaluated(whole.taken(places))
            if report is not None:
                report(places.stop * len(whole))
        values = np.triu(values, 1)
        values += values.T
        np.fill_diagonal(values, whole.self_values)
        whole.remembered[whole.space] = values

    def evaluated(self, rows: "Sample") -> Floats:
        """Return the values of all pairs, evaluated now."""
        kernel = self.space.kernel
        with named_faults(kernel, rows.name_of, self.name_of):
            values = _core.scan_matrix(self.space.core, rows.space.core, self.threads)
        relative, absolute = self.rounding_with(rows)
        with own_arithmetic():
            left, right = np.sqrt(rows.self_values)[:, None], np.sqrt(self.self_values)
            limit = (1.0 + 3.0 * relative + 8.0 * _UNIT) * left * right
            limit += math.sqrt(absolute) * (left + right) + 2.0 * absolute
            beyond = np.abs(values) > limit
        if beyond.any():
            i, j = map(int, np.argwhere(beyond)[0])
            raise NotMercerError(
                f"{kernel!r} gives {rows.name_of(i)} and {self.name_of(j)} the value "
                f"{values[i, j]}; for a Mercer kernel it is at most sqrt(K(x, x) K(y, y)) = "
                f"{limit[i, j]:.6g}, rounding included."
            )
        return values

    @property
    def scale(self) -> float:
        """A power of four that brings the greatest K(x, x) near 1, so that no sum overflows."""
        exponent = math.frexp(float(self.self_values.max()))[1]
        return float(4.0 ** min(-(exponent // 2), 500))

    def squares_from(self, rows: "Sample") -> tuple[Floats, Floats]:
        """Return d(row, object)^2 times `scale`, and the nearest that rounding allows."""
        relative, absolute = self.rounding_with(rows)
        values = self.values_from(rows)
        with own_arithmetic():
            own, other = rows.self_values[:, None] * self.scale, self.self_values * self.scale
            squares = (own + other) - 2.0 * (values * self.scale)
            doubt = (relative + 4.0 * _UNIT) * (np.sqrt(own) + np.sqrt(other)) ** 2
            return squares, squares - doubt - 4.0 * absolute * self.scale


def rows_at_once(n_objects: int) -> int:
    """Return the rows of a block of stored values; those on the diagonal are evaluated twice."""
    return max(1, min(_EXPENSIVE_ROWS, n_objects // 8))


def evaluations_of(n_objects: int, n_queries: int) -> int:
    """Return the most evaluations that a sample takes whose values are stored."""
    twice = n_objects * (rows_at_once(n_objects) - 1) // 2
    n_pairs = n_objects * (n_objects + 1) // 2 + n_queries * n_objects
    return n_pairs + twice + n_objects + n_queries  # the last two are K(x, x)


def expansions(sample: Sample, report: Callable[[int], None] | None) -> Floats:
    """Return for each object the greatest |B(p, 2r)| / |B(p, r)| among the sample."""
    found = np.empty(len(sample))
    if sample.is_expensive:
        sample.remember(sample, report)
        report = None
    for places in sample.blocks():
        squares, nearest = sample.squares_from(sample.part(places))
        found[places] = [expansion_at(*pair) for pair in zip(squares, nearest, strict=True)]
        if report is not None:
            report(places.stop * len(sample))
    return found


@own_arithmetic()
def expansion_at(squares: Floats, nearest: Floats) -> float:
    """Return the greatest |B(p, 2r)| / |B(p, r)| over all r > 0, from p's squares to all objects.

    As r grows the ratio rises only where 2r reaches a distance, so half of each is tried.
    """
    outer = np.sort(squares[nearest > 0.0])
    if len(outer) == 0:
        return 1.0
    in_outer = np.searchsorted(np.sort(squares), outer, side="right")
    in_inner = np.searchsorted(np.sort(nearest), outer / 4.0, side="right")
    return float(np.max(in_outer / in_inner))


def most_balls(
    sample: Sample, directions: Sample, rng: "np.random.Generator", nearest: Floats
) -> list[float]:
    """Return, for each direction and a few points p, the most balls that an interval needs.

    The objects whose projection is within r of that of p are covered by balls of radius r, for
    the r at which they are certain shares of the sample. `nearest` is that of all pairs.
    """
    values = sample.values_from(directions)
    return _most_balls(sample, directions, values, rng, nearest)


@own_arithmetic()
def _most_balls(
    sample: Sample, directions: Sample, values: Floats, rng: "np.random.Generator", nearest: Floats
) -> list[float]:
    lengths = np.sqrt(directions.self_values)
    projections = values[lengths > 0.0] / lengths[lengths > 0.0, None] * math.sqrt(sample.scale)
    ranks = np.unique(np.ceil(np.array(_SHARES) * len(sample)).astype(np.int64)) - 1
    found = []
    for projection in projections:
        for p in rng.choice(len(sample), size=min(_POINTS, len(sample)), replace=False):
            apart = np.abs(projection - projection[p])
            widths = np.unique(np.sort(apart)[ranks])
            balls = (count_balls(nearest[apart <= r] <= r * r) for r in widths)
            found.append(float(max(balls)))
    return found


def count_balls(inside: Bools) -> int:
    """Return the number of balls of a greedy cover of all rows.

    ``inside[i, j]`` says whether ball j holds row i; every row must be in some ball. The smallest
    cover has at most this many balls, and at least this many / (1 + log(n_rows)).
    """
    left = np.ones(len(inside), dtype=bool)
    gains = inside.sum(axis=0)
    n_balls = 0
    while left.any():
        best = int(np.argmax(gains))
        if gains[best] == 1:  # each of the rest needs a ball of its own
            return n_balls + int(left.sum())
        newly = left & inside[:, best]
        gains -= inside[newly].sum(axis=0)
        left &= ~newly
        n_balls += 1
    return n_balls
