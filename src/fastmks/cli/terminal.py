"""Tables on a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from fastmks.cli.messages import printable
from fastmks.outputs import Answers

_WIDE = 120  # columns, where the width of the terminal is unknown
_WIDE_TEXTS = 200  # so that a program finds each row in a line


def show_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, sections: Iterable[int] = ()
) -> None:
    """Print rows below titles, with a line after some of them."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for i, title in enumerate(titles):
        table.add_column(title, justify="left" if i == 0 else "right", overflow="fold")
    ends = set(sections)
    for i, row in enumerate(rows):
        table.add_row(*map(printable, row), end_section=i in ends)
    _print(table, _WIDE)


def show_texts(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of words below titles."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    _print(table, _WIDE_TEXTS)


def _print(table: Table, wide: int) -> None:
    console = Console(emoji=False, markup=False)
    if not console.is_terminal:
        console.width = wide
    console.print(table)


def show_answers(answers: Answers) -> None:
    """Print the hits of some queries, with the id of a query before its first hit."""
    rows = [
        [
            str(query) if rank == 1 else "",
            str(rank),
            str(name),
            f"{value:.7g}",
            *map(_short, promises),
        ]
        for query, rank, name, value, *promises in answers.rows()
    ]
    show_table(answers.fields, rows)


def _short(promise: float | bool) -> str:
    if isinstance(promise, bool):
        return "yes" if promise else "no"
    return f"{promise:.3g}"
