"""Entrants: each is prepared once for a task, and then asked batches of queries."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from benchmarks.datasets import Problem, unit_rows
from benchmarks.harness import Answer, is_installed, pinned, timed
from benchmarks.kernels import KernelCase

NOT_INSTALLED = "not installed"  # how the failure of a missing peer starts
POOL_QUERIES = 32  # from this batch on, threads of an entrant's own take blocks of queries


class PeerError(RuntimeError):
    """An entrant crashed, hung, or cannot do what it was asked."""


class RefusedError(PeerError):
    """An entrant takes no part here, and that is no fault; the message is its line."""


class Units(NamedTuple):
    """Rows for peers with inner products only: unit vectors where the kernel is the cosine."""

    objects: Any  # an array, or a CSR matrix
    queries: Any
    seconds: float  # to compute them


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """A problem to search, with its kernel and the number of threads."""

    problem: Problem
    case: KernelCase
    threads: int
    patience: float  # seconds, for a build or a search of a peer that may hang

    @cached_property
    def units(self) -> Units:
        """The rows, divided by their norms under the cosine."""
        rows = self.problem.vectors or (self.problem.objects, self.problem.queries)
        if not self.case.kernel.is_normalized:
            return Units(*rows, 0.0)
        (objects, queries), seconds = timed(lambda: tuple(map(unit_rows, rows)))
        return Units(objects, queries, seconds)

    def ready(self, search: Callable[[Any, int], Answer], **more: Any) -> "Ready":
        """Return an entrant that searches the unit vectors."""
        known = {"queries": self.units.queries, "prepare_seconds": self.units.seconds}
        return Ready(search=search, **known | more)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ready:
    """An entrant that can be asked."""

    search: Callable[[Any, int], Answer]  # some of `queries`, k
    queries: Any  # as it takes them
    n_bytes: Callable[[], int | None] = field(default=lambda: None)  # beside the objects as given
    build_seconds: float = 0.0
    build_evaluations: int | None = None
    prepare_seconds: float = 0.0  # unit, augmented or rotated rows: before the index is built
    n_fixed: int | None = None  # it is always asked its first queries, this many, at once
    cpu_elsewhere: Callable[[], float] = field(default=float)  # seconds, in another process
    close: Callable[[], object] = field(default=lambda: None)


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """One way to search."""

    name: str
    prepare: Callable[[Task], Ready]
    needs: tuple[str, ...] = ()  # modules, and names in them: "faiss.IndexFlatIP"
    is_ours: bool = False
    is_exact: bool = True  # promises the true answers
    in_bar: bool = True  # peers: whether the bars are about it
    is_brute: bool = False
    only_products: bool = False  # and cosines, but no powers of them
    only_low: bool = False  # on sets of low dimension only
    whole_batch_only: bool = False  # the largest batch in one thread only
    one_thread_only: bool = False
    single_only: bool = False  # takes one query at a time
    look_queries: int = POOL_QUERIES  # of the first check
    own_threads: bool = False  # runs threads of its own, so BLAS gets one in each

    @property
    def missing(self) -> list[str]:
        """The modules it needs that cannot be imported."""
        return [name for name in self.needs if not is_installed(name)]

    def refusing(self, why: str) -> "Entrant":
        """Return an entrant of the same name that refuses every task."""

        def refuse(task: Task) -> Ready:
            raise RefusedError(why)

        return replace(self, prepare=refuse)


@dataclass(eq=False)
class Entry:
    """An entrant on a set, ready or with the reason why not."""

    entrant: Entrant
    ready: Ready | None = None
    failure: str | None = None
    is_refused: bool = False  # the failure is no fault


def enter(entrant: Entrant, task: Task) -> Entry:
    """Prepare an entrant; an error becomes the reason of its failure."""
    if entrant.missing:
        failure = f"{NOT_INSTALLED}: {', '.join(entrant.missing)}"
        return Entry(entrant, failure=failure, is_refused=True)
    if entrant.only_products and task.case.degree != 1:
        return Entry(entrant, failure=f"knows no kernel {task.case.name}", is_refused=True)
    try:
        with pinned(task.threads, task.threads):
            return Entry(entrant, entrant.prepare(task))
    except RefusedError as refusal:
        return Entry(entrant, failure=str(refusal), is_refused=True)
    except Exception as error:
        return Entry(entrant, failure=f"{type(error).__name__}: {error}")
