"""The data that stand for the rows of the paper's table."""

from dataclasses import dataclass

__all__ = ["SETS", "PaperSet"]

_ALL = 10**9


@dataclass(frozen=True, kw_only=True)
class PaperSet:
    """A set of ours, the row of the table it stands for, and how much of it is used."""

    name: str
    row: str  # of the paper's table
    n_objects: int = _ALL  # at most
    n_quick: int = 2000  # at most, in a quick run


SETS = (
    PaperSet(name="yahoo", row="Y! Music"),
    PaperSet(name="movielens", row="MovieLens"),
    PaperSet(name="digits", row="Opt-digits"),
    PaperSet(name="magic", row="Physics"),
    PaperSet(name="bio", row="Bio"),
    PaperSet(name="covertype", row="Covertype"),
    PaperSet(name="blog posts", row="LiveJournal", n_objects=10_000, n_quick=500),
    PaperSet(name="MNIST", row="MNIST", n_objects=20_000, n_quick=1000),
    PaperSet(name="gowalla", row="Netflix"),
    PaperSet(name="corel", row="Corel"),
    PaperSet(name="galaxies", row="LCDM", n_quick=20_000),
    PaperSet(name="cifar gist", row="TinyImages", n_objects=20_000, n_quick=1000),
)
