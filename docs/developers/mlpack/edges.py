"""Requests at the edges crash, or answer with the greatest unsigned number as an index."""

import subprocess
import sys

START = "import numpy as np; from mlpack import fastmks; rng = np.random.default_rng(0); "
cases = [
    "fastmks(reference=rng.normal(size=(1, 3)), query=rng.normal(size=(5, 3)), k=1, single=True)",
    "fastmks(reference=rng.normal(size=(9, 3)), query=np.zeros((0, 3)), k=1)",
    "fastmks(reference=rng.normal(size=(9, 3)), query=np.full((5, 3), np.nan), k=1, single=True)",
    "fastmks(reference=rng.normal(size=(9, 3)), k=9, single=True)",
]
for case in cases:
    program = [sys.executable, "-c", f"{START}print({case}['indices'].ravel()[-3:])"]
    run = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    end = run.stdout.strip() if run.returncode == 0 else f"exit code {run.returncode}"
    print(f"{case}: {end}")
