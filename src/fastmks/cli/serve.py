"""The command that serves an index over HTTP."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fastmks.cli.messages import note, shown_logs
from fastmks.cli.options import IndexArgument

__all__ = ["PortOption", "serve", "serve_file"]

PortOption = Annotated[int, typer.Option(help="Port; 0 is any free one.")]


def serve(
    file: IndexArgument,
    host: Annotated[
        str, typer.Option(help="Where to listen; others than loopback need a token.")
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
    page: Annotated[bool, typer.Option(help="Show the page at /.")] = True,
    seconds: Annotated[
        float | None, typer.Option(show_default="30", help="The most seconds of a request.")
    ] = None,
    most_k: Annotated[
        int | None, typer.Option(show_default="1000", help="The most hits of a query.")
    ] = None,
    most_queries: Annotated[
        int | None, typer.Option(show_default="1000", help="The most queries of a batch.")
    ] = None,
    most_bytes: Annotated[
        int | None, typer.Option(show_default="8388608", help="The most bytes of a request.")
    ] = None,
    most_letters: Annotated[
        int | None, typer.Option(show_default="50000", help="The most letters of a string.")
    ] = None,
    most_members: Annotated[
        int | None, typer.Option(show_default="100000", help="The most members of a set.")
    ] = None,
    most_nodes: Annotated[
        int | None, typer.Option(show_default="5000", help="The most nodes of a graph.")
    ] = None,
    most_edges: Annotated[
        int | None, typer.Option(show_default="50000", help="The most edges of a graph.")
    ] = None,
    most_steps: Annotated[
        int | None, typer.Option(show_default="20000", help="The most time steps of a series.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Requests processed at once; usable CPUs if not given.")
    ] = None,
    waiting: Annotated[
        int | None, typer.Option(show_default="1024", help="Requests that may wait; more get 429.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(show_default="1", help="Threads of one search.")
    ] = None,
    journal_bytes: Annotated[
        int | None,
        typer.Option(
            show_default="67108864", help="Bytes of the journal before the index is saved."
        ),
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
