"""Bring the editable install of this checkout up to date: recompile what changed in C++.

    python tools/rebuild.py

Python sources need nothing: they are imported from src. conftest.py runs this before any test.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "fastmks"


def main() -> None:
    """Recompile and install the extension, or exit with the reason why it cannot be done."""
    spec = importlib.util.find_spec("fastmks")
    origin = Path(spec.origin).resolve().parent if spec is not None and spec.origin else None
    compile_changed = getattr(spec and spec.loader, "rebuild", None)
    if origin != PACKAGE or compile_changed is None:
        sys.exit(
            f"{sys.executable} imports fastmks from {origin or 'nowhere'}, which is no editable "
            f"install of {PACKAGE}. Run `make dev` and use .venv/bin/python and .venv/bin/pytest; "
            "to test an installed package instead, set FASTMKS_INSTALLED=1."
        )
    moved = [file for file in _known_files() if not Path(file).exists()]
    if moved:
        sys.exit(f"{moved[0]} and perhaps other modules have moved: run `make dev`.")
    found = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), found])  # cmake, ninja
    try:
        compile_changed()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"The C++ sources were not built, so nothing was tested: see above. ({error})")
    finally:
        os.environ["PATH"] = found


def _known_files() -> list[str]:
    """Return the modules that the finder of scikit-build-core has noted."""
    maps = [getattr(finder, "known_source_files", {}) for finder in sys.meta_path]
    return [file for one in maps for file in one.values() if Path(file).is_relative_to(PACKAGE)]


if __name__ == "__main__":
    main()
