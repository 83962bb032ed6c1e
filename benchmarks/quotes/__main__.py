"""Check that README.md and docs quote the stored results: `python -m benchmarks.quotes`.

Prints every fault and exits with 1 if there is any. `--write` first puts what is stored now into
the pages: generated blocks, and quoted figures at the digits that they show.
"""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.quotes.check import check, write
from benchmarks.quotes.stored import Stored

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check all pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quotes", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the figures first")
    options = parser.parse_args(arguments)
    stored = Stored()
    if options.write:
        write(stored)
    faults = check(stored)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
