"""What the programs about the tree have in common: options, data, and how they end."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import datasets
from benchmarks.datasets import Problem
from benchmarks.harness import is_installed

__all__ = ["Collector", "add_kept_options", "read_options"]

_EVERYTHING = 10**9


def read_options(
    name: str,
    about: str | None,
    arguments: Sequence[str] | None,
    extend: Callable[[argparse.ArgumentParser], None] | None = None,
) -> argparse.Namespace:
    """Read the command line; `out` is None where nothing is to be written.

    `extend` adds what only this program takes.
    """
    parser = argparse.ArgumentParser(prog=f"benchmarks.{name}", description=about)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the real data sets")
    parser.add_argument("--quick", action="store_true", help="small problems, few rounds")
    parser.add_argument("--out", type=Path, metavar="JSON", help="where the figures go")
    parser.add_argument("--figure", type=Path, metavar="PNG", help="where the picture goes")
    parser.add_argument("--rounds", type=_count, metavar="N", help="timed rounds")
    parser.add_argument("--objects", type=_count, metavar="N", help="at most so many of each set")
    parser.add_argument("--queries", type=_count, metavar="N", help="at most so many of each set")
    parser.add_argument(
        "--only", "--sets", nargs="+", metavar="SET", help="these sets only, by name"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=120.0,
        metavar="S",
        help="seconds a peer may take for one build or search (default 120)",
    )
    if extend is not None:
        extend(parser)
    options = parser.parse_args(arguments)
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data must be a folder; got {options.data}")
    return options


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {number}")
    return number


class Collector:
    """Gets the problems a program asks for, and notes what it cannot get."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.notes: list[str] = []
        if options.data is None and not getattr(options, "show", False):
            self.note("no --data: generated problems and scikit-learn's digits only")

    def note(self, line: str) -> None:
        """Print a line, and keep it for the report."""
        print(line, file=sys.stderr, flush=True)
        self.notes.append(line)

    def wants(self, name: str) -> bool:
        """Whether a set is among those asked for."""
        return self._options.only is None or name in self._options.only

    def real(
        self, name: str, n_objects: int = _EVERYTHING, n_queries: int = _EVERYTHING
    ) -> Problem | None:
        """Return a real set, or nothing and a note where it cannot be had."""
        if not self.wants(name):
            return None
        if name == "digits":
            if is_installed("sklearn"):
                return self.cut(datasets.digits(), n_objects, n_queries)
            self.note("sklearn is not installed: digits are left out")
            return None
        if self._options.data is None:
            return None
        found = datasets.read_real(self._options.data, name)
        if found is None:
            self.note(f"not in the folder: {datasets.file_of(name)}")
            return None
        return self.cut(found, n_objects, n_queries)

    def cut(
        self, problem: Problem, n_objects: int = _EVERYTHING, n_queries: int = _EVERYTHING
    ) -> Problem:
        """Return a sample as large as the program and the command line allow."""
        return problem.sample(*self.limits(n_objects, n_queries))

    def limits(self, n_objects: int, n_queries: int) -> tuple[int, int]:
        """Return how many objects and queries there may be."""
        return (
            min(n_objects, self._options.objects or _EVERYTHING),
            min(n_queries, self._options.queries or _EVERYTHING),
        )


def add_kept_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of programs that keep finished cells."""
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="stop after so long; run again to go on"
    )
    parser.add_argument(
        "--quiet",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="measure kept cells again where others took more of the machine than this",
    )
    parser.add_argument("--show", action="store_true", help="measure nothing: show what is kept")
