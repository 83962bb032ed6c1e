"""Run the paper's evaluation."""

import sys

from benchmarks.paper.program import main

if __name__ == "__main__":
    sys.exit(main())
