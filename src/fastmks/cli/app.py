"""The program `fastmks`: its commands, each from a module of its own group."""

from collections.abc import Callable
from typing import Annotated

import typer

import fastmks
from fastmks.cli.bench import bench
from fastmks.cli.build import add, build, remove
from fastmks.cli.check import check
from fastmks.cli.demo import demo
from fastmks.cli.inspect import explain, hardness, info
from fastmks.cli.list_kernels import kernels
from fastmks.cli.messages import say
from fastmks.cli.search import search
from fastmks.cli.serve import serve

app = typer.Typer(
    name="fastmks",
    rich_markup_mode=None,  # plain text: importing rich takes longer than the rest
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Exact max-kernel search: the k objects with the greatest kernel value.",
)


def _examples(*lines: str) -> str:
    """Return the end of a help text; the mark keeps its line breaks."""
    return "Examples:\n\n\b\n" + "\n".join(f"  {line}" for line in lines)


_BUILDING = (
    "fastmks build vectors.npy -o vectors.fmks --kernel polynomial:degree=10",
    "fastmks build proteins.fasta.gz -o proteins.fmks --kernel normalized:spectrum:p=3",
    "fastmks build molecules.smi -o molecules.fmks",
    "fastmks build table.csv -o table.fmks --id-column name --algorithm tree",
)
_SEARCHING = (
    "fastmks search vectors.fmks queries.npy -k 10 -o hits.csv",
    "fastmks search proteins.fmks new.fasta -k 5",
    "fastmks search molecules.fmks queries.smi --threshold 0.7 -o hits.jsonl",
    "zcat huge.csv.gz | fastmks search vectors.fmks - -k 3 > hits.csv",
    "fastmks search vectors.fmks --self -k 5 -o neighbours.parquet",
)
_COMMANDS: dict[Callable[..., None], tuple[str, ...]] = {
    build: _BUILDING,
    search: _SEARCHING,
    add: ("fastmks add vectors.fmks more.npy", "fastmks add table.fmks more.npy --ids more.txt"),
    remove: ("fastmks remove table.fmks ann bob", "fastmks remove table.fmks --from gone.txt"),
    info: ("fastmks info vectors.fmks", "fastmks info vectors.fmks --json"),
    check: ("fastmks check vectors.fmks", "fastmks check *.fmks"),
    explain: ("fastmks explain vectors.fmks queries.npy -k 10",),
    hardness: ("fastmks hardness vectors.npy --kernel gaussian:bandwidth=2",),
    bench: (
        "fastmks bench vectors.npy queries.npy --kernel cosine -k 10",
        "fastmks bench proteins.fasta --engines scan,tree",
    ),
    serve: (
        "fastmks serve vectors.fmks",
        "FASTMKS_TOKEN=$(cat token) fastmks serve vectors.fmks --host 0.0.0.0 --writable",
    ),
    kernels: ("fastmks kernels", "fastmks kernels --json"),
    demo: ("fastmks demo", "fastmks demo --page"),
}
for _command, _lines in _COMMANDS.items():
    app.command(epilog=_examples(*_lines))(_command)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        say(f"fastmks {fastmks.__version__}")
        raise typer.Exit()


@app.callback(epilog=_examples(_BUILDING[0], _SEARCHING[0], "fastmks search --help"))
def _program(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the trace of an error; after any command.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Exact max-kernel search: the k objects with the greatest kernel value."""
