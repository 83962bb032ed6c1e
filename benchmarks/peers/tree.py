"""Hold the tree against mlpack's single-tree search: `python -m benchmarks.peers.tree --help`.

Both use base 1.3, one thread, the same float64 rows and the same kernel. Evaluations are counted
with blocks of one object on our side, as mlpack does; times are of the block that we plan.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks import datasets, noise
from benchmarks.command import Collector, read_options
from benchmarks.datasets import Problem
from benchmarks.harness import run_rounds
from benchmarks.kernels import COSINE, LINEAR, POLYNOMIAL, KernelCase
from benchmarks.peers.mlpack_tree import MlpackTree
from benchmarks.peers.tree_bout import Bout, Side, build_table, checks, search_table
from benchmarks.report import commit, keep_ledger, write_ledger
from benchmarks.trees import Built, FastmksTree, Found, scan_all
from benchmarks.truth import judge_by_scan

__all__ = ["compare", "main"]

_KERNELS = (LINEAR, COSINE, POLYNOMIAL)
_KS = (1, 10)
_N_QUERIES = 1000
_SHORT = 0.05  # seconds: shorter laps get more rounds
_MORE_ROUNDS = 3  # times


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write; 0 when every bar is met, 1 when not."""
    options = read_options("peers.tree", __doc__, arguments)
    collector = Collector(options)
    started_at = commit()
    rounds = options.rounds or (3 if options.quick else 5)
    bouts: list[Bout] = []
    for problem in _problems(collector, is_quick=options.quick):
        for case in _KERNELS:
            found = compare(problem, case, _KS, rounds=rounds, patience=options.patience)
            print(search_table(found), flush=True)
            bouts += found
    print("", build_table(bouts), "", search_table(bouts), "", sep="\n")
    busiest = max((bout.others for bout in bouts if bout.others is not None), default=0.0)
    collector.note(f"others took up to {busiest:.0%} of the machine during a race")
    claims = checks(bouts)
    print("\n".join(str(claim) for claim in claims if not claim.holds) or "every bar is met")
    if options.out is not None:
        ledger = keep_ledger(
            "peers_tree", started_at, notes=collector.notes, rows=bouts, checks=claims
        )
        write_ledger(ledger, options.out)
    return 0 if all(claim.holds for claim in claims if claim.is_required) else 1


def _problems(collector: Collector, *, is_quick: bool) -> Iterator[Problem]:
    n_queries = 200 if is_quick else _N_QUERIES
    part = 10 if is_quick else 1
    sizes = {
        "digits": 1347,
        "corel": 9000,
        "movielens": 3706,
        "covertype": 19_000 // part,
        "bio": 50_000 // part,
    }
    for name, n_objects in sizes.items():
        problem = collector.real(name, n_objects, n_queries)
        if problem is not None:
            yield problem
    for n_objects, n_columns in ((100_000 // part, 3), (20_000 // part, 10)):
        if collector.wants("normal"):
            few, n_asked = collector.limits(n_objects, n_queries)
            yield datasets.normal(few, n_columns, n_queries=n_asked)


def compare(
    problem: Problem, case: KernelCase, ks: Sequence[int], *, rounds: int, patience: float = 120.0
) -> list[Bout]:
    """Build and search on both sides, in turn, and count the wrong answers."""
    adapted = case.adapted(problem)
    ours = FastmksTree(adapted, case)
    with MlpackTree(adapted, case, patience=patience) as peer:
        built, peer_built = _take_turns(ours.build, peer.build, rounds)
        return [
            _bout(adapted, case, k, (ours, built), (peer, peer_built), rounds)
            for k in ks
            if k <= adapted.n_objects
        ]


def _take_turns(
    ours: Callable[[], Built | Found], peers: Callable[[], Built | Found | None], rounds: int
) -> tuple[Side, Side]:
    """Run both round after round; short laps more often."""
    first = ours()
    more = _MORE_ROUNDS if first.seconds < _SHORT else 1
    laps = run_rounds([ours, peers], rounds=rounds * more)
    return Side.of(laps[0]), Side.of(laps[1])


def _bout(
    problem: Problem,
    case: KernelCase,
    k: int,
    ours: tuple[FastmksTree, Side],
    peer: tuple[MlpackTree, Side],
    rounds: int,
) -> Bout:
    scanned = scan_all(problem, case, k)
    answers = (ours[0].search(k, block=1), ours[0].search(k))
    theirs = peer[0].search(k)
    before = _moment(peer[0])
    mine, others = _take_turns(partial(ours[0].search, k), partial(peer[0].search, k), rounds)
    share = noise.others_share(before, _moment(peer[0]))
    verdict = None
    if theirs is not None:
        verdict = judge_by_scan(problem, case, scanned.values, scanned.indices, theirs.indices)
    return Bout(
        **_describe(problem, case),
        k=k,
        build=ours[1],
        peer_build=peer[1],
        search=mine,
        peer_search=others,
        evaluations=answers[0].evaluations,
        differs_from_scan=not all(answer.is_identical(scanned) for answer in answers),
        scan_seconds=scanned.seconds,
        peer_wrong=None if verdict is None else verdict.wrong,
        peer_ties=None if verdict is None else verdict.ties,
        peer_failure=peer[0].failure,
        others=share,
    )


def _describe(problem: Problem, case: KernelCase) -> dict[str, Any]:
    return {
        "problem": problem.name,
        "origin": problem.origin,
        "n_objects": problem.n_objects,
        "n_columns": problem.n_columns,
        "n_queries": problem.n_queries,
        "kernel": case.name,
    }


def _moment(peer: MlpackTree) -> noise.Moment:
    """Return where the counters stand; mlpack's process is not one of the others."""
    moment = noise.now()
    return moment._replace(mine=moment.mine + peer.cpu_seconds)


if __name__ == "__main__":
    sys.exit(main())
