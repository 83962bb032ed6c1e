"""Options that several commands share, and how they are checked."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from fastmks.cli.arguments import as_options
from fastmks.engines.approximation import OPTIONS
from fastmks.errors import InvalidArgument
from fastmks.index.algorithms import ALGORITHMS
from fastmks.kernels import KERNEL_NAMES, Kernel, as_kernel
from fastmks.kernels.registry import text_kernels

_Command: TypeAlias = Callable[..., None]
_K = 10


class Algorithm(str, Enum):
    """How to search: a choice of each of `ALGORITHMS`."""

    _ignore_ = "members name"
    members = vars()
    for name in ALGORITHMS:
        members[name] = name


class Form(str, Enum):
    """As `fastmks.inputs.FORMS`, which takes longer to import than a help text should."""

    ARROW = "arrow"
    CSV = "csv"
    FASTA = "fasta"
    LINES = "lines"
    NPY = "npy"
    NPZ = "npz"
    PARQUET = "parquet"
    SMILES = "smiles"
    UCR = "ucr"


class OutputForm(str, Enum):
    """As `fastmks.outputs.OUTPUT_FORMS`."""

    CSV = "csv"
    JSONL = "jsonl"
    NPZ = "npz"
    PARQUET = "parquet"


def chosen(choice: Enum | None) -> str | None:
    """Return the text of a choice; None where none was made."""
    return None if choice is None else str(choice.value)


def _complete_kernel(incomplete: str) -> list[str]:
    prefix, colon, rest = incomplete.rpartition("normalized:")
    examples = (kernel.text_example for kernel in text_kernels().values())
    names = [*KERNEL_NAMES, *(f"{text.partition('=')[0]}=" for text in examples if text)]
    known = [] if colon else ["normalized:"]
    return [f"{prefix}{colon}{name}" for name in [*known, *names] if name.startswith(rest)]


IndexArgument = Annotated[str, typer.Argument(metavar="FILE", help="The file of an index.")]
ObjectsArgument = Annotated[
    str, typer.Argument(metavar="OBJECTS", help="File of objects; - is standard input.")
]
QueriesArgument = Annotated[
    str, typer.Argument(metavar="QUERIES", help="File of queries; - is standard input.")
]
KernelOption = Annotated[
    str | None,
    typer.Option(
        help="Such as linear, polynomial:degree=10 or normalized:spectrum:p=3 (fastmks kernels "
        "lists all); when not given, one for the kind of objects.",
        autocompletion=_complete_kernel,
    ),
]
AlgorithmOption = Annotated[
    Algorithm | None,
    typer.Option(help="How to search; answers are the same. --budget and --seconds need tree."),
]
KOption = Annotated[
    int | None,
    typer.Option("-k", min=1, help="Hits for each query; 10 when not given, or all where fewer."),
]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="Threads; OMP_NUM_THREADS or all CPUs when not given.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of random draws.")]
OnlyOption = Annotated[
    str | None,
    typer.Option(
        metavar="IDS|@FILE",
        help="Search among these: ids with commas, or @ and a file with one on each line.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Settings to read a file of objects: the options of `takes_file_options`."""

    id_column: Annotated[
        str | None,
        typer.Option(
            help="Column with ids, by name or number from 1; detected when not given. With --ids, "
            "the column of that file."
        ),
    ] = None
    no_ids: Annotated[bool, typer.Option("--no-ids", help="Ignore ids in the file.")] = False
    columns: Annotated[
        str | None,
        typer.Option(help="Columns of the vectors, with commas; or the array of an .npz file."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether a table has a header; detected when not given, an error in doubt.",
        ),
    ] = None
    form: Annotated[
        Form | None, typer.Option(help="Format of the file; detected when not given.")
    ] = None
    radius: Annotated[
        int, typer.Option(min=0, help="Radius of the Morgan fingerprints of SMILES.")
    ] = 2
    bits: Annotated[
        int | None,
        typer.Option(min=8, help="Bits of the Morgan fingerprints: 2048, or as in the index."),
    ] = None

    def as_arguments(self, *, bits: int) -> dict[str, Any]:
        """Return the arguments of `open_objects`; `bits` is the default length of fingerprints."""
        if self.no_ids and self.id_column is not None:
            raise typer.BadParameter("--no-ids and --id-column exclude each other.")
        names = None if self.columns is None else self.columns.split(",")
        return {
            "form": chosen(self.form),
            "id_column": self.id_column,
            "has_ids": not self.no_ids,
            "columns": None if names is None else [name.strip() for name in names],
            "header": self.header,
            "radius": self.radius,
            "bits": self.bits or bits,
        }


def takes_file_options(command: _Command) -> _Command:
    """Give a command each of the file options, and hand them to it as its argument `files`."""
    options = inspect.signature(FileOptions).parameters.values()
    return _taking(command, "files", list(options), lambda given: FileOptions(**given))


def takes_approximate_options(command: _Command) -> _Command:
    """Give a command the options of approximate searches; those in use come as `approximate`."""
    types: dict[str, Any] = {"number": float | None, "integer": int | None}
    options = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[types[option.kind], typer.Option(help=option.help)],
        )
        for option in OPTIONS.values()
    ]
    return _taking(
        command,
        "approximate",
        options,
        lambda given: {name: value for name, value in given.items() if value is not None},
    )


def _taking(
    command: _Command,
    argument: str,
    options: list[inspect.Parameter],
    gather: Callable[[dict[str, Any]], Any],
) -> _Command:
    """Give a command options in place of an argument, which is built from them."""
    own = inspect.signature(command)
    shown = own.replace(
        parameters=[
            one
            for name, each in own.parameters.items()
            for one in (options if name == argument else [each])
        ]
    )

    @functools.wraps(command)
    def called(**given: Any) -> None:
        taken = {option.name: given.pop(option.name) for option in options}
        command(**given, **{argument: gather(taken)})

    called.__signature__ = shown  # type: ignore[attr-defined]  # typer reads it
    called.__annotations__ = {each.name: each.annotation for each in shown.parameters.values()}
    return called


def hits_wanted(k: int | None, n_objects: int) -> int:
    """Return k; by default 10, or all objects where they are fewer.

    Examples
    --------
    >>> hits_wanted(None, 4), hits_wanted(None, 400), hits_wanted(5, 4)
    (4, 10, 5)
    """
    return min(_K, n_objects) if k is None else k


def check_output(output: str | None, *inputs: str | None) -> None:
    """Refuse to write to a file that is read."""
    if output is None or output == "-" or not Path(output).is_file():
        return
    for path in inputs:
        if path not in (None, "-") and Path(path).exists() and Path(output).samefile(path):
            raise typer.BadParameter(
                f"{output} is the same file as {path}, which is read; choose another for -o."
            )


def check_inputs(*inputs: str | None) -> None:
    """Refuse to read standard input twice."""
    if inputs.count("-") > 1:
        raise typer.BadParameter("standard input can be read once; give a file for the other.")


def kernel_of_text(text: str | None) -> Kernel | None:
    """Return the kernel of an option; a wrong one is wrong usage."""
    if text is None:
        return None
    try:
        return as_kernel(text)
    except InvalidArgument as error:
        raise typer.BadParameter(as_options(str(error)), param_hint="--kernel") from error
