"""Pictures, where matplotlib is installed."""

import importlib
from pathlib import Path
from typing import Any

from benchmarks.harness import is_installed

_SHORT_AXIS = 300.0  # times from one end to the other


def make_panels(
    n_panels: int, width: float, height: float, *, n_columns: int = 1, has_common_axes: bool = False
) -> tuple[Any, list[Any]] | None:
    """Return a figure and its panels, row after row; without matplotlib a line instead.

    With common axes, panels side by side have the same vertical axis.
    """
    if not is_installed("matplotlib"):
        print("matplotlib is not installed: no picture")
        return None
    figures: Any = importlib.import_module("matplotlib.figure")
    figure = figures.Figure(figsize=(width, height), layout="constrained")
    n_rows, share = -(-n_panels // n_columns), "row" if has_common_axes else False
    return figure, list(figure.subplots(n_rows, n_columns, squeeze=False, sharey=share).flat)


def mark_plainly(axis: Any) -> None:
    """Mark a logarithmic axis with 1, 2, 5, 10, ... where it is short, and plain numbers."""
    ticker: Any = importlib.import_module("matplotlib.ticker")
    low, high = axis.get_view_interval()
    subs = (1.0, 2.0, 5.0) if high < _SHORT_AXIS * low else (1.0,)
    axis.set_major_locator(ticker.LogLocator(subs=subs))
    axis.set_major_formatter(
        ticker.FuncFormatter(lambda value, _: f"{value:,.10g}".replace(",", " "))
    )
    axis.set_minor_formatter(ticker.NullFormatter())


def save_picture(
    figure: Any, panels: list[Any], file: Path, *, title: str = "", **legend: Any
) -> None:
    """Write a picture with a title, and a legend of all its panels."""
    handles = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside lower center", **legend)
    if title:
        figure.suptitle(title)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)
