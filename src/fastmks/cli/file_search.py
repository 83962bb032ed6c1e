"""Answer queries from a file, chunk by chunk, and count the cost."""

import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import typer

from fastmks._util.progress import Progress
from fastmks._util.wording import counted
from fastmks.cli.arguments import as_options
from fastmks.cli.messages import data_output, note
from fastmks.cli.object_files import (
    check_filled,
    form_named,
    id_file,
    is_terminal,
    kind_of,
    load_index,
    open_queries,
    read_id_list,
)
from fastmks.cli.options import FileOptions, check_inputs, check_output, hits_wanted
from fastmks.errors import FastmksError, InvalidArgument
from fastmks.index.hits import Hits, HitsAbove
from fastmks.index.index import Index
from fastmks.inputs import Chunk
from fastmks.outputs import Answers, answers_of, output_form, write_answers

_QUERY = re.compile(r"\b(queries\[)(\d+)")  # the number of a query in errors: in each chunk from 0
_BINARY = ("npz", "parquet")
_N_SHOWN = 10  # queries in a table on a terminal


@dataclass(frozen=True, kw_only=True)
class FileSearch:
    """A search for the queries of a file, or of an index among itself."""

    k: int | None = None
    threshold: float | None = None
    is_self: bool = False
    approximate: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    only: str | None = None
    algorithm: str | None = None
    threads: int | None = None
    chunk: int = 4096

    def check(self, queries: str | None) -> None:
        """Refuse options that exclude each other."""
        if self.is_self == (queries is not None):
            raise typer.BadParameter("give a file of QUERIES, or --self; not both.")
        other = "--threshold" if self.threshold is not None else "--self" if self.is_self else None
        if other is not None and self.approximate:
            raise typer.BadParameter(
                f"{other} is exact: it takes no --{next(iter(self.approximate))}."
            )
        if self.threshold is not None and self.k is not None:
            raise typer.BadParameter(
                "--threshold finds all objects of at least a value: it takes no -k."
            )
        if self.is_self and (self.threshold is not None or self.only is not None):
            raise typer.BadParameter("--self takes neither --threshold nor --only.")
        check_inputs(queries, id_file(self.only))


@dataclass
class Tally:
    """The cost of the searches so far."""

    n_queries: int = 0
    n_hits: int = 0
    evaluations: int = 0
    of_scan: int = 0
    gap: float = 0.0
    n_strange: int = 0  # queries whose best value is 0, with every object searched
    n_proven: int = 0
    started: float = field(default_factory=time.perf_counter)

    def add(self, hits: Hits | HitsAbove) -> None:
        """Add a search to the cost."""
        stats = hits.stats
        self.n_queries += stats.n_queries
        self.n_hits += hits.values.size
        self.evaluations += stats.kernel_evaluations
        self.of_scan += stats.n_queries * stats.n_objects
        if isinstance(hits, Hits):
            self.gap = max(self.gap, float(hits.gap.max(initial=0.0)))
            self.n_strange += int(((hits.values[:, 0] == 0.0) & (hits.gap == 0.0)).sum())
            self.n_proven += int(hits.proven.sum())

    def __str__(self) -> str:
        share = self.evaluations / max(1, self.of_scan)
        exact = "exact"
        if self.gap > 0.0:
            exact = f"largest gap {self.gap:.6g}, {counted(self.n_proven, 'hit')} proven"
        return (
            f"{counted(self.n_queries, 'query')}, {counted(self.n_hits, 'hit')}, "
            f"{time.perf_counter() - self.started:.3g} s, "
            f"{counted(self.evaluations, 'kernel evaluation')} ({share:.2%} of a scan), {exact}"
        )


def answer(
    path: str,
    queries: str | None,
    asked: FileSearch,
    options: FileOptions,
    *,
    output: str | None,
    output_form: str | None,
) -> None:
    """Search, write or show the hits, and report the cost."""
    asked.check(queries)
    check_output(output, path, queries, id_file(asked.only))
    if output is not None and output != "-" and output_form is None:
        output_form = _form_of(output)
    if output in (None, "-") and output_form in _BINARY and is_terminal(sys.stdout):
        raise typer.BadParameter(f"a terminal does not show {output_form}: give a file with -o.")
    is_shown = output is None and output_form is None and is_terminal(sys.stdout)
    index, tally = load_index(path, threads=asked.threads), Tally()
    if asked.threshold is None:
        check_filled(index, path)
    if queries is None:
        _put(_answer_self(index, asked, tally), output, output_form, is_shown=is_shown)
    else:
        chunk = min(asked.chunk, _N_SHOWN) if is_shown else asked.chunk
        with open_queries(queries, options, index, chunk=chunk) as file, form_named(file):
            answers = answer_chunks(
                index, file, asked, tally, n_queries=None if is_shown else file.n_objects
            )
            _put(answers, output, output_form, is_shown=is_shown)
    note(str(tally))
    if tally.n_strange and kind_of(index.kernel) == "strings":
        note(
            f"note: all values are 0 for {tally.n_strange} of {counted(tally.n_queries, 'query')}, "
            "which share nothing with any object. Upper and lower case are different letters, and "
            "a query is a string, not an id."
        )


def _form_of(output: str) -> str:
    try:
        return output_form(output)
    except InvalidArgument as error:
        text = as_options(str(error), form="output_form")
        raise typer.BadParameter(text, param_hint="--output") from error


def _put(
    chunks: Iterator[Answers], output: str | None, form: str | None, *, is_shown: bool
) -> None:
    if is_shown:
        from fastmks.cli.terminal import show_answers

        show_answers(next(chunks))
        note(f"At most the first {_N_SHOWN} queries are shown; -o hits.csv writes all.")
    elif output is None or output == "-":
        write_answers(data_output(), chunks, form=form)
    else:
        write_answers(output, chunks, form=form)


def _answer_self(index: Index, asked: FileSearch, tally: Tally) -> Iterator[Answers]:
    if len(index) == 1:
        raise InvalidArgument("--self needs at least two objects; the index holds one.")
    hits = index.search_self(
        hits_wanted(asked.k, len(index) - 1),
        algorithm=asked.algorithm,
        threads=asked.threads,
        progress=is_terminal(),
    )
    tally.add(hits)
    for begin in range(0, len(hits.values), asked.chunk):
        part = slice(begin, begin + asked.chunk)
        some = Hits(
            hits.values[part], hits.indices[part], hits.ids[part], hits.stats, hits.gap[part]
        )
        yield answers_of(some, index.ids[part])


def answer_chunks(
    index: Index,
    chunks: Iterable[Chunk],
    asked: FileSearch,
    tally: Tally,
    *,
    n_queries: int | None = None,
) -> Iterator[Answers]:
    """Yield the answers to each chunk of queries; queries without ids are numbered from 0."""
    arguments: dict[str, Any] = {"algorithm": asked.algorithm, "threads": asked.threads}
    if asked.only is not None:
        arguments["only"] = read_id_list(asked.only, index)
    k = hits_wanted(asked.k, len(arguments.get("only", index)))
    with Progress(is_terminal()).bar(n_queries, unit=" queries") as report:
        for objects, ids in chunks:
            first = tally.n_queries
            hits = _search(index, objects, k, asked, arguments, first)
            tally.add(hits)
            if report is not None:
                report(tally.n_queries)
            names = np.arange(first, tally.n_queries) if ids is None else ids
            yield answers_of(hits, names, with_gap=bool(asked.approximate))


def _seed(seed: int, first: int) -> int:
    """Return the seed of a chunk, by its first query: draws in one tell nothing of the next."""
    return seed if first == 0 else int(np.random.SeedSequence([seed, first]).generate_state(1)[0])


def _search(
    index: Index, objects: Any, k: int, asked: FileSearch, arguments: dict[str, Any], first: int
) -> Hits | HitsAbove:
    try:
        if asked.threshold is not None:
            return index.search_above(objects, asked.threshold, **arguments)
        return index.search(
            objects, k, seed=_seed(asked.seed, first), **asked.approximate, **arguments
        )
    except FastmksError as error:
        if first == 0:
            raise
        text = _QUERY.sub(lambda match: f"{match[1]}{int(match[2]) + first}", str(error))
        raise type(error)(text) from error
