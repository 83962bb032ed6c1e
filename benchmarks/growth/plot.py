"""Draw costs against n, both axes logarithmic."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.pictures import make_panels, save_picture

__all__ = ["Curve", "plot_growth"]

_Points: TypeAlias = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Curve:
    """Costs of fastmks, and of mlpack where it took part, by the number of objects."""

    name: str
    points: _Points
    peer_points: _Points = ()


def plot_growth(curves: Sequence[Curve], file: Path, label: str) -> None:
    """Write a picture: fastmks solid, mlpack dashed in the same colour."""
    made = make_panels(1, 7.0, 5.0)
    if made is None:
        return
    figure, (axes,) = made
    for at, curve in enumerate(curves):
        axes.plot(*zip(*curve.points, strict=True), "o-", color=f"C{at % 10}", label=curve.name)
        if curve.peer_points:
            axes.plot(*zip(*curve.peer_points, strict=True), "x--", color=f"C{at % 10}")
    axes.set(xscale="log", yscale="log", xlabel="objects", ylabel=label)
    axes.set_title("solid: fastmks, dashed: mlpack")
    axes.legend(fontsize="x-small")
    axes.grid(visible=True, alpha=0.3)
    save_picture(figure, file)
