"""Protein sequences, and counts of their substrings for peers that take vectors only."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import fastmks

SEQUENCES_FILE = "swissprot_100k.fasta.gz"
LETTERS = "ACDEFGHIKLMNPQRSTVWY"


def read_sequences(folder: Path | None, n: int) -> tuple[list[str], str]:
    """Return at most n sequences in random order, and their origin.

    Without a folder, or without the file in it, they are generated.
    """
    rng = np.random.default_rng(0)
    if folder is None or not (folder / SEQUENCES_FILE).exists():
        letters = np.array(list(LETTERS))
        made = ["".join(rng.choice(letters, rng.integers(50, 400))) for _ in range(n)]
        return made, "generated, seed 0"
    sequences = fastmks.read_fasta(folder / SEQUENCES_FILE).sequences
    mixed = rng.permutation(len(sequences))[:n]
    return [sequences[i] for i in mixed], f"{SEQUENCES_FILE}, mixed (seed 0)"


def count_substrings(sequences: Sequence[str], p: int, letters: str = LETTERS) -> Any:
    """Return how often each substring of p letters occurs in each sequence, as CSR."""
    from scipy.sparse import csr_matrix

    others = set().union(*sequences) - set(letters)
    if others:
        raise ValueError(f"sequences must be of the letters {letters}; got {sorted(others)} too.")
    n_letters = len(letters)
    code = np.zeros(256, dtype=np.int32)
    code[list(letters.encode())] = np.arange(n_letters)
    columns = []
    for sequence in sequences:
        codes = code[np.frombuffer(sequence.encode(), dtype=np.uint8)]
        n_here = max(0, len(codes) - p + 1)
        mine = np.zeros(n_here, dtype=np.int32)
        for at in range(p):
            mine = mine * n_letters + codes[at : at + n_here]
        columns.append(mine)
    rows = np.repeat(np.arange(len(columns), dtype=np.int32), [len(row) for row in columns])
    ones = np.ones(len(rows))
    shape = (len(columns), n_letters**p)
    return csr_matrix((ones, (rows, np.concatenate(columns))), shape=shape)
