"""The command that compares engines on the user's own data."""

from typing import Annotated

import typer

from fastmks.cli.options import (
    FileOptions,
    KernelOption,
    KOption,
    ObjectsArgument,
    SeedOption,
    ThreadsOption,
    kernel_of_text,
    takes_file_options,
)


@takes_file_options
def bench(
    refs: ObjectsArgument,
    queries: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERIES", help="File of queries; when not given, some objects, not indexed."
        ),
    ] = None,
    kernel: KernelOption = None,
    k: KOption = None,
    engines: Annotated[
        str, typer.Option(help="With commas; numpy is for a linear kernel of dense vectors.")
    ] = "scan,filter,tree,auto,numpy",
    rounds: Annotated[int, typer.Option(min=1, help="In each round, all engines take turns.")] = 3,
    most: Annotated[
        int, typer.Option("--most-queries", min=1, help="Queries to search for, at most.")
    ] = 100,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    *,
    files: FileOptions,
) -> None:
    """Compare engines on your own objects.

    Shows the time and evaluations of the run of median time, and whether answers agree.
    """
    from fastmks.cli.engine_comparison import compare

    compare(
        refs,
        queries,
        files,
        kernel=kernel_of_text(kernel),
        k=k,
        engines=[name.strip() for name in engines.split(",")],
        rounds=rounds,
        most_queries=most,
        seed=seed,
        threads=threads,
    )
