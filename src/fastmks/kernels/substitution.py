"""Substitution matrices: the scores of aligning one letter with another."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Floats
from fastmks._util.validation import check_number
from fastmks.errors import InvalidArgument

_MOST_LETTERS = 255


@dataclass(frozen=True, repr=False)
class Substitution:
    """The scores of aligning two letters: a symmetric matrix over an alphabet.

    Parameters
    ----------
    letters : str
        The alphabet: up to 255 different characters.
    scores : array-like
        The score of each letter with each, finite and symmetric. Kept as tuples, so that the value
        can be compared, hashed and printed.

    Examples
    --------
    >>> from fastmks.kernels import SmithWaterman, Substitution
    >>> dna = Substitution("ACGT", [[5, -4, -1, -4], [-4, 5, -4, -1], [-1, -4, 5, -4],
    ...                             [-4, -1, -4, 5]])
    >>> SmithWaterman(dna, gap_open=10.0, gap_extend=1.0)("ACGTACGT", "ACGTTACGT")
    30.0
    """

    letters: str
    scores: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        letters = self.letters
        is_alphabet = isinstance(letters, str) and 1 <= len(letters) <= _MOST_LETTERS
        if not is_alphabet or len(set(letters)) != len(letters):
            raise InvalidArgument(
                f"letters must be a string of 1 to {_MOST_LETTERS} different characters; got "
                f"{letters!r}."
            )
        array = _read_scores(self.scores, len(letters))
        bad = np.argwhere(array != array.T)
        if len(bad):
            a, b = bad[0]
            raise InvalidArgument(
                f"scores must be symmetric; {letters[a]!r} with {letters[b]!r} scores "
                f"{array[a, b]}, {letters[b]!r} with {letters[a]!r} {array[b, a]}."
            )
        object.__setattr__(self, "scores", tuple(map(tuple, array.tolist())))

    @classmethod
    def uniform(cls, letters: str, *, match: float, mismatch: float) -> "Substitution":
        """Return one score for all equal letters and one for all different ones.

        Examples
        --------
        >>> Substitution.uniform("AB", match=2, mismatch=-1).scores
        ((2.0, -1.0), (-1.0, 2.0))
        """
        same, other = check_number("match", match), check_number("mismatch", mismatch)
        size = len(letters) if isinstance(letters, str) else 0
        return cls(letters, np.where(np.eye(size, dtype=bool), same, other))  # type: ignore[arg-type]

    def only(self, letters: str) -> "Substitution":
        """Return the scores of some of the letters.

        Examples
        --------
        >>> from fastmks.kernels import BLOSUM62
        >>> BLOSUM62.only("AR").scores
        ((4.0, -1.0), (-1.0, 5.0))
        """
        missing = [letter for letter in letters if letter not in self.letters]
        if missing:
            raise InvalidArgument(
                f"letters must be among {self.letters}; got {', '.join(map(repr, missing))}."
            )
        at = [self.letters.index(letter) for letter in letters]
        return Substitution(letters, self.array[np.ix_(at, at)])  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """The shortest expression that creates it."""
        for name, known in _BY_NAME.items():
            if self == known:
                return name
            if set(self.letters) <= set(known.letters) and self == known.only(self.letters):
                return f"{name}.only({self.letters!r})"
        if len(self.letters) > 1:
            match, mismatch = self.scores[0][:2]
            if self == Substitution.uniform(self.letters, match=match, mismatch=mismatch):
                return (
                    f"Substitution.uniform({self.letters!r}, match={match!r}, "
                    f"mismatch={mismatch!r})"
                )
        return f"Substitution({self.letters!r}, {self.scores!r})"

    @property
    def array(self) -> Floats:
        """The scores as an array."""
        return np.array(self.scores, dtype=np.float64)

    @own_arithmetic()
    def is_positive(self, beta: float) -> bool:
        """Whether exp(beta * scores) is positive semidefinite, up to the rounding of eigenvalues.

        Its rows and columns are scaled to a diagonal of 1 first, which changes no sign.

        Examples
        --------
        >>> from fastmks.kernels import BLOSUM62
        >>> BLOSUM62.is_positive(0.5), BLOSUM62.is_positive(0.1)
        (True, False)
        >>> BLOSUM62.only("ARNDCQEGHILKMFPSTWYV").is_positive(0.1)
        True
        """
        exponents = self._exponents(beta)
        if (exponents > 1e-9).any():  # a 2 x 2 minor is negative
            return False
        eigenvalues, _ = _core.eigenvectors(np.exp(exponents))
        return bool(eigenvalues[-1] >= -1e-14 * len(self.letters))

    @own_arithmetic()
    def positive_part(self, beta: float) -> "Substitution":
        """Return the scores of most letters, such that exp(beta * scores) is positive semidefinite.

        Where it is not, the letters that weigh most are dropped, one after the other.

        Examples
        --------
        >>> from fastmks.kernels import BLOSUM62
        >>> BLOSUM62.positive_part(0.15)
        BLOSUM62.only('ARNDCQEGHILKMFPSTWYVBZ*')
        """
        part = self
        while not part.is_positive(beta):
            exponents = np.minimum(part._exponents(beta), 700.0)
            _, vectors = _core.eigenvectors(np.exp(exponents))
            heaviest = part.letters[int(np.argmax(np.abs(vectors[-1])))]
            part = part.only(part.letters.replace(heaviest, ""))
        return part

    def _exponents(self, beta: float) -> Floats:
        diagonal = np.diag(self.array)
        scaled: Floats = beta * (self.array - (diagonal[:, None] + diagonal[None, :]) / 2.0)
        return scaled


def _read_scores(scores: Any, size: int) -> Floats:
    try:
        with own_arithmetic():
            array = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"scores must be a matrix of real numbers: {error}") from error
    if array.shape != (size, size):
        raise InvalidArgument(
            f"scores must have a row and a column for each of the {size} letters; got shape "
            f"{array.shape}."
        )
    if not np.isfinite(array).all():
        raise InvalidArgument("scores must be finite. For pairs that must not be, use a low score.")
    return array + 0.0  # never -0.0, which prints differently


# Henikoff and Henikoff (1992), in half bits; B is D or N, Z is E or Q, X any, * a stop.
_BLOSUM62 = """
 4 -1 -2 -2  0 -1 -1  0 -2 -1 -1 -1 -1 -2 -1  1  0 -3 -2  0 -2 -1  0 -4
-1  5  0 -2 -3  1  0 -2  0 -3 -2  2 -1 -3 -2 -1 -1 -3 -2 -3 -1  0 -1 -4
-2  0  6  1 -3  0  0  0  1 -3 -3  0 -2 -3 -2  1  0 -4 -2 -3  3  0 -1 -4
-2 -2  1  6 -3  0  2 -1 -1 -3 -4 -1 -3 -3 -1  0 -1 -4 -3 -3  4  1 -1 -4
 0 -3 -3 -3  9 -3 -4 -3 -3 -1 -1 -3 -1 -2 -3 -1 -1 -2 -2 -1 -3 -3 -2 -4
-1  1  0  0 -3  5  2 -2  0 -3 -2  1  0 -3 -1  0 -1 -2 -1 -2  0  3 -1 -4
-1  0  0  2 -4  2  5 -2  0 -3 -3  1 -2 -3 -1  0 -1 -3 -2 -2  1  4 -1 -4
 0 -2  0 -1 -3 -2 -2  6 -2 -4 -4 -2 -3 -3 -2  0 -2 -2 -3 -3 -1 -2 -1 -4
-2  0  1 -1 -3  0  0 -2  8 -3 -3 -1 -2 -1 -2 -1 -2 -2  2 -3  0  0 -1 -4
-1 -3 -3 -3 -1 -3 -3 -4 -3  4  2 -3  1  0 -3 -2 -1 -3 -1  3 -3 -3 -1 -4
-1 -2 -3 -4 -1 -2 -3 -4 -3  2  4 -2  2  0 -3 -2 -1 -2 -1  1 -4 -3 -1 -4
-1  2  0 -1 -3  1  1 -2 -1 -3 -2  5 -1 -3 -1  0 -1 -3 -2 -2  0  1 -1 -4
-1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5  0 -2 -1 -1 -1 -1  1 -3 -1 -1 -4
-2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6 -4 -2 -2  1  3 -1 -3 -3 -1 -4
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7 -1 -1 -4 -3 -2 -2 -1 -2 -4
 1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4  1 -3 -2 -2  0  0  0 -4
 0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5 -2 -2  0 -1 -1  0 -4
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11  2 -3 -4 -3 -2 -4
-2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7 -1 -3 -2 -1 -4
 0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4 -3 -2 -1 -4
-2 -1  3  4 -3  0  1 -1  0 -3 -4  0 -3 -3 -2  0 -1 -4 -3 -3  4  1 -1 -4
-1  0  0  1 -3  3  4 -2  0 -3 -3  1 -1 -3 -1  0 -1 -3 -2 -2  1  4 -1 -4
 0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2  0  0 -2 -1 -1 -1 -1 -1 -4
-4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4  1
"""

BLOSUM62 = Substitution(
    "ARNDCQEGHILKMFPSTWYVBZX*",
    tuple(tuple(map(float, row.split())) for row in _BLOSUM62.strip().split("\n")),
)
_BY_NAME = {"BLOSUM62": BLOSUM62}


def find_substitution(substitution: Any) -> Substitution:
    """Return a substitution matrix given as itself or by name."""
    named = name_substitution(substitution)
    return _BY_NAME[named] if isinstance(named, str) else named


def name_substitution(substitution: Any) -> str | Substitution:
    """Return the name of a known matrix, however it is given; another one as itself."""
    if isinstance(substitution, Substitution):
        return next((n for n, known in _BY_NAME.items() if known == substitution), substitution)
    if isinstance(substitution, str) and substitution.upper() in _BY_NAME:
        return substitution.upper()
    raise InvalidArgument(
        f"substitution must be {' or '.join(map(repr, _BY_NAME))} or a "
        f"fastmks.kernels.Substitution(letters, scores); got {substitution!r}."
    )
