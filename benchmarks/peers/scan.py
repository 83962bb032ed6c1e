"""Compare fastmks' scan with the usual brute force: `python -m benchmarks.peers.scan --help`."""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import datasets, noise
from benchmarks.datasets import Problem
from benchmarks.harness import Race, find_truths, is_installed, race
from benchmarks.peers import dense, sparse
from benchmarks.report import (
    Check,
    Report,
    commit,
    describe_machine,
    table,
    today,
    versions,
    write,
)

__all__ = ["main"]

_K = 10
_MOST_OTHERS = 0.1  # of the machine, before a race is run again
_MOST_TIMES_NUMPY = 3.0
_MOST_SELECTION = 2.0  # times the search for one: selection costs no more than evaluation


@dataclass(frozen=True)
class _Sizes:
    """How large the generated problems are, and how much of the real ones is used."""

    n_objects: int
    n_text: int
    n_queries: int
    most_objects: int
    ks: tuple[int, ...]  # on the first problem; the others have k=10


_FULL = _Sizes(
    n_objects=100_000, n_text=30_000, n_queries=1000, most_objects=10**9, ks=(1, 10, 1000)
)
_QUICK = _Sizes(n_objects=20_000, n_text=5_000, n_queries=200, most_objects=20_000, ks=(1, 10, 200))


def main(arguments: list[str] | None = None) -> int:
    """Run, print, write; 0 when fastmks is within the bar, 1 when not."""
    options = _read_options(arguments)
    sizes = _QUICK if options.quick else _FULL
    notes = _notes(options.data)
    started_at = commit()  # the checkout may move on meanwhile; what is loaded does not
    for note in notes:
        print(note)
    races = []
    for run in _races(sizes, options):
        found = _quietest(run, options.patience)
        print(table(found), end="\n\n", flush=True)
        races.append(found)
    checks = tuple(_checks(races, sizes.ks))
    print("\n".join(map(str, checks)))
    if options.name:
        report = Report(
            name=options.name,
            date=today(),
            commit=started_at,
            machine=describe_machine(),
            versions=versions(),
            notes=notes,
            races=tuple(races),
            checks=checks,
        )
        print(f"written: benchmarks/results/{write(report).name}")
    return 0 if all(check.holds for check in checks if check.is_required) else 1


def _read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.peers.scan", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the real data sets")
    parser.add_argument("--quick", action="store_true", help="small problems, 3 rounds, no file")
    parser.add_argument("--rounds", type=int, metavar="N", help="timed rounds (default 5)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="T")
    parser.add_argument(
        "--patience",
        type=int,
        default=0,
        metavar="N",
        help="run a race up to N times more while others use the machine (default 0)",
    )
    parser.add_argument("--name", help="results/NAME.json (default peers_scan; none if --quick)")
    options = parser.parse_args(arguments)
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data must be a folder; got {options.data}")
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.name = options.name or (None if options.quick else "peers_scan")
    return options


def _notes(folder: Path | None) -> tuple[str, ...]:
    notes = []
    if folder is None:
        notes.append("no --data: generated problems and scikit-learn's digits only")
    else:
        notes += [f"not in the folder: {file}" for file in datasets.missing_files(folder)]
    if not is_installed("threadpoolctl"):
        notes.append("threadpoolctl is not installed: the threads of BLAS are not pinned")
    for module, lost in (("sklearn", "digits are"), ("scipy", "sparse problems are")):
        if not is_installed(module):
            notes.append(f"{module} is not installed: {lost} left out")
    return tuple(notes)


def _quietest(run: Callable[[], Race], patience: int) -> Race:
    """Run until the machine is quiet, and return the race that others disturbed least."""
    best = run()
    for _ in range(patience):
        if best.others is None or best.others <= _MOST_OTHERS:
            break
        noise.wait_for_quiet(_MOST_OTHERS, seconds=60.0)
        again = run()
        if again.others is not None and again.others < best.others:
            best = again
    return best


def _races(sizes: _Sizes, options: argparse.Namespace) -> Iterator[Callable[[], Race]]:
    first = datasets.normal(sizes.n_objects, 64, n_queries=sizes.n_queries)
    yield from _races_on(first, sizes.ks, options)
    yield from _selection_races(first, sizes.ks, options)
    for problem in _other_problems(sizes, options.data):
        yield from _races_on(problem.head(sizes.most_objects, sizes.n_queries), (_K,), options)


def _other_problems(sizes: _Sizes, folder: Path | None) -> Iterator[Problem]:
    yield datasets.normal(sizes.n_objects, 3, n_queries=sizes.n_queries)
    if is_installed("sklearn"):
        yield datasets.digits()
    if folder is not None:
        yield from datasets.read_dense(folder)
    if is_installed("scipy"):
        yield datasets.zipf_text(sizes.n_text, 30_000, n_queries=sizes.n_queries)
        if folder is not None:
            yield from datasets.read_text(folder)


def _races_on(
    problem: Problem, ks: tuple[int, ...], options: argparse.Namespace
) -> Iterator[Callable[[], Race]]:
    truths = find_truths(problem, max(ks))
    for k in ks:
        for threads in options.threads:
            yield partial(
                race,
                problem,
                sparse.contestants() if problem.is_sparse else dense.contestants(),
                truths,
                k=k,
                threads=threads,
                baseline="scipy float64" if problem.is_sparse else "numpy float64",
                rounds=options.rounds,
            )


def _selection_races(
    problem: Problem, ks: tuple[int, ...], options: argparse.Namespace
) -> Iterator[Callable[[], Race]]:
    truths = find_truths(problem, max(ks))
    for threads in options.threads:
        yield partial(
            race,
            problem,
            dense.evaluation_and_selection(ks),
            truths,
            k=max(ks),
            threads=threads,
            baseline="fastmks float64, k=1",
            rounds=options.rounds,
            title=f"{problem.name}: what selection adds to evaluation",
        )


def _checks(races: list[Race], ks: tuple[int, ...]) -> Iterator[Check]:
    for found in races:
        threads = f"{found.threads} thread{'s' * (found.threads > 1)}"
        if found.problem == races[0].problem and found.baseline == "numpy float64":
            yield Check(
                claim=f"fastmks float64 / numpy float64, {found.title}, {threads}",
                value=_ratio(found, "fastmks float64"),
                limit=_MOST_TIMES_NUMPY,
                is_required=found.k == _K,
            )
        if found.baseline == "fastmks float64, k=1":
            for k in ks[1:]:
                yield Check(
                    claim=f"fastmks float64, k={k} / k=1, {found.problem}, {threads}",
                    value=_ratio(found, f"fastmks float64, k={k}"),
                    limit=_MOST_SELECTION,
                    is_required=False,
                )


def _ratio(found: Race, contestant: str) -> float:
    ratio = found.figure(contestant).ratio
    assert ratio is not None  # numpy and fastmks are always installed
    return ratio


if __name__ == "__main__":
    sys.exit(main())
