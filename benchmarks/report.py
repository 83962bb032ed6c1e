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

from benchmarks.harness import Figure, Race

__all__ = [
    "Check",
    "Ledger",
    "Report",
    "commit",
    "describe_machine",
    "keep_ledger",
    "markdown",
    "read",
    "table",
    "today",
    "versions",
    "write",
    "write_ledger",
]

_PACKAGES = (
    "fastmks",
    "numpy",
    "scipy",
    "faiss-cpu",
    "sparse_dot_topn",
    "mlpack",
    "scikit-learn",
    "threadpoolctl",
    "usearch",
    "FPSim2",
    "rdkit",
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
class Circumstances:
    """Where and when a program measured, with what."""

    name: str
    date: str
    commit: str
    machine: dict[str, Any]
    versions: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Report(Circumstances):
    """Everything one program of races measured."""

    races: tuple[Race, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True, kw_only=True)
class Ledger(Circumstances):
    """What a program that is no race measured: one row for each case, all with the same fields."""

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
    from fastmks.spaces import chosen_isa

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


def write(report: Report, folder: Path = _HERE / "results") -> Path:
    """Write folder/NAME.json and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{report.name}.json"
    file.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    return file


def read(file: Path) -> Report:
    """Return the report that `write` wrote."""
    fields = json.loads(file.read_text(encoding="utf-8"))
    fields["notes"] = tuple(fields["notes"])
    fields["races"] = tuple(map(_read_race, fields["races"]))
    fields["checks"] = tuple(Check(**check) for check in fields["checks"])
    return Report(**fields)


def table(race: Race) -> str:
    """Return a race as text: one line for each contestant."""
    shape = f"{race.n_objects} x {race.n_columns} {race.kind} {race.dtype}"
    head = [
        f"{race.title}, {race.threads} thread{'s' * (race.threads > 1)}{_noise(race)}",
        f"  {race.n_queries} queries, {shape} ({race.origin})",
    ]
    seconds = ("median s", "min s", f"x {race.baseline}", "build s", "cores")
    rows = [
        ["", *seconds, "wrong", "as stored", "ties"],
        *(_cells(figure) for figure in race.figures),
    ]
    return "\n".join(head + _aligned(rows))


def _noise(race: Race) -> str:
    return "" if race.others is None else f", others took {race.others:.0%} of the machine"


def _cells(figure: Figure) -> list[str]:
    if not figure.seconds:
        return [figure.contestant, "not installed"]
    seconds = (
        figure.median_seconds,
        figure.min_seconds,
        figure.ratio,
        figure.build_seconds,
        figure.cores,
    )
    counts = (figure.wrong, figure.wrong_as_stored, figure.ties)
    return [
        figure.contestant,
        *("-" if number is None else f"{number:.3f}" for number in seconds),
        *("-" if count is None else str(count) for count in counts),
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    full = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    widths[0] = max(len(row[0]) for row in rows)
    lines = []
    for name, *cells in rows:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=False))
        lines.append("  ".join(["", name.ljust(widths[0]), *padded]))
    return lines


def _read_race(fields: dict[str, Any]) -> Race:
    figures = []
    for figure in fields["figures"]:
        figure["seconds"] = tuple(figure["seconds"])
        figures.append(Figure(**figure))
    return Race(**{**fields, "figures": tuple(figures)})


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
