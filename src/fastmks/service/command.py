"""The command ``fastmks serve``."""

from pathlib import Path
from typing import Annotated

import typer

from fastmks.errors import FastmksError
from fastmks.service.limits import Limits
from fastmks.service.running import TOKEN, serve

__all__ = ["serve_command"]

_DEFAULTS = Limits()


def serve_command(
    file: Annotated[Path, typer.Argument(help="The index, as Index.save wrote it.")],
    host: Annotated[
        str, typer.Option(help="Where to listen; others than loopback need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 is any free one.")] = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            envvar=TOKEN,
            show_envvar=True,
            show_default=False,
            help="What requests must bring. Better set in the environment: others see arguments.",
        ),
    ] = None,
    writable: Annotated[
        bool, typer.Option("--writable", help="Take additions and removals, durably.")
    ] = False,
    seconds: Annotated[
        float, typer.Option(help="The most that a request may take.")
    ] = _DEFAULTS.seconds,
    most_k: Annotated[int, typer.Option(help="The most hits of a query.")] = _DEFAULTS.k,
    most_queries: Annotated[
        int, typer.Option(help="The most queries of a batch.")
    ] = _DEFAULTS.queries,
    most_bytes: Annotated[
        int, typer.Option(help="The most bytes of a request.")
    ] = _DEFAULTS.body_bytes,
    workers: Annotated[
        int | None, typer.Option(help="Requests worked on at once.", show_default="usable CPUs")
    ] = None,
    waiting: Annotated[
        int, typer.Option(help="Requests that may wait; more get 429.")
    ] = _DEFAULTS.waiting,
    threads: Annotated[int, typer.Option(help="Threads of one search.")] = _DEFAULTS.threads,
    journal_bytes: Annotated[
        int, typer.Option(help="How long the journal gets before the index is saved.")
    ] = _DEFAULTS.journal_bytes,
) -> None:
    """Serve an index over HTTP until Ctrl-C or SIGTERM."""
    try:
        limits = Limits(
            seconds=seconds,
            k=most_k,
            queries=most_queries,
            body_bytes=most_bytes,
            workers=_DEFAULTS.workers if workers is None else workers,
            waiting=waiting,
            threads=threads,
            journal_bytes=journal_bytes,
        )
        serve(
            file,
            host=host,
            port=port,
            token=token,
            writable=writable,
            limits=limits,
            announce=lambda address: typer.echo(f"serving {file} at {address}", err=True),
        )
    except (FastmksError, OSError) as error:
        typer.echo(f"fastmks serve: {error}", err=True)
        raise typer.Exit(1) from None
