"""How much of a search may be skipped, and the promise about the answer that still holds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fastmks._util.validation import check_count, check_number, check_seed
from fastmks.errors import InvalidArgument

_UNLIMITED = 2**62  # evaluations


@dataclass(frozen=True)
class Option:
    """An option of approximate searches, as interfaces describe it.

    `kind` and `bounds` are of its JSON schema, `help` is the text of the program's option.
    """

    name: str
    kind: Literal["number", "integer"]
    bounds: Mapping[str, float]
    help: str


_SHARE = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}
_FROM_0, _FROM_1, _ABOVE_0 = {"minimum": 0}, {"minimum": 1}, {"exclusiveMinimum": 0}
OPTIONS = {
    option.name: option
    for option in (
        Option("epsilon", "number", _FROM_0, "Values may be this much below the true ones."),
        Option("relative", "number", _FROM_0, "Values may be this share below the true ones."),
        Option("rank", "integer", _FROM_1, "All hits are among this many best, but see --delta."),
        Option("delta", "number", _SHARE, "Probability that --rank fails; 0.05 when not given."),
        Option("budget", "integer", _FROM_1, "Kernel evaluations of each query; not for scans."),
        Option("seconds", "number", _ABOVE_0, "Time for each chunk of queries; not for scans."),
    )
}


@dataclass(frozen=True, kw_only=True)
class Approximation:
    """The work that a search may skip; by default none."""

    epsilon: float = 0.0
    relative: float = 0.0
    rank: int | None = None
    n_drawn: int = 0  # objects to draw for rank; 0 for all
    budget: int | None = None
    seconds: float | None = None
    seed: int = 0

    @property
    def early_stop(self) -> str | None:
        """The option for which a search may end before its other promises are kept, if any."""
        if self.budget is not None:
            return "budget"
        return None if self.seconds is None else "seconds"

    @property
    def is_about_values(self) -> bool:
        """Whether the promise is about values, or about the work: any option but `rank`."""
        return self.early_stop is not None or self.epsilon > 0 or self.relative > 0

    def given(self) -> list[str]:
        """Return the names of the options in use."""
        values = {
            "epsilon": self.epsilon > 0,
            "relative": self.relative > 0,
            "rank": self.rank is not None,
            "budget": self.budget is not None,
            "seconds": self.seconds is not None,
        }
        return [name for name, is_given in values.items() if is_given]


EXACT = Approximation()


def make_approximation(
    *,
    k: int,
    n_objects: int,
    epsilon: Any = None,
    relative: Any = None,
    rank: Any = None,
    delta: Any = None,
    budget: Any = None,
    seconds: Any = None,
    seed: Any = 0,
    is_filtered: bool = False,
) -> Approximation:
    """Check the options of one search. None stands for not given."""
    checked_seed = check_seed(seed)
    if epsilon is relative is rank is delta is budget is seconds is None:  # none is given
        return EXACT
    _check_combination(epsilon, relative, rank, delta, budget, seconds, is_filtered)
    checked_rank, n_drawn = None, 0
    if rank is not None:
        checked_rank = _check_rank(rank, k, n_objects)
        checked_delta = 0.05 if delta is None else _check_delta(delta)
        n_drawn = sample_size(n=n_objects, rank=checked_rank, k=k, delta=checked_delta)
    return Approximation(
        epsilon=_check_share("epsilon", epsilon),
        relative=_check_share("relative", relative),
        rank=checked_rank,
        n_drawn=n_drawn,
        budget=None if budget is None else _check_budget(budget, k),
        seconds=None if seconds is None else check_number("seconds", seconds, positive=True),
        seed=checked_seed,
    )


def split_approximation(
    approximation: Approximation, sizes: Sequence[int], k: int
) -> list[Approximation]:
    """Return the approximation of each of several parts, so that the promise holds for all.

    Promises about values hold for the best of the parts' answers where they hold for each part.
    Objects are drawn from all at once: the draw first decides how many come from each part, and a
    part that evaluates more than its share only adds objects. A budget must be enough for the k
    best of each part.
    """
    if approximation.early_stop is None and approximation.n_drawn == 0:
        return [approximation] * len(sizes)
    total, least = sum(sizes), [min(k, size) for size in sizes]
    drawn, seeds = [0] * len(sizes), [approximation.seed] * len(sizes)
    if 0 < approximation.n_drawn < total:
        root = np.random.SeedSequence(approximation.seed)
        rng = np.random.default_rng(root)
        shares = rng.multivariate_hypergeometric(sizes, approximation.n_drawn)
        drawn = [max(int(n), few) for n, few in zip(shares, least, strict=True)]
        seeds = [int(child.generate_state(1, np.uint64)[0]) for child in root.spawn(len(sizes))]
    budgets: list[int | None] = [None] * len(sizes)
    if approximation.budget is not None:
        spare = approximation.budget - sum(least)
        budgets = [few + spare * size // total for few, size in zip(least, sizes, strict=True)]
    return [
        replace(
            approximation,
            n_drawn=0 if n == size else n,
            seed=seed,
            budget=budget,
            seconds=approximation.seconds and approximation.seconds * size / total,
        )
        for n, seed, budget, size in zip(drawn, seeds, budgets, sizes, strict=True)
    ]


def sample_size(*, n: int, rank: int, k: int, delta: float) -> int:
    """Return how many of n objects to draw so that all but delta of the draws hold k of the best.

    The least m for which a draw of m objects without replacement holds fewer than k of the `rank`
    best with probability at most delta: a hypergeometric tail, so no approximation is involved.

    >>> sample_size(n=10_000, rank=100, k=1, delta=0.05)
    294
    """
    low, high = k, n  # high is always enough: every object
    while low < high:
        middle = (low + high) // 2
        # A hair below delta, for the rounding of the tail itself.
        if _chance_of_fewer(n=n, best=rank, drawn=middle, k=k) <= delta * (1 - 1e-6):
            high = middle
        else:
            low = middle + 1
    return low


def _chance_of_fewer(*, n: int, best: int, drawn: int, k: int) -> float:
    """Probability that fewer than k of the best are among those drawn from n."""
    least = max(0, drawn - (n - best))
    few = range(least, min(k, best + 1, drawn + 1))
    return math.fsum(math.exp(_log_chance(n, best, drawn, j)) for j in few)


def _log_chance(n: int, best: int, drawn: int, j: int) -> float:
    """Logarithm of the probability that j of the best are among those drawn from n.

    C(best, j) C(n - best, drawn - j) / C(n, drawn) by Stirling's formula. Its great terms are
    cancelled beforehand, since differences of log-gammas lose all digits for n of 1e12 and more:
    the remaining terms compare each cell of the table of drawn and best with its mean.
    """
    off = (j * n - best * drawn) / n  # of whole numbers, so that it keeps its digits
    rest, kept = n - best, n - drawn
    cells = (
        (j, best * drawn / n, off),
        (best - j, best * kept / n, -off),
        (drawn - j, rest * drawn / n, -off),
        (rest - drawn + j, rest * kept / n, off),
    )
    return math.fsum(
        [_log_factorial_rest(margin) for margin in (best, rest, drawn, kept)]
        + [-_log_factorial_rest(cell[0]) - _deviance(*cell) for cell in cells]
        + [-_log_factorial_rest(n)]
    )


def _log_factorial_rest(x: int) -> float:
    """Return log(x!) - x log(x) + x."""
    if x < 16:
        return math.lgamma(x + 1) - (x * math.log(x) - x if x > 0 else 0.0)
    series = 1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / x / x) / x / x) / x / x
    return 0.5 * math.log(2.0 * math.pi * x) + series / x


def _deviance(x: int, mean: float, off: float) -> float:
    """Return x log(x / mean) - off for off = x - mean, also where it is small."""
    if x == 0 or abs(off) > 0.1 * (x + mean):
        return (x * math.log(x / mean) if x > 0 else 0.0) - off
    v = off / (x + mean)
    total, term, i = off * v, 2.0 * x * v, 1
    while True:  # x log((1 + v) / (1 - v)) - off, term by term
        term *= v * v
        i += 2
        if total + term / i == total:
            return total
        total += term / i


def _check_combination(
    epsilon: Any, relative: Any, rank: Any, delta: Any, budget: Any, seconds: Any, is_filtered: bool
) -> None:
    if epsilon is not None and relative is not None:
        raise InvalidArgument(
            "epsilon and relative cannot be combined: choose how the error is measured."
        )
    if rank is None and delta is not None:
        raise InvalidArgument("delta belongs to rank=: pass both, or neither.")
    others = [epsilon, relative, budget, seconds]
    if rank is not None and any(option is not None for option in others):
        raise InvalidArgument(
            "rank cannot be combined with epsilon, relative, budget or seconds: its promise is "
            "about ranks, theirs about values."
        )
    if budget is not None and is_filtered:
        raise InvalidArgument(
            "budget cannot be combined with only=: evaluations that lead to the allowed objects "
            "count too, and might leave too few for k answers. Use seconds, epsilon or relative."
        )


def _check_share(name: str, value: Any) -> float:
    if value is None:
        return 0.0
    number = check_number(name, value)
    if number < 0:
        raise InvalidArgument(f"{name} must be at least 0 (0 is exact); got {value!r}.")
    return number


def _check_rank(rank: Any, k: int, n_objects: int) -> int:
    count = check_count("rank", rank)
    if not k <= count <= n_objects:
        raise InvalidArgument(
            f"rank must be between k={k} and the {n_objects} objects searched; got rank={count}."
        )
    return count


def _check_delta(delta: Any) -> float:
    number = check_number("delta", delta)
    if not 0 < number < 1:
        raise InvalidArgument(f"delta must be between 0 and 1, both excluded; got {delta!r}.")
    return number


def _check_budget(budget: Any, k: int) -> int:
    count = check_count("budget", budget)
    if count < k:
        raise InvalidArgument(
            f"budget must be at least k={k} evaluations per query, one for each answer; "
            f"got budget={count}."
        )
    return min(count, _UNLIMITED)
