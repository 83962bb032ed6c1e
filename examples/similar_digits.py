"""The most similar digits under several kernels: each kernel means something else by "similar".

python examples/similar_digits.py [--query NUMBER] [--figure PATH]

The 8 x 8 images are those that ship with scikit-learn; the query is one of the last hundred, and
is not indexed. With --figure the answers are drawn (needs matplotlib).
"""

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import fastmks
from fastmks import kernels

K, N_QUERIES = 7, 100
KERNELS: dict[str, kernels.Kernel] = {
    "inner product": kernels.Linear(),
    "cosine": kernels.Cosine(),
    "Gaussian of distance": kernels.Gaussian(bandwidth=20.0),
    "min-max": kernels.MinMax(),
}
Array = np.ndarray[Any, Any]


def draw(path: str, query: Array, pixels: Array, found: dict[str, fastmks.Hits]) -> None:
    """Draw the query and, below it, a row of answers for each kernel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.6), dpi=100, layout="constrained")
    grid = figure.subplots(len(found), K + 1)
    for row, (name, hits) in enumerate(found.items()):
        shown = [query, *pixels[hits.indices[0]]]
        titles = ["query" if row == 0 else "", *(f"{value:.4g}" for value in hits.values[0])]
        for axes, image, title in zip(grid[row], shown, titles, strict=True):
            axes.imshow(image.reshape(8, 8), cmap="gray_r")
            axes.set_title(title, fontsize=8)
            axes.set_xticks([])
            axes.set_yticks([])
        if row:
            grid[row, 0].set_visible(False)
            grid[row, 0].set_in_layout(False)
        grid[row, 1].set_ylabel(name.replace(" ", "\n", 1), fontsize=8, rotation=0, ha="right")
        grid[row, 1].yaxis.label.set_verticalalignment("center")
    figure.savefig(path)


def main() -> None:
    """Search under each kernel, and print the hits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--query", type=int, default=62, help="0 to 99 (default 62)")
    parser.add_argument("--figure", help="a PNG file to draw the answers into")
    options = parser.parse_args()
    if not 0 <= options.query < N_QUERIES:
        parser.error(f"--query must be 0 to {N_QUERIES - 1}; got {options.query}")
    pixels, digits = load_digits(return_X_y=True)
    query, digit = pixels[-N_QUERIES + options.query], digits[-N_QUERIES + options.query]
    pixels, digits = pixels[:-N_QUERIES], digits[:-N_QUERIES]
    found = {
        name: fastmks.Index(pixels, kernel).search(query, K) for name, kernel in KERNELS.items()
    }
    print(f"{len(pixels)} digits; the query shows a {digit}. Value (what the digit shows):\n")
    for name, hits in found.items():
        pairs = zip(hits.values[0], digits[hits.indices[0]], strict=True)
        print(f"{name:<22}" + "  ".join(f"{value:.4g} ({shown})" for value, shown in pairs))
    if options.figure:
        draw(options.figure, query, pixels, found)


if __name__ == "__main__":
    main()
