"""Before anything is collected: the tests are those of the sources as they are now."""

import os
import subprocess
import sys
from pathlib import Path

# Workers of pytest-xdist test what the process that started them has built.
if not {"PYTEST_XDIST_WORKER", "FASTMKS_INSTALLED"} & os.environ.keys():
    rebuild = [sys.executable, Path(__file__).parent / "tools" / "rebuild.py"]
    if subprocess.run(rebuild, check=False).returncode != 0:
        sys.exit(1)
