"""The tables of an index that grows, shrinks, is read while it is written, and goes to files."""

from collections.abc import Callable, Sequence

from benchmarks.quotes.stored import Row, Stored
from benchmarks.quotes.tables.written import brief, rate, share
from benchmarks.report import markdown

__all__ = ["cell_of", "living"]

_OURS, _FAISS, _USEARCH = "fastmks filter", "faiss flat", "usearch, smallest graph"
_SIDES = (_OURS, _FAISS, _USEARCH)
_FILES = (
    "fastmks filter: load",
    "fastmks filter: load, verify=False",
    "faiss flat: read_index",
    "faiss flat: read_index, MMAP_IFC",
    "usearch, smallest graph: view",
)
_SAVED = (_OURS, None, _FAISS, None, _USEARCH)
_BATCHES = ("one by one", "batches of 100", "batches of 10000")


def living(stored: Stored) -> str:
    """Return all tables about a million vectors in float32."""
    return "\n\n".join(table(stored) for table in (_adding, _removing, _mixing, _files))


def cell_of(stored: Stored, section: str, case: str, problem: str = "decaying") -> Row:
    """Return a cell in float32."""
    return stored.cell("living", section=section, case=case, problem=problem, dtype="float32")


def _adding(stored: Stored) -> str:
    cases = {
        "one by one, objects a second": "one by one",
        "one by one, with ids in no order": "one by one, own ids",
        "batches of 100": "batches of 100",
        "batches of 10 000": "batches of 10000",
    }
    rows = []
    for title, case in cases.items():
        cell = cell_of(stored, "adding", case)
        rows.append([title, *(rate(cell.measure(side, "objects_per_second")) for side in _SIDES)])
    for title, case in list(cases.items())[:2]:
        cell = cell_of(stored, "adding", case)
        title = title.removesuffix(", objects a second") + ", in full rebuilds"
        rows.append([title, *(brief(cell.measure(side, "rebuilds")) for side in _SIDES)])
    return markdown(["adding 100 000 objects", "fastmks", "FAISS", "usearch"], rows)


def _removing(stored: Stored) -> str:
    rows = []
    for case in _BATCHES:
        cell = cell_of(stored, "removing", case)
        title = case.replace("10000", "10 000")
        rows.append([title, *(rate(cell.measure(side, "objects_per_second")) for side in _SIDES)])
    cell = cell_of(stored, "files", "90 % removed")
    left = [cell.measure(side, "left_mb") / cell.measure(side, "full_mb") for side in _SIDES]
    rows.append(["memory after 90 % have left, of that before", *map(share, left)])
    return markdown(["removing 100 000 objects, a second", "fastmks", "FAISS", "usearch"], rows)


def _mixing(stored: Stored) -> str:
    titles = {
        "nobody writes": "nobody writes",
        "200 changes a second": "200 changes a second asked for, and made",
        "changes without a pause": "changes without a pause, and how many a second",
    }
    rows = []
    for case, title in titles.items():
        cell = cell_of(stored, "mixing", case)
        rows.append([title, *(_latency(cell, side) for side in _SIDES)])
    head = ["one query, k = 10, in ms (p50 / p99)", "fastmks"]
    return markdown([*head, "FAISS, behind a lock", "usearch, behind a lock"], rows)


def _latency(cell: Row, side: str) -> str:
    text = " / ".join(brief(cell.measure(side, name)) for name in ("p50_ms", "p99_ms"))
    changes = cell.measure(side, "changes_per_second")
    return f"{text}, {brief(changes)}" if changes else text


def _files(stored: Stored) -> str:
    saving = cell_of(stored, "files", "saving")
    memory = cell_of(stored, "files", "four processes")
    cold, warm = (cell_of(stored, "files", case) for case in ("cold", "warm"))
    above = "four processes, memory of all (PSS, above what importing takes), MB"
    rows = [
        ["size against the data", *_row(saving, _SAVED, "times_data", lambda size: f"{size:.2f}")],
        ["saved and flushed, ms", *_row(saving, _SAVED, "save_and_sync_ms")],
        ["cold: load, ms", *_row(cold, _FILES, "load_ms")],
        ["cold: first query, ms", *_row(cold, _FILES, "first_ms")],
        ["warm: load, ms", *_row(warm, _FILES, "load_ms")],
        ["warm: first query, ms", *_row(warm, _FILES, "first_ms")],
        ["warm: second query, ms", *_row(warm, _FILES, "second_ms")],
        [above, *_row(memory, _FILES, "pss_more_mb")],
    ]
    head = ["files", "fastmks", "`verify=False`", "FAISS `read_index`", "FAISS mapped"]
    return markdown([*head, "usearch `view`"], rows)


def _row(
    cell: Row, sides: Sequence[str | None], name: str, show: Callable[[float], str] = brief
) -> list[str]:
    return ["" if side is None else show(cell.measure(side, name)) for side in sides]
