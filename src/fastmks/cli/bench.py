"""The command that compares engines on the user's own data."""

from typing import Annotated

import typer

from fastmks.cli.options import (
    BitsOption,
    ColumnsOption,
    FileOptions,
    FormOption,
    HeaderOption,
    IdColumnOption,
    KernelOption,
    KOption,
    NoIdsOption,
    ObjectsArgument,
    RadiusOption,
    SeedOption,
    ThreadsOption,
    kernel_of_text,
)

__all__ = ["bench"]


def bench(
    refs: ObjectsArgument,
    queries: Annotated[
        str | None,
        typer.Argument(metavar="QUERIES", help="File of queries; else objects that are left out."),
    ] = None,
    kernel: KernelOption = None,
    k: KOption = None,
    engines: Annotated[
        str, typer.Option(help="With commas; numpy for a linear kernel of dense vectors.")
    ] = "scan,filter,tree,auto,numpy",
    rounds: Annotated[int, typer.Option(min=1, help="In each, all engines take turns.")] = 3,
    most: Annotated[int, typer.Option("--most-queries", min=1, help="Queries asked.")] = 100,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    id_column: IdColumnOption = None,
    no_ids: NoIdsOption = False,
    columns: ColumnsOption = None,
    header: HeaderOption = None,
    form: FormOption = None,
    radius: RadiusOption = 2,
    bits: BitsOption = None,
) -> None:
    """Compare engines on objects of your own.

    Shown are time and evaluations, both of the run of median time, and whether answers agree.
    """
    from fastmks.cli.comparing import compare

    options = FileOptions(
        form=form,
        id_column=id_column,
        no_ids=no_ids,
        columns=columns,
        header=header,
        radius=radius,
        bits=bits,
    )
    compare(
        refs,
        queries,
        options,
        kernel=kernel_of_text(kernel),
        k=k,
        engines=[name.strip() for name in engines.split(",")],
        rounds=rounds,
        most_queries=most,
        seed=seed,
        threads=threads,
    )
