"""Kernels and scores of strings that may be aligned: proteins, DNA."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from fastmks import _core
from fastmks._util.validation import check_number
from fastmks.data import Store
from fastmks.data.residues import (
    ResidueStore,
    join_residues,
    make_more_residues,
    make_residues,
    restore_residues,
)
from fastmks.data.strings import STRINGS
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.object_kernel import NormalizedKernel, ObjectKernel
from fastmks.kernels.substitution import Substitution, find_substitution, name_substitution

_MOST_EXPONENT = 64.0  # LocalAlignmentSpace::largest_exponent


class _AlignmentKernel(ObjectKernel):
    """The base of kernels between strings whose letters a substitution matrix scores."""

    substitution: str | Substitution
    kind = STRINGS
    mercer_advice = "Spectrum(3) and Normalized(LocalAlignment()) are."

    def __post_init__(self) -> None:
        object.__setattr__(self, "substitution", name_substitution(self.substitution))

    @property
    def _scores(self) -> Substitution:
        return find_substitution(self.substitution)

    @property
    def store_key(self) -> Hashable:
        """Equal for kernels with the same letters in the same order."""
        return ("residues", self._scores.letters)

    @property
    def _matrix_name(self) -> str:
        return self.substitution if isinstance(self.substitution, str) else "the substitution"

    def read(self, objects: Any, *, name: str) -> ResidueStore:
        """Return strings as a store."""
        return make_residues(objects, self._scores.letters, name=name, matrix=self._matrix_name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> ResidueStore:
        """Return strings as a store; one string is one query."""
        return make_residues(
            queries, self._scores.letters, name=name, matrix=self._matrix_name, single=True
        )

    def read_more(self, objects: Any, like: Store, *, name: str) -> ResidueStore:
        """Return strings as a store; one string is one object."""
        strings = cast(ResidueStore, like)
        return make_more_residues(objects, strings, name=name, matrix=self._matrix_name)

    def join(self, stores: Sequence[Store]) -> ResidueStore:
        """Return the strings of several stores in one."""
        return join_residues(cast("Sequence[ResidueStore]", stores))

    def restore(self, record: Record) -> ResidueStore:
        """Return the store of strings that was recorded."""
        return restore_residues(record, self._scores.letters)


def _check_cost(name: str, cost: Any) -> float:
    number = check_number(name, cost)
    if number < 0.0:
        raise InvalidArgument(
            f"{name} must be at least 0: it is the cost of a gap; got {name}={number}."
        )
    return number


def _least_positive_beta(scores: Substitution, beta: float) -> float | None:
    """Return a greater beta of two digits that makes the kernel Mercer; None where none does."""
    for step in range(1, 200):
        greater = float(f"{beta * 1.05**step:.1e}")
        if greater * abs(scores.array).max() > _MOST_EXPONENT:
            return None
        if scores.is_positive(greater):
            return greater
    return None


@dataclass(frozen=True)
class LocalAlignment(_AlignmentKernel, NormalizedKernel):
    """The sum of exp(beta * score) over all local alignments of two strings (Saigo et al. 2004).

    Where `SmithWaterman` takes the best alignment, this kernel counts all of them, good ones more:
    that makes it Mercer whenever exp(beta * substitution) is positive semidefinite. Its values
    grow exponentially with length and are infinite beyond 1e308, which a search refuses:
    ``Normalized(LocalAlignment(...))`` never overflows, and is the kernel to rank by.

    Parameters
    ----------
    beta : float, default 0.5
        Positive; the greater, the more the best alignment counts.
    substitution : str or Substitution, default "BLOSUM62"
        The scores of aligning two letters.
    gap_open, gap_extend : float, default 11.0 and 1.0
        A gap of n letters costs ``gap_open + gap_extend * (n - 1)``. No beta * |score| and no
        beta * cost may exceed 64.

    Examples
    --------
    >>> from fastmks.kernels import LocalAlignment, Normalized
    >>> LocalAlignment().is_mercer
    True
    >>> kernel = Normalized(LocalAlignment(beta=0.5))
    >>> round(kernel("MKVLAAGIVG", "MKVLSAGIVG"), 3), round(kernel("MKVLAAGIVG", "WWYHPPCDDE"), 3)
    (0.223, 0.0)
    """

    beta: float = 0.5
    substitution: str | Substitution = "BLOSUM62"
    gap_open: float = 11.0
    gap_extend: float = 1.0

    is_normalized = False
    value_range = (1.0, math.inf)
    is_expensive = True
    finite_advice = "Use Normalized(LocalAlignment(...)), which never overflows, or a smaller beta."

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", check_number("beta", self.beta, positive=True))
        object.__setattr__(self, "gap_open", _check_cost("gap_open", self.gap_open))
        object.__setattr__(self, "gap_extend", _check_cost("gap_extend", self.gap_extend))
        largest = max(self.gap_open, self.gap_extend, float(abs(self._scores.array).max()))
        if not self.beta * largest <= _MOST_EXPONENT:
            raise InvalidArgument(
                f"beta times the greatest score or cost must be at most {_MOST_EXPONENT:g}; got "
                f"{self.beta:g} * {largest:g}. With such a beta only the best alignment counts: "
                "see SmithWaterman."
            )

    @property
    def mercer_columns(self) -> float:
        """Always where exp(beta * substitution) is positive semidefinite, else never."""
        return math.inf if self._scores.is_positive(self.beta) else 0.0

    @property
    def tree_advice(self) -> str:
        """Advice which letters, or which beta, give a Mercer kernel."""
        scores = self._scores
        letters, ways = scores.positive_part(self.beta).letters, []
        if 2 * len(letters) > len(scores.letters):
            name = self.substitution if isinstance(self.substitution, str) else "substitution"
            dropped = ", ".join(letter for letter in scores.letters if letter not in letters)
            ways.append(f"substitution={name}.only({letters!r}), without {dropped}")
        greater = _least_positive_beta(scores, self.beta)
        if greater is not None:
            ways.append(f"beta={greater:g}")
        ways.append("algorithm='scan'")
        return (
            f"exp({self.beta:g} * substitution) has a negative eigenvalue. "
            f"Pass {'; or '.join(ways)}."
        )

    def _space(self, store: Store, isa: str, *, is_normalized: bool) -> _core.Space:
        return _core.local_alignment_space(
            cast(ResidueStore, store).core,
            isa,
            self._scores.array,
            self.gap_open,
            self.gap_extend,
            self.beta,
            is_normalized,
            self.is_mercer is True,
        )


class _BestAlignment(_AlignmentKernel):
    """The score of the best alignment of some kind: a similarity with upper bounds, not Mercer."""

    mercer_columns = 0.0
    is_normalized = False
    value_range = (0.0, math.inf)

    @property
    def _gaps(self) -> tuple[float, float] | None:
        """Costs of gaps, or None where there are none."""
        return None

    def make_space(self, store: Store, isa: str) -> _core.Space:
        """Return the core's space, which has bounds."""
        gap_open, gap_extend = self._gaps or (0.0, 0.0)
        return _core.best_alignment_space(
            cast(ResidueStore, store).core,
            isa,
            self._scores.array,
            gap_open,
            gap_extend,
            self._gaps is not None,
        )


@dataclass(frozen=True)
class SmithWaterman(_BestAlignment):
    """The score of the best local alignment of two strings, gaps allowed. Not Mercer.

    Exact for whole scores and costs. Trees refuse it, since no Hilbert space has it as its inner
    product; ``algorithm="filter"`` searches exactly in the order of upper bounds, from how many
    letters of each kind two strings have.

    Parameters
    ----------
    substitution : str or Substitution, default "BLOSUM62"
        The scores of aligning two letters.
    gap_open, gap_extend : float, default 11.0 and 1.0
        A gap of n letters costs ``gap_open + gap_extend * (n - 1)``; to extend one may not cost
        more than to open one.

    Examples
    --------
    >>> import fastmks
    >>> from fastmks.kernels import SmithWaterman
    >>> proteins = ["MKVLAAGIVGW", "GGSGGSGGS", "MKVLAGIVG"]
    >>> index = fastmks.Index(proteins, SmithWaterman(), algorithm="filter")
    >>> index.search("MKVLAAGIVG", k=2).indices
    array([[0, 2]])
    """

    substitution: str | Substitution = "BLOSUM62"
    gap_open: float = 11.0
    gap_extend: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gap_open", _check_cost("gap_open", self.gap_open))
        object.__setattr__(self, "gap_extend", _check_cost("gap_extend", self.gap_extend))
        if self.gap_extend > self.gap_open:
            raise InvalidArgument(
                f"gap_extend must be at most gap_open, or no gap would be extended; got "
                f"{self.gap_extend:g} and {self.gap_open:g}."
            )

    @property
    def _gaps(self) -> tuple[float, float]:
        return self.gap_open, self.gap_extend


@dataclass(frozen=True)
class SegmentMatch(_BestAlignment):
    """The score of the best pair of equally long segments of two strings, no gaps. Not Mercer.

    BLAST calls it a maximal segment pair. Exact for whole scores; searched like `SmithWaterman`.

    Parameters
    ----------
    substitution : str or Substitution, default "BLOSUM62"
        The scores of aligning two letters.

    Examples
    --------
    >>> from fastmks.kernels import SegmentMatch
    >>> SegmentMatch()("MKVLAAGIVG", "PPPMKVLAP")
    22.0
    """

    substitution: str | Substitution = "BLOSUM62"
