"""Draw the pictures of README and docs/evidence: `python -m benchmarks.evidence`."""

from pathlib import Path

from benchmarks.evidence.overview import draw_overview

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def main(folder: Path = ROOT / "docs" / "images") -> None:
    """Write every picture into a folder."""
    draw_overview(RESULTS, folder / "overview.png")


if __name__ == "__main__":
    main()
