"""Search handwritten digits with four kernels and a Python function, beside brute force.

Run it with `make demo`. It is what `fastmks demo` shows: src/fastmks/cli/digits.py has the kernels
with their formulas in plain numpy, the search, and the check.
"""

from fastmks.cli.digits import search_digits


def main() -> None:
    """Print each line as soon as it is known."""
    for line in search_digits():
        print(line)


if __name__ == "__main__":
    main()
