"""Run the program of living indexes."""

import sys

from benchmarks.living.program import main

if __name__ == "__main__":
    sys.exit(main())
