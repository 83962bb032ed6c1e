"""Run the program of shards."""

import sys

from benchmarks.scale.program import main

if __name__ == "__main__":
    sys.exit(main())
