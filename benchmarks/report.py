"""The output of a benchmark: a table to read, and facts about the run for its JSON file."""

import datetime
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = (
    "fastmks", "numpy", "scipy", "dask", "distributed", "faiss-cpu", "sparse_dot_topn", "mlpack",
    "scikit-learn", "threadpoolctl", "usearch", "FPSim2", "rdkit", "hnswlib",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Check:
    """A claim about the figures: its value is at most the limit."""

    claim: str
    value: float
    limit: float = 0.0
    is_required: bool = True

    @property
    def holds(self) -> bool:
        """Whether the value is at most the limit."""
        return self.value <= self.limit

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return f"{verdict}: {self.claim}: {self.value:.2f}, limit {self.limit:g}"


def circumstances(
    name: str, commit: str, notes: Sequence[str], checks: Sequence[Check] = ()
) -> dict[str, Any]:
    """Return the head of a file of results: where, when and with what they were measured."""
    return {
        "name": name,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": commit,
        "machine": describe_machine(),
        "versions": {package: _version(package) for package in _PACKAGES},
        "notes": list(notes),
        "checks": [asdict(check) for check in checks],
    }


def markdown(head: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; bars separate the titles in `head`."""
    titles = head.split("|")
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def three_digits(value: float | None, none: str = "-") -> str:
    """Return the number with three digits, and all digits before the point."""
    if value is None:
        return none
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def describe_machine() -> dict[str, Any]:
    """Return the facts about the machine and packages that the speed depends on."""
    from fastmks.engines.space import chosen_isa

    file = Path("/proc/cpuinfo")
    cpu = file.read_text(encoding="utf-8") if file.exists() else ""
    models = [line for line in cpu.splitlines() if line.startswith("model name")]
    has_affinity = hasattr(os, "sched_getaffinity")
    return {
        "cpu": models[0].partition(":")[2].strip() if models else platform.processor() or "unknown",
        "cores": len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1,
        "fastmks_isa": chosen_isa(),
        "amx": "amx_int8" in cpu,  # whether it multiplies tiles of 8-bit numbers
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def commit() -> str:
    """Return the commit of the checkout, and whether its sources differ from it."""
    head = _git("rev-parse", "--short=12", "HEAD")
    changes = _git("status", "--porcelain", "--", "src", "cpp", "CMakeLists.txt")
    return f"{head} with changes" if head and changes else head or "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
