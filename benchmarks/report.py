"""What a benchmark leaves behind: a table to read, and a JSON file with every figure."""

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = [
    "Check",
    "Ledger",
    "commit",
    "describe_machine",
    "keep_ledger",
    "markdown",
    "today",
    "versions",
    "write_ledger",
]

_PACKAGES = (
    "fastmks",
    "numpy",
    "scipy",
    "dask",
    "distributed",
    "faiss-cpu",
    "sparse_dot_topn",
    "mlpack",
    "scikit-learn",
    "threadpoolctl",
    "usearch",
    "FPSim2",
    "rdkit",
    "hnswlib",
)
_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Check:
    """A claim about the figures, and whether they bear it out."""

    claim: str
    value: float
    limit: float
    is_required: bool

    @property
    def holds(self) -> bool:
        """Whether the value is at most the limit."""
        return self.value <= self.limit

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return f"{verdict}: {self.claim}: {self.value:.2f}, limit {self.limit:g}"


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """What a program measured, where, when and with what: a row for each case, all alike."""

    name: str
    date: str
    commit: str
    machine: dict[str, Any]
    versions: dict[str, str]
    notes: tuple[str, ...]
    rows: tuple[Any, ...]  # dataclasses
    checks: tuple[Check, ...]


def keep_ledger(
    name: str,
    started_at: str,
    *,
    notes: Sequence[str],
    rows: Sequence[Any],
    checks: Sequence[Check] = (),
) -> Ledger:
    """Put rows together with where and when they were measured; `started_at` is a commit."""
    return Ledger(
        name=name,
        date=today(),
        commit=started_at,
        machine=describe_machine(),
        versions=versions(),
        notes=tuple(notes),
        rows=tuple(rows),
        checks=tuple(checks),
    )


def write_ledger(ledger: Ledger, file: Path) -> None:
    """Write a ledger as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(ledger), indent=1) + "\n", encoding="utf-8")


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def describe_machine() -> dict[str, Any]:
    """Return what the speed of a search depends on."""
    from fastmks.engines.space import chosen_isa

    return {
        "cpu": _cpu_model(),
        "cores": _usable_cpus(),
        "fastmks_isa": chosen_isa(),
        "amx": _has_tiles(),
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Return the versions of all packages that take part."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def today() -> str:
    """Return the date, in UTC."""
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def commit() -> str:
    """Return the commit of this checkout, and whether its sources differ from it."""
    head = _git("rev-parse", "--short=12", "HEAD")
    changes = _git("status", "--porcelain", "--", "src", "cpp", "CMakeLists.txt")
    return f"{head} with changes" if head and changes else head or "unknown"


def _cpu_model() -> str:
    file = Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _has_tiles() -> bool:
    """Whether the CPU multiplies tiles of 8-bit numbers (AMX)."""
    file = Path("/proc/cpuinfo")
    return file.exists() and "amx_int8" in file.read_text(encoding="utf-8")


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=_HERE.parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
