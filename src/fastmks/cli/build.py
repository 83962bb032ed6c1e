"""Commands that build and change an index: build, add, remove."""

import time
from pathlib import Path
from typing import Annotated

import typer

from fastmks._util.wording import counted
from fastmks.cli.messages import say
from fastmks.cli.options import (
    Algorithm,
    FileOptions,
    IndexArgument,
    KernelOption,
    ObjectsArgument,
    ThreadsOption,
    check_inputs,
    check_output,
    kernel_of_text,
    takes_file_options,
)
from fastmks.index.index import Index
from fastmks.index.view import view_of

IdsOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="File with an id on each line, or a table with --id-column; - is standard input.",
    ),
]


@takes_file_options
def build(
    refs: ObjectsArgument,
    output: Annotated[str, typer.Option("--output", "-o", help="The file of the index.")],
    kernel: KernelOption = None,
    algorithm: Annotated[
        Algorithm,
        typer.Option(help="How to search; answers are the same. --budget and --seconds need tree."),
    ] = Algorithm["auto"],
    base: Annotated[float, typer.Option(help="Factor between the levels of a tree.")] = 1.3,
    ids: IdsOption = None,
    threads: ThreadsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    *,
    files: FileOptions,
) -> None:
    """Build an index of the objects in OBJECTS and save it."""
    from fastmks.cli.object_files import is_terminal, read_objects
    from fastmks.files.index_lock import changing
    from fastmks.index.index_file import write_index

    if not force and Path(output).exists():
        raise typer.BadParameter(f"{output} exists; pass --force to replace it.")
    check_output(output, refs, ids)
    check_inputs(refs, ids)
    started = time.perf_counter()
    chunk, used = read_objects(refs, files, kernel_of_text(kernel), ids_file=ids)
    index = Index(
        chunk.objects,
        used,
        algorithm=algorithm.value,
        base=base,
        ids=chunk.ids,
        threads=threads,
        progress=is_terminal(),
    )
    with changing(output):
        write_index(index, output)
    say(f"{output}: {_described(index, output, time.perf_counter() - started)}")


def _described(index: Index, path: str, seconds: float) -> str:
    """Return an index in words, with its size and the cost of building it."""
    built = ""
    if view_of(index).builds == "tree" and len(index):
        built = f", {counted(index.tree.build_evaluations, 'kernel evaluation')}"
    return f"{index!r}, {Path(path).stat().st_size:,} bytes, {seconds:.3g} s{built}"


@takes_file_options
def add(
    file: IndexArgument,
    objects: Annotated[
        str, typer.Argument(metavar="OBJECTS", help="File of objects; - is standard input.")
    ],
    ids: IdsOption = None,
    *,
    files: FileOptions,
) -> None:
    """Add the objects in OBJECTS to an index. The file is replaced after all are added."""
    from fastmks.cli.object_files import form_named, ids_of_file, open_queries
    from fastmks.files.index_lock import changing
    from fastmks.index.index_file import write_index
    from fastmks.index.load import load
    from fastmks.inputs import read_names

    check_inputs(objects, ids)
    started = time.perf_counter()
    with changing(file):
        index = load(file)
        with open_queries(objects, files, index, chunk=None, ids_file=ids) as source:
            read, names = source.read()
        where = ids or source.name
        if ids is not None:
            names = ids_of_file(ids, files, read)
        if names is not None:
            is_text = view_of(index).settings.has_text_ids
            names = read_names(names, is_text=is_text, where=where)
        with form_named(source):
            added = index.add(read, names)
        write_index(index, file)
    seconds = time.perf_counter() - started
    say(f"{file}: {len(added)} added; {_described(index, file, seconds)}")


def remove(
    file: IndexArgument,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="IDS...", help="Ids of objects.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", help="File with an id on each line.")
    ] = None,
) -> None:
    """Remove objects from an index by their ids. The file is replaced after all are removed."""
    from fastmks.cli.object_files import id_lines
    from fastmks.files.index_lock import changing
    from fastmks.index.index_file import write_index
    from fastmks.index.load import load
    from fastmks.inputs import read_names

    if not ids and source is None:
        raise typer.BadParameter("give the ids of the objects to remove, or --from a file of them.")
    started = time.perf_counter()
    with changing(file):
        index = load(file)
        names = [*(ids or ()), *(() if source is None else id_lines(source))]
        is_text = view_of(index).settings.has_text_ids
        index.remove(read_names(names, is_text=is_text, where="IDS"))
        write_index(index, file)
    seconds = time.perf_counter() - started
    say(f"{file}: {len(set(names))} removed; {_described(index, file, seconds)}")
