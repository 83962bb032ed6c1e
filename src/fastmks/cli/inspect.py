"""Commands that examine an index or objects: info, explain, hardness."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fastmks.cli.messages import printable, say
from fastmks.cli.options import (
    FileOptions,
    IndexArgument,
    JsonOption,
    KernelOption,
    KOption,
    ObjectsArgument,
    OnlyOption,
    QueriesArgument,
    SeedOption,
    ThreadsOption,
    check_inputs,
    hits_wanted,
    kernel_of_text,
    takes_file_options,
)
from fastmks.index.index import Index
from fastmks.index.view import view_of


def info(file: IndexArgument, as_json: JsonOption = False) -> None:
    """Show the contents of an index."""
    from fastmks.cli.object_files import load_index

    facts = _facts(load_index(file), file)
    if as_json:
        say(json.dumps(facts))
        return
    for name, fact in facts.items():
        shown = f"{fact:,}" if type(fact) is int else fact
        say(f"{name.replace('_', ' '):<14}{printable(str(shown))}")


def _facts(index: Index, path: str) -> dict[str, Any]:
    view = view_of(index)
    has_tree, has_filter = view.has_built
    return {
        "file": path,
        "file_bytes": Path(path).stat().st_size,
        "memory_bytes": index.nbytes,
        "n_objects": len(index),
        "objects": view.kind,
        "ids": "strings" if view.settings.has_text_ids else "numbers",
        "kernel": repr(index.kernel),
        "is_mercer": index.kernel.is_mercer,
        "algorithm": view.settings.algorithm,
        "base": view.settings.base,
        "parts": len(view.segments),
        "has_tree": has_tree,
        "has_filter": has_filter,
    }


@takes_file_options
def explain(
    file: IndexArgument,
    queries: QueriesArgument,
    k: KOption = None,
    as_json: JsonOption = False,
    only: OnlyOption = None,
    threads: ThreadsOption = None,
    *,
    files: FileOptions,
) -> None:
    """Show which engine a search would use, at what cost, and why."""
    from fastmks.cli.object_files import (
        check_filled,
        form_named,
        id_file,
        load_index,
        open_queries,
        read_id_list,
    )

    check_inputs(queries, id_file(only))
    index = load_index(file)
    check_filled(index, file)
    with open_queries(queries, files, index, chunk=None) as source:
        objects = source.read().objects
    among = None if only is None else read_id_list(only, index)
    with form_named(source):
        wanted = hits_wanted(k, len(index if among is None else among))
        plan = index.explain(objects, wanted, only=among, threads=threads)
    say(json.dumps(plan.as_dict()) if as_json else str(plan))


@takes_file_options
def hardness(
    refs: ObjectsArgument,
    kernel: KernelOption = None,
    queries: Annotated[str | None, typer.Option(help="File of typical queries.")] = None,
    sample: Annotated[int, typer.Option(min=1, help="Objects to examine, at most.")] = 1000,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Kernel evaluations, at most, where they take long.")
    ] = None,
    seed: SeedOption = 0,
    figure: Annotated[str | None, typer.Option(help="Draw a figure: .png or .svg.")] = None,
    threads: ThreadsOption = None,
    *,
    files: FileOptions,
) -> None:
    """Estimate how hard objects are to search, and the cost of a tree."""
    from fastmks.analysis.hardness import hardness as estimate
    from fastmks.cli.object_files import is_terminal, read_objects

    chunk, used = read_objects(refs, files, kernel_of_text(kernel))
    asked = None if queries is None else read_objects(queries, files, used)[0].objects
    found = estimate(
        chunk.objects,
        used,
        queries=asked,
        sample=sample,
        budget=budget,
        seed=seed,
        threads=threads,
        progress=is_terminal(),
    )
    if figure is not None:
        found.figure(figure)
    say(str(found))
