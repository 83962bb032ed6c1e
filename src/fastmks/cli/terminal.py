"""Tables on a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from fastmks.outputs import Answers

__all__ = ["show_answers", "show_table", "show_texts"]

_WIDE = 120  # columns, where nobody says how wide the terminal is
_WIDE_TEXTS = 200  # so that a program finds each row in a line


def show_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, sections: Iterable[int] = ()
) -> None:
    """Print rows below titles, with a line behind some of them."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for i, title in enumerate(titles):
        table.add_column(title, justify="left" if i == 0 else "right", overflow="fold")
    ends = set(sections)
    for i, row in enumerate(rows):
        table.add_row(*row, end_section=i in ends)
    _print(table, _WIDE)


def show_texts(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of words below titles."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*row)
    _print(table, _WIDE_TEXTS)


def _print(table: Table, wide: int) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=wide)
    console.print(table, markup=False)


def show_answers(answers: Answers) -> None:
    """Print the hits of some queries, each query by its name in front of its first hit."""
    rows = [
        [
            _text(query) if rank == 1 else "",
            str(rank),
            _text(name),
            f"{value:.7g}",
            *map(_short, gap),
        ]
        for query, rank, name, value, *gap in answers.rows()
    ]
    show_table(answers.fields, rows)


def _text(name: str | int) -> str:
    """Return a name as it can be printed: halves of surrogate pairs, which no text has, escaped."""
    return str(name).encode(errors="backslashreplace").decode()


def _short(number: float) -> str:
    return f"{number:.3g}"
