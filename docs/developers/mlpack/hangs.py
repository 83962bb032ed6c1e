"""Building or searching does not end where the square of a distance is negative after rounding."""

import subprocess
import sys

SECONDS = 60
START = "import numpy as np; from mlpack import fastmks; rng = np.random.default_rng(0); "
ASK = "fastmks(reference=X, query=X[:5].copy(), k=1, single=True, {})"
cases = [  # data, arguments
    ("X = rng.normal(size=(200, 3)); ", "kernel='cosine'"),
    ("X = 1000 + 1e-6 * rng.normal(size=(200, 3)); ", "kernel='linear'"),
    ("X = 1000 + 1e-6 * rng.normal(size=(200, 3)); ", "kernel='cosine'"),
    ("X = 1000 + 1e-6 * rng.normal(size=(200, 3)); ", "kernel='polynomial', degree=3.0"),
    ("X = rng.normal(size=(200, 3)); ", "kernel='hyptan'"),
]
for data, arguments in cases:
    program = [sys.executable, "-c", START + data + ASK.format(arguments)]
    try:
        code = subprocess.run(program, timeout=SECONDS, capture_output=True, check=False).returncode
        end = "ends" if code == 0 else f"exit code {code}"
    except subprocess.TimeoutExpired:
        end = f"no answer after {SECONDS} s"
    print(f"{data}{arguments}: {end}")
