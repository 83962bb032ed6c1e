"""The memory of a process and the cached pages of a file, as Linux reports them."""

import os
import shutil
import subprocess
from pathlib import Path

_NAMES = {"Rss": "rss_mb", "Pss": "pss_mb", "Anonymous": "anonymous_mb"}


def rollup(process: int | None = None) -> dict[str, float]:
    """Return resident, proportional and anonymous memory, in MB; zeros if not reported."""
    found = dict.fromkeys(_NAMES.values(), 0.0)
    file = Path(f"/proc/{process or 'self'}/smaps_rollup")
    if file.exists():
        for line in file.read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            if name in _NAMES:
                found[_NAMES[name]] = int(rest.split()[0]) * 1024 / 1e6
    return found


def synchronize(file: Path, *, drops_pages: bool = False) -> None:
    """Write a file to the disk; drop its cached pages if asked for."""
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
        if drops_pages and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def page_share(file: Path) -> float | None:
    """Return the share of a file's pages that is cached; None where that is not known."""
    command = ["fincore", "--bytes", "--noheadings", "--output", "RES", str(file)]
    if not shutil.which("fincore") or not file.stat().st_size:
        return None
    cached = int(subprocess.run(command, capture_output=True, check=True).stdout)
    return min(1.0, cached / file.stat().st_size)  # whole pages are cached
