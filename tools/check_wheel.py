"""Check the wheel in a folder, and write it to another, named after the platforms it serves.

It must hold every file of src/fastmks, the compiled core, and the licences of fastmks and of what
is compiled into it. A wheel of the stable ABI must use no symbol that a later Python may lack
(abi3audit), and none may need a library that other machines lack (auditwheel).
"""

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"


def main() -> int:
    """Check the wheel, repair it, and print the platforms that it serves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the wheel is")
    parser.add_argument("--out", type=Path, required=True, help="where the checked wheel goes")
    options = parser.parse_args()
    wheels = sorted(options.folder.glob("*.whl"))
    if len(wheels) != 1:
        parser.error(f"{options.folder} must hold one wheel; it holds {len(wheels)}.")
    wheel = wheels[0]
    missing = _missing_files(wheel)
    if missing:
        raise SystemExit(f"{wheel.name} lacks {', '.join(missing)}.")
    if "-abi3-" in wheel.name:
        _run("abi3audit", "--strict", "--verbose", str(wheel))
    else:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        print(
            f"{wheel.name} is for Python {version} only: the stable ABI begins with Python 3.12. "
            "For one wheel that serves all later versions: make clean wheel PYTHON=python3.12"
        )
    if sys.platform == "linux":
        _run("auditwheel", "show", str(wheel))
        _run("auditwheel", "repair", "--wheel-dir", str(options.out), str(wheel))
    else:
        options.out.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, options.out)
    for made in sorted(options.out.glob("*.whl")):
        print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")
    return 0


def _missing_files(wheel: Path) -> list[str]:
    """Return the files that should be in a wheel and are not."""
    held = zipfile.ZipFile(wheel).namelist()
    files = [path for path in SOURCES.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    wanted = [path.relative_to(SOURCES).as_posix() for path in files]
    licences = "-".join(wheel.name.split("-")[:2]) + ".dist-info/licenses"
    wanted += [f"{licences}/{path.name}" for path in ROOT.glob("LICENSE*")]
    has_core = any(
        name.startswith("fastmks/_core.") and name.endswith((".so", ".pyd")) for name in held
    )
    return sorted(set(wanted) - set(held)) + ([] if has_core else ["the compiled core"])


def _run(tool: str, *arguments: str) -> None:
    command = [sys.executable, "-m", tool, *arguments]
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    if subprocess.run(command, check=False, env={**os.environ, "PATH": beside}).returncode != 0:
        raise SystemExit(f"{tool} refuses the wheel: see above.")


if __name__ == "__main__":
    sys.exit(main())
