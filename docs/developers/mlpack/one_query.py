"""The default search of one query gives wrong answers or crashes."""

import subprocess
import sys
from collections import Counter

PROGRAM = """
import sys
import numpy as np
from mlpack import fastmks

rng = np.random.default_rng(int(sys.argv[1]))
reference, query = rng.normal(size=(500, 5)), rng.normal(size=(1, 5))
best = (query @ reference.T).max()
found = fastmks(reference=reference.copy(), query=query.copy(), k=1, kernel="linear")
print("right" if np.isclose(found["kernels"][0, 0], best, rtol=1e-9) else "wrong")
"""
ends = Counter()
for seed in range(20):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seed)], capture_output=True, text=True, check=False
    )
    ends[run.stdout.strip() if run.returncode == 0 else f"exit code {run.returncode}"] += 1
print("one query, default mode, 20 seeds:", dict(ends))
