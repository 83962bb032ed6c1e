"""Run the program of the bars."""

import sys

from benchmarks.peers.grid import main

if __name__ == "__main__":
    sys.exit(main())
