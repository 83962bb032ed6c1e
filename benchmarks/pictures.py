"""Pictures, where matplotlib is installed."""

import importlib
from pathlib import Path
from typing import Any

from benchmarks.harness import is_installed

__all__ = ["make_panels", "save_picture"]


def make_panels(
    n_rows: int, width: float, height: float, *, n_columns: int = 1
) -> tuple[Any, list[Any]] | None:
    """Return a figure and its panels, row by row; without matplotlib a line instead."""
    if not is_installed("matplotlib"):
        print("matplotlib is not installed: no picture")
        return None
    figures: Any = importlib.import_module("matplotlib.figure")
    figure = figures.Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())


def save_picture(figure: Any, file: Path) -> None:
    """Write a picture in the format that the name of the file asks for."""
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)
