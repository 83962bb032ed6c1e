"""`python -m benchmarks.growth`."""

import sys

from benchmarks.growth.program import main

if __name__ == "__main__":
    sys.exit(main())
