"""Draw speed-ups as the paper does: bars for each set, kernel and k, on a logarithmic axis."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.pictures import make_panels, save_picture

__all__ = ["plot_speedups"]

_Bars: TypeAlias = Mapping[tuple[str, str, int], float | None]  # row, kernel, k: speed-up
_PANELS = (("cosine", "tanh"), ("linear", "polynomial 10"))
_LEAST = 1.0  # a bar of 1 has no height: what the tree refuses shows as none


def plot_speedups(bars: _Bars, file: Path) -> None:
    """Write the picture; two kernels in each panel, four k in each group."""
    made = make_panels(len(_PANELS), 11.0, 7.5)
    if made is None:
        return
    figure, panels = made
    for axes, kernels in zip(panels, _PANELS, strict=True):
        _draw(axes, bars, kernels)
    save_picture(figure, file)


def _draw(axes: Any, bars: _Bars, kernels: tuple[str, ...]) -> None:
    rows = list(dict.fromkeys(row for row, _, _ in bars))
    ks = sorted({k for _, _, k in bars})
    width = 0.8 / (len(kernels) * len(ks))
    for i, kernel in enumerate(kernels):
        for j, k in enumerate(ks):
            at = i * len(ks) + j
            places = [x - 0.4 + (at + 0.5) * width for x in range(len(rows))]
            heights = [max(bars.get((row, kernel, k)) or _LEAST, _LEAST) for row in rows]
            shade = 1.0 - 0.7 * j / max(len(ks) - 1, 1)
            axes.bar(places, heights, width, color=f"C{i}", alpha=shade, label=f"{kernel}, k={k}")
    axes.set(yscale="log", ylim=(_LEAST, None), ylabel="speed-up over the scan (evaluations)")
    axes.set_xticks(range(len(rows)), rows, rotation=30, ha="right")
    axes.legend(fontsize="x-small", ncols=len(kernels))
    axes.grid(visible=True, axis="y", alpha=0.3)
