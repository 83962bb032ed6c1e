"""Fail when src/fastmks/_core.pyi is not what nanobind generates from the installed extension."""

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parent.parent / "src" / "fastmks" / "_core.pyi"


def generated() -> str:
    """Return the stub of the extension this interpreter imports."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "_core.pyi"
        command = [
            "-m",
            "nanobind.stubgen",
            "--module",
            "fastmks._core",
            "--output-file",
            str(output),
        ]
        subprocess.run(
            [sys.executable, *command], check=True, stdout=subprocess.DEVNULL, cwd=folder
        )
        return output.read_text()


def main() -> None:
    """Compare, or write with --write."""
    new = generated()
    if "--write" in sys.argv:
        STUB.write_text(new)
        return
    old = STUB.read_text() if STUB.exists() else ""
    if old != new:
        print("".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True))))
        sys.exit("src/fastmks/_core.pyi is out of date: run `make stub`.")
    print("stub: up to date")


if __name__ == "__main__":
    main()
