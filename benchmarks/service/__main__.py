"""Run the program of the service."""

import sys

from benchmarks.service.program import main

if __name__ == "__main__":
    sys.exit(main())
