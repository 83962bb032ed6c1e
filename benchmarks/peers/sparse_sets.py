"""The sparse sets that the bars are about: word counts, and proteins as counts of substrings."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import fastmks
from benchmarks import datasets
from benchmarks.datasets import Problem

__all__ = [
    "GENERATED_TEXT",
    "N_QUERIES",
    "PROTEINS",
    "PROTEINS_FILE",
    "TEXT_FILES",
    "generate_text",
    "read_proteins",
    "read_words",
]

N_QUERIES = 1000
TEXT_FILES = {name: datasets.COUNTS_FILES[name] for name in ("20 newsgroups", "blog posts")}
GENERATED_TEXT = "zipf text"
PROTEINS, PROTEINS_FILE = "proteins", "swissprot_100k.fasta.gz"


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
    sequences = fastmks.read_fasta(folder / PROTEINS_FILE).sequences
    mixed = np.random.default_rng(0).permutation(len(sequences))
    queries = [sequences[i] for i in mixed[:n_queries]]
    objects = [sequences[i] for i in mixed[n_queries : n_queries + n_objects]]
    return _protein_problem(objects, queries)


def _protein_problem(objects: Sequence[str], queries: Sequence[str]) -> Problem:
    letters = sorted({letter for one in (*objects, *queries) for letter in set(one)})
    counts = tuple(_count_substrings(some, letters) for some in (objects, queries))
    return Problem(
        name=PROTEINS,
        origin=f"{PROTEINS_FILE}: {len(queries)} held out as queries (seed 0); peers get counts",
        objects=list(objects),
        queries=list(queries),
        width=len(letters) ** 3,
        vectors=(counts[0], counts[1]),
    )


def _count_substrings(sequences: Sequence[str], letters: Sequence[str]) -> Any:
    """Return how often each substring of 3 letters occurs."""
    from scipy.sparse import csr_matrix

    n_letters = len(letters)
    code = np.zeros(256, dtype=np.int32)
    code[[ord(letter) for letter in letters]] = np.arange(n_letters)
    columns = []
    for sequence in sequences:
        codes = code[np.frombuffer(sequence.encode("latin-1"), dtype=np.uint8)]
        columns.append((codes[:-2] * n_letters + codes[1:-1]) * n_letters + codes[2:])
    rows = np.repeat(np.arange(len(columns), dtype=np.int32), [len(row) for row in columns])
    shape = (len(columns), n_letters**3)
    return csr_matrix((np.ones(len(rows)), (rows, np.concatenate(columns))), shape=shape)
