"""Open the index of a service: the file, the changes in its journal, and the lock of the writer."""

import itertools
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastmks.data.kinds import JsonFormat
from fastmks.errors import FastmksError, IndexFileError, InvalidArgument
from fastmks.files.atomic import mode_of, replace_file
from fastmks.files.index_lock import journal_of, lock_file
from fastmks.files.journal import Journal, Read, name_content, read_journal
from fastmks.files.locking import HAS_LOCKS
from fastmks.index.index import Index
from fastmks.index.load import load
from fastmks.index.view import current_of, view_of
from fastmks.kernels import Kernel
from fastmks.service.json_objects import form_of
from fastmks.service.served import Served, Writable

_LOG = logging.getLogger("fastmks.service")
_TRIES = 5  # to read a file and its journal while another service saves


def open_served(
    path: str | os.PathLike[str],
    *,
    writable: bool = False,
    kernel: Kernel | Callable[[Any, Any], float] | None = None,
    encode: Callable[[Any], bytes] | None = None,
    decode: Callable[[bytes], Any] | None = None,
    most_waiting: int = 1024,
    most_bytes: int = 64 << 20,
) -> Served:
    """Load an index and the changes in its journal, to be served.

    Parameters
    ----------
    path : path-like
        A file that `Index.save` wrote.
    writable : bool, default False
        Take changes, each of which is in the journal (``path`` + ".journal") before it is
        acknowledged. Only one service at a time may do so with a file.
    kernel, decode
        As for `fastmks.load`.
    encode : callable (object) -> bytes, optional
        As for `Index.save`; needed to change an index of objects that only your own kernel knows.
    most_waiting : int, default 1024
        Changes that may wait to be written.
    most_bytes : int, default 64 MiB
        Bytes of the journal above which the index is saved.

    Examples
    --------
    >>> import fastmks, pathlib, tempfile
    >>> from fastmks.service import open_served
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "arrows.fmks")
    ...     fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).save(path)
    ...     served = open_served(path)
    >>> served.index.search([1.0, 2.0]).ids
    array([[1]])
    """
    file = Path(os.fsdecode(os.path.realpath(path)))

    def loaded() -> tuple[Index, str]:
        return _load(file, kernel, decode)

    if not writable:
        index, _, read = _replayed(file, loaded)
        if read is not None and read.torn:
            _LOG.warning("%s: %s; no client was told that they were made", *_said(file, read))
        return Served(index, file, form=form_of(index))
    _check_system()
    lock = lock_file(file)
    try:
        index, name, read = _replayed(file, loaded)
        _check_encode(index, encode)
        with suppress(FileNotFoundError):
            file.with_name(f"{file.name}.saving").unlink()
        journal = _resumed(file, name, read)
    except BaseException:
        os.close(lock)
        raise
    return Writable(
        index,
        file,
        form=form_of(index),
        journal=journal,
        lock=lock,
        encode=encode,
        most_waiting=most_waiting,
        most_bytes=most_bytes,
    )


def _check_system() -> None:
    """Refuse changes where journals cannot be written, or open files not be replaced."""
    if not HAS_LOCKS or not hasattr(os, "pwrite"):
        raise InvalidArgument(
            f"writable must be False on this system ({sys.platform}): changes need locks of files "
            "(flock) and pwrite, which it has not. Serve the index as it is, and change its file "
            "with fastmks add while no service runs."
        )


def _load(file: Path, kernel: Any, decode: Any) -> tuple[Index, str]:
    """Return an index, and the name of the content of its file."""
    for _ in range(_TRIES):
        name = name_content(file)
        index = load(file, kernel=kernel, decode=decode)
        if name_content(file) == name:
            return index, name
    raise IndexFileError(f"{file} is replaced again and again while it is read.")


def _replayed(
    file: Path, loaded: Callable[[], tuple[Index, str]]
) -> tuple[Index, str, Read | None]:
    """Return an index with the changes of its journal, the name of its file, and the journal."""
    for _ in range(_TRIES):  # another service may save while this read-only one reads
        index, name = loaded()
        read = read_journal(journal_of(file))
        missing = [] if read is None else read.missing_in(name)
        if missing is None:
            continue
        form = form_of(index)
        for change in missing:
            _replay(index, form, change, file)
        return index, name, read
    if read is not None and not read.changes and name_content(file) == name:
        return index, name, None  # a service would have replaced the file first: nothing is lost
    raise IndexFileError(
        f"{journal_of(file)} belongs to another file than {file}: the file was replaced, and the "
        "journal has changes of the old one. Put that back, or move the journal away."
    )


def _replay(index: Index, form: JsonFormat, change: dict[str, Any], file: Path) -> None:
    try:
        match change:
            case {"add": list(objects), "ids": list(ids)}:
                current_of(index).add(form.read_all(objects, "objects"), ids, is_new=False)
            case {"remove": list(ids)}:
                index.remove(ids)
            case _:
                raise InvalidArgument(f"no change is written as {change!r:.80}")
    except FastmksError as error:
        raise IndexFileError(
            f"{journal_of(file)} has a change that {file} cannot have: {error}"
        ) from error


def _resumed(file: Path, name: str, read: Read | None) -> Journal:
    """Return the journal to append to, or a new one where the file has all its changes."""
    path, mode = journal_of(file), mode_of(file)
    if read is not None and read.torn:
        kept = _keep(path, read.torn, mode)
        _LOG.warning("%s: %s; they are kept in %s", *_said(file, read), kept.name)
    if read is None or not read.missing_in(name):
        return Journal.begin(path, name, mode=mode)
    return Journal.resume(path, read, mode=mode)


def _said(file: Path, read: Read) -> tuple[Path, str]:
    return journal_of(file), (
        f"the last {len(read.torn)} bytes are a part of changes that were not acknowledged, cut "
        "short by a crash, and are skipped"
    )


def _keep(journal: Path, torn: bytes, mode: int | None) -> Path:
    """Return a new file beside the journal that keeps its torn end; nothing reads it."""
    names = (journal.with_name(f"{journal.name}.torn-{i}") for i in itertools.count(1))
    kept = next(name for name in names if not name.exists())
    replace_file(kept, [torn], mode=mode)
    return kept


def _check_encode(index: Index, encode: Callable[[Any], bytes] | None) -> None:
    from fastmks.index.index_file import lacks_objects

    if lacks_objects(view_of(index).like.record(encode=encode)):
        raise InvalidArgument(
            "encode must be given to change an index of objects that only your own kernel knows: "
            "without it they cannot be saved."
        )
