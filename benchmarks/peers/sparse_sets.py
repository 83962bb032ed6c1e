"""The sparse sets that the bars are about: word counts, and proteins as counts of substrings."""

from dataclasses import replace
from pathlib import Path

from benchmarks import datasets
from benchmarks.datasets import Problem
from benchmarks.sequences import count_substrings, read_sequences

__all__ = [
    "GENERATED_TEXT",
    "N_QUERIES",
    "PROTEINS",
    "TEXT_FILES",
    "generate_text",
    "make_proteins",
    "read_proteins",
    "read_words",
]

N_QUERIES = 1000
TEXT_FILES = {name: datasets.COUNTS_FILES[name] for name in ("20 newsgroups", "blog posts")}
GENERATED_TEXT = "zipf text"
PROTEINS = "proteins"
_LENGTH = 3  # of the substrings


def generate_text(n_objects: int, n_queries: int) -> Problem:
    """Return word counts that need no file, of at most so many texts."""
    made = datasets.zipf_counts(min(n_objects, 20_000), 20_000, n_queries=n_queries)
    return replace(made, name=GENERATED_TEXT)


def read_words(folder: Path, name: str) -> Problem:
    """Return the word counts of a set of the folder."""
    found = datasets.read_counts(folder, name)
    assert found is not None, f"{name} is not in the folder"
    return found


def read_proteins(folder: Path, n_objects: int, n_queries: int) -> Problem:
    """Return proteins as strings; those who know vectors only get counts of substrings."""
    sequences, origin = read_sequences(folder, n_queries + n_objects)
    return make_proteins(sequences[n_queries:], sequences[:n_queries], origin)


def make_proteins(objects: list[str], queries: list[str], origin: str) -> Problem:
    """Return a problem of sequences, of whatever letters there are."""
    letters = "".join(sorted(set().union(*objects, *queries)))
    objects_counts, queries_counts = (
        count_substrings(some, _LENGTH, letters) for some in (objects, queries)
    )
    return Problem(
        name=PROTEINS,
        origin=f"{origin}: {len(queries)} held out as queries; peers get counts",
        objects=objects,
        queries=queries,
        width=len(letters) ** _LENGTH,
        vectors=(objects_counts, queries_counts),
    )
