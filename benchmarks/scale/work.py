"""What is searched: objects in the files of as many shards as wanted, and queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import Table
from benchmarks.sequences import read_sequences

_MNIST = Table(name="mnist", file="mnist.npz", objects="train", queries="test", scale=1.0 / 255.0)


@dataclass(frozen=True)
class Work:
    """A problem: objects, queries, and the kernel that compares them."""

    name: str
    kernel: Any
    objects: Any
    queries: Any
    origin: str

    def __len__(self) -> int:
        return len(self.objects)


def decaying(n_objects: int, n_queries: int, *, kernel: Any = "linear", seed: int = 0) -> Work:
    """Normal vectors whose axes matter less and less."""
    rng = np.random.default_rng(seed)
    scales = (0.9 ** np.arange(50)).astype(np.float32)
    rows = rng.standard_normal((n_objects + n_queries, 50), dtype=np.float32) * scales
    origin = f"generated, seed {seed}: normal, axis i times 0.9^i"
    return Work("decaying", kernel, rows[n_queries:], rows[:n_queries], origin)


def product(x: Any, y: Any) -> float:
    """Return the inner product, as slowly as a kernel that somebody wrote in Python."""
    return float(np.dot(x, y))


def mnist(folder: Path, n_queries: int) -> Work | None:
    """The pixels of MNIST, if they are there."""
    if not (folder / _MNIST.file).exists():
        return None
    problem = _MNIST.read(folder, "float32")
    return Work("mnist", "linear", problem.objects, problem.queries[:n_queries], problem.origin)


def proteins(folder: Path | None, n_objects: int, n_queries: int, kernel: Any) -> Work:
    """Protein sequences."""
    sequences, origin = read_sequences(folder, n_objects + n_queries)
    return Work("proteins", kernel, sequences[n_queries:], sequences[:n_queries], origin)


def write_shards(
    work: Work, folder: Path, n_shards: int, order: Sequence[int] | None = None
) -> list[Path]:
    """Write the objects, in an order, to as many files: what workers will read."""
    at = np.arange(len(work)) if order is None else np.asarray(order)
    paths = []
    for i, part in enumerate(np.array_split(at, n_shards)):
        if isinstance(work.objects, np.ndarray):
            path = folder / f"part-{i:03d}.npy"
            np.save(path, work.objects[part])
        else:
            path = folder / f"part-{i:03d}.fasta"
            path.write_text("".join(f">{j}\n{work.objects[j]}\n" for j in part))
        paths.append(path)
    return paths
