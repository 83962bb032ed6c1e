"""Draw the pictures of README and docs/evidence: `python -m benchmarks.evidence`."""

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.evidence.costs import draw_growth, draw_tree
from benchmarks.evidence.grids import draw_gains, draw_wrong_answers
from benchmarks.evidence.overview import draw_overview
from benchmarks.evidence.speed import draw_losses, draw_speedups

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PICTURES: Mapping[str, Callable[[Path, Path], None]] = {
    "overview": draw_overview,
    "wrong_answers": draw_wrong_answers,
    "speedups": draw_speedups,
    "gains": draw_gains,
    "growth": draw_growth,
    "tree": draw_tree,
    "losses": draw_losses,
}


def main(folder: Path = ROOT / "docs" / "images") -> None:
    """Write every picture into a folder."""
    for name, draw in PICTURES.items():
        draw(RESULTS, folder / f"{name}.png")


if __name__ == "__main__":
    main()
