"""The command that serves an index over HTTP."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fastmks.cli.messages import note, shown_logs
from fastmks.cli.options import IndexArgument

PortOption = Annotated[int, typer.Option(help="Port; 0 is any free one.")]


def _limit(text: str, default: str | None = None) -> Any:
    """Return the option of a limit; without a default its own text says what it is."""
    return typer.Option(show_default=default or True, help=text)


def serve(
    file: IndexArgument,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but loopback needs a token.")
    ] = "127.0.0.1",
    port: PortOption = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="FASTMKS_TOKEN",
            show_envvar=True,
            show_default=False,
            help="Secret that requests must send. Set it in the environment: others see arguments.",
        ),
    ] = None,
    writable: Annotated[
        bool, typer.Option("--writable", help="Allow additions and removals; they survive a crash.")
    ] = False,
    page: Annotated[bool, typer.Option(help="Serve the page at /.")] = True,
    seconds: Annotated[float | None, _limit("Seconds that a request may take.", "30")] = None,
    most_k: Annotated[int | None, _limit("The most hits of a query.", "1000")] = None,
    most_queries: Annotated[int | None, _limit("The most queries of a batch.", "1000")] = None,
    most_bytes: Annotated[int | None, _limit("The most bytes of a request.", "8388608")] = None,
    most_letters: Annotated[int | None, _limit("The most letters of a string.", "50000")] = None,
    most_members: Annotated[int | None, _limit("The most members of a set.", "100000")] = None,
    most_nodes: Annotated[int | None, _limit("The most nodes of a graph.", "5000")] = None,
    most_edges: Annotated[int | None, _limit("The most edges of a graph.", "50000")] = None,
    most_steps: Annotated[int | None, _limit("The most time steps of a series.", "20000")] = None,
    workers: Annotated[
        int | None, _limit("Requests processed at once; usable CPUs when not given.")
    ] = None,
    waiting: Annotated[int | None, _limit("Requests that may wait; more get 429.", "1024")] = None,
    threads: Annotated[int | None, _limit("Threads of one search.", "1")] = None,
    journal_bytes: Annotated[
        int | None, _limit("Bytes of the journal before the index is saved.", "67108864")
    ] = None,
) -> None:
    """Serve an index over HTTP, with a page at /. Ctrl-C and SIGTERM end it."""
    limits = {
        "seconds": seconds,
        "k": most_k,
        "queries": most_queries,
        "body_bytes": most_bytes,
        "letters": most_letters,
        "members": most_members,
        "nodes": most_nodes,
        "edges": most_edges,
        "steps": most_steps,
        "workers": workers,
        "waiting": waiting,
        "threads": threads,
        "journal_bytes": journal_bytes,
    }
    serve_file(
        Path(file),
        limits,
        shows_page=page,
        host=host,
        port=port,
        token=token,
        writable=writable,
    )


def serve_file(
    file: Path, limits: Mapping[str, Any], *, shows_page: bool = True, **options: Any
) -> None:
    """Serve a file, with the limits that are not None; say where on standard error."""
    from fastmks.service import Limits
    from fastmks.service import serve as serve_index
    from fastmks.service.page import page_routes

    with shown_logs():
        serve_index(
            file,
            limits=Limits(**{name: limit for name, limit in limits.items() if limit is not None}),
            make_routes=page_routes if shows_page else None,
            announce=lambda address: note(f"serving {file} at {address}"),
            **options,
        )
