"""The command that searches."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from fastmks.cli.options import (
    AlgorithmOption,
    FileOptions,
    IndexArgument,
    KOption,
    OnlyOption,
    OutputForm,
    SeedOption,
    ThreadsOption,
    chosen,
    takes_approximate_options,
    takes_file_options,
)


@takes_file_options
@takes_approximate_options
def search(
    file: IndexArgument,
    queries: Annotated[
        str | None,
        typer.Argument(metavar="QUERIES", help="File of queries; - is standard input."),
    ] = None,
    k: KOption = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="File of hits: .csv, .jsonl, .parquet or .npz."),
    ] = None,
    output_form: Annotated[
        OutputForm | None, typer.Option(help="Format of the hits, for any file name.")
    ] = None,
    is_self: Annotated[
        bool, typer.Option("--self", help="Search for each indexed object among the others.")
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(help="Find all objects of at least this value, instead of -k.")
    ] = None,
    *,
    approximate: Mapping[str, Any],
    seed: SeedOption = 0,
    only: OnlyOption = None,
    algorithm: AlgorithmOption = None,
    threads: ThreadsOption = None,
    chunk: Annotated[int, typer.Option(min=1, help="Queries held in memory.")] = 4096,
    files: FileOptions,
) -> None:
    """Find the objects with the greatest kernel value for each query.

    Queries are read and searched in chunks, and hits are written for each. Without -o, hits go to
    standard output: as CSV, or on a terminal as a table for the first queries.
    """
    from fastmks.cli.file_search import FileSearch, answer

    asked = FileSearch(
        k=k,
        threshold=threshold,
        is_self=is_self,
        approximate=approximate,
        seed=seed,
        only=only,
        algorithm=chosen(algorithm),
        threads=threads,
        chunk=chunk,
    )
    answer(file, queries, asked, files, output=output, output_form=chosen(output_form))
