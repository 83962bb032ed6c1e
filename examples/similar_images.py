"""Find similar images: handwritten digits of 8 x 8 pixels, from scikit-learn, drawn as text.

python examples/similar_images.py               # Gaussian kernel
python examples/similar_images.py cosine        # or another kernel of vectors, by its name
"""

import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import fastmks
from fastmks import kernels

SHADES = " .:-=+*#%@"
K = 5
N_QUERIES = 100


def drawn(image: np.ndarray[Any, Any]) -> list[str]:
    """Return an image as lines of text, two characters for a pixel of 0 to 16."""
    levels = (image * (len(SHADES) - 1) / 16.0).astype(int)
    return ["".join(SHADES[level] * 2 for level in row) for row in levels]


def side_by_side(images: list[np.ndarray[Any, Any]], titles: list[str]) -> str:
    """Return images beside each other, each under its title."""
    blocks = [[f"{title:<16}", *drawn(image)] for image, title in zip(images, titles, strict=True)]
    return "\n".join("  ".join(line).rstrip() for line in zip(*blocks, strict=True))


def main() -> None:
    """Index all digits but the last hundred, and search for those."""
    kernel: Any = sys.argv[1] if len(sys.argv) > 1 else kernels.Gaussian(bandwidth=20.0)
    pixels, digits = load_digits(return_X_y=True)
    indexed, shown = pixels[:-N_QUERIES], digits[:-N_QUERIES]
    index = fastmks.Index(indexed, kernel)
    hits = index.search(pixels[-N_QUERIES:], k=K)
    print(
        f"{len(index)} digits indexed under {index.kernel}; the {K} most similar to three others:"
    )
    for query in range(0, N_QUERIES, 40):
        found = hits.indices[query]
        images = [pixels[-N_QUERIES + query], *indexed[found]]
        titles = [f"query: {digits[-N_QUERIES + query]}"]
        titles += [
            f"{shown[i]} ({value:.3g})" for i, value in zip(found, hits.values[query], strict=True)
        ]
        print("", side_by_side([image.reshape(8, 8) for image in images], titles), sep="\n")
    share = float((shown[hits.indices[:, 0]] == digits[-N_QUERIES:]).mean())
    print(f"\nThe most similar one shows the same digit for {share:.0%} of {N_QUERIES} queries.")


if __name__ == "__main__":
    main()
