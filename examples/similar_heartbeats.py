"""Find similar heartbeats: python examples/similar_heartbeats.py [ucr_ecg5000.npz] [--figure PATH]

Each beat is a short time series. The global alignment kernel compares beats that run at different
speeds; the majority among the five most similar known beats says what a new one is. With --figure
two new beats and those most similar to them are drawn (needs matplotlib).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import fastmks
from fastmks.kernels import GlobalAlignment, Normalized

K, N_KNOWN, N_NEW = 5, 300, 100
Array = np.ndarray[Any, Any]


def read_beats(file: Path) -> tuple[Array, Array, Array, Array]:
    """Return known beats, their kinds, new beats and theirs from a UCR file."""
    data = np.load(file)
    known, kinds = data["train"][:N_KNOWN], data["train_labels"][:N_KNOWN]
    return known, kinds, data["test"][:N_NEW], data["test_labels"][:N_NEW]


def draw_beats(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return drawn beats: P, QRS and T waves; a premature beat is wide, early and has no P wave."""
    times = np.linspace(0.0, 1.0, 140)
    beats, kinds = [], rng.integers(0, 2, size=n)
    for is_premature in kinds:
        start, stretch = rng.normal(0.0, 0.02), rng.normal(1.0, 0.08)
        waves = [(0.2, 0.025, 0.15), (0.4, 0.012, 1.0), (0.43, 0.015, -0.25), (0.65, 0.05, 0.3)]
        if is_premature:
            waves = [(0.33, 0.035, 1.0), (0.42, 0.04, -0.5), (0.62, 0.06, -0.25)]
        beat = sum(
            height * np.exp(-(((times - start - at * stretch) / width) ** 2) / 2.0)
            for at, width, height in waves
        )
        beats.append(beat + rng.normal(0.0, 0.03, size=len(times)))
    return np.array(beats), kinds


def draw(path: str, known: Array, new: Array, hits: fastmks.Hits, shown: list[int]) -> None:
    """Draw some new beats, and behind each the known ones that are most similar."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 2.8), dpi=100, layout="constrained")
    for axes, query in zip(figure.subplots(1, len(shown), sharey=True), shown, strict=True):
        for i, value in zip(hits.indices[query], hits.values[query], strict=True):
            axes.plot(known[i], color="C0", alpha=0.5, linewidth=1, label=f"{value:.3f}")
        axes.plot(new[query], color="black", linewidth=1.5, label="query")
        axes.set_xlabel("sample")
        axes.legend(fontsize=7)
        axes.grid(alpha=0.3)
    figure.savefig(path)


def main() -> None:
    """Index the known beats, search with the new ones, vote."""
    parser = argparse.ArgumentParser(description="Find similar heartbeats.")
    parser.add_argument("file", nargs="?", type=Path, help="a UCR file, as .npz")
    parser.add_argument("--figure", help="a PNG file to draw two answers into")
    options = parser.parse_args()
    if options.file:
        known, kinds, new, truth = read_beats(options.file)
    else:
        rng = np.random.default_rng(0)
        (known, kinds), (new, truth) = draw_beats(N_KNOWN, rng), draw_beats(N_NEW, rng)
    kernel = Normalized(GlobalAlignment(bandwidth=1.0, triangular=20))
    index = fastmks.Index(known, kernel, algorithm="tree")
    hits = index.search(new, k=K)
    votes = [np.bincount(kinds[row]).argmax() for row in hits.indices]
    print(f"{len(known)} known beats of {known.shape[1]} samples, {len(new)} new ones, {kernel!r}")
    print(f"right: {np.mean(votes == truth):.1%}")
    print(f"kernel evaluations: {hits.stats.scan_share:.0%} of a scan")
    print("the first new beat and its most similar ones: value, number, kind")
    for value, i in zip(hits.values[0], hits.indices[0], strict=True):
        print(f"  {value:.4f}  {i:>4}  {kinds[i]}")
    if options.figure:
        first_of_kinds = [int(np.argmax(truth == kind)) for kind in np.unique(truth)[:2]]
        draw(options.figure, known, new, hits, first_of_kinds)


if __name__ == "__main__":
    main()
