"""The index of a service: searched by all, changed by one thread, and never without its journal."""

import fcntl
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmks.errors import FastmksError, IndexFileError, InvalidArgument
from fastmks.index import Index
from fastmks.kernels import Kernel
from fastmks.loading import load
from fastmks.replacing import sync_folder
from fastmks.service.form import Form
from fastmks.service.forms import form_of
from fastmks.service.journal import Journal, Read, name_content, read_journal
from fastmks.service.refusals import ConflictError, RefusalError, UnwritableError

__all__ = ["Change", "Served", "open_served"]

_LOG = logging.getLogger("fastmks.service")
_AT_ONCE = 256  # changes that share a flush
_TRIES = 5  # to read a file and its journal while another service saves


@dataclass(frozen=True)
class Change:
    """Objects to add, as JSON had them and as they were read, or ids to remove."""

    ids: list[Any] | None
    objects: list[Any] | None = None
    read: Any = None

    @property
    def is_addition(self) -> bool:
        """Whether objects are added."""
        return self.objects is not None


class Served:
    """What a service serves. `index` is the index as of the last change that is on disk.

    Made by `open_served`. Searches take `index` once and keep it: it never changes, the next one
    takes its place.

    Attributes
    ----------
    index : Index
        The current index.
    path : Path
        Its file.
    is_writable : bool
        Whether it takes changes.
    form : Form
        How its objects are written in JSON.
    """

    def __init__(self, index: Index, path: Path, *, form: Form) -> None:
        self.index, self.path, self.form = index, path, form
        self.is_writable = False

    @property
    def journal_bytes(self) -> int:
        """How long the journal is; 0 without one."""
        return 0

    @property
    def is_broken(self) -> bool:
        """Whether changes are refused, since the journal could not be written."""
        return False

    def submit(self, change: Change) -> "Future[list[Any]]":
        """Queue a change; the result is there when it is on disk: its ids."""
        raise RefusalError(
            403, "ReadOnly", "the service was started without --writable: nothing can be changed."
        )

    def close(self) -> None:
        """Make and save what was submitted; nothing can be submitted after."""


class _Writable(Served):
    """A served index with a journal, and the thread that writes it."""

    def __init__(
        self,
        index: Index,
        path: Path,
        *,
        form: Form,
        journal: Journal,
        lock: int,
        encode: Callable[[Any], bytes] | None,
        most_waiting: int,
        most_bytes: int,
    ) -> None:
        super().__init__(index, path, form=form)
        self.is_writable = True
        self._journal, self._lock, self._encode = journal, lock, encode
        self._most_waiting, self._most_bytes = most_waiting, most_bytes
        self._save_at = most_bytes
        self._writing = index.copy()  # what the thread changes before it is on disk
        self._waiting: deque[tuple[Change, Future[list[Any]]]] = deque()
        self._news = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="fastmks-writer", daemon=True)
        self._thread.start()

    @property
    def journal_bytes(self) -> int:
        return self._journal.n_bytes

    @property
    def is_broken(self) -> bool:
        return self._journal.is_broken

    def submit(self, change: Change) -> "Future[list[Any]]":
        future: Future[list[Any]] = Future()
        with self._news:
            if self._is_closing:
                raise RefusalError(503, "Stopping", "the service is shutting down.")
            if len(self._waiting) >= self._most_waiting:
                raise RefusalError(
                    429,
                    "TooMany",
                    f"{self._most_waiting} changes are waiting; try again soon.",
                    headers={"retry-after": "1"},
                )
            self._waiting.append((change, future))
            self._news.notify()
        return future

    def close(self) -> None:
        with self._news:
            if self._is_closing:
                return
            self._is_closing = True
            self._news.notify()
        self._thread.join()
        if not self._journal.is_empty and not self._journal.is_broken:
            self._save()
        self._journal.close()
        os.close(self._lock)  # which unlocks it

    def _run(self) -> None:
        while True:
            with self._news:
                while not self._waiting and not self._is_closing:
                    self._news.wait()
                if not self._waiting:
                    return
                n_taken = min(_AT_ONCE, len(self._waiting))
                taken = [self._waiting.popleft() for _ in range(n_taken)]
            self._make([one for one in taken if one[1].set_running_or_notify_cancel()])
            if self._journal.n_bytes > self._save_at and not self._journal.is_broken:
                self._save()

    def _make(self, taken: Sequence[tuple[Change, "Future[list[Any]]"]]) -> None:
        """Make changes, write them with one flush, show them to searches, and say so."""
        made: list[tuple[Future[list[Any]], list[Any]]] = []
        frame: list[dict[str, Any]] = []
        for change, future in taken:
            try:
                ids = _apply(self._writing, change)
            except Exception as error:
                future.set_exception(error)
                continue
            made.append((future, ids))
            if ids:
                frame.append(_written(change, ids))
        try:
            if frame:
                self._journal.append(frame)
        except Exception as error:
            _LOG.exception("the journal of %s cannot be written", self.path)
            self._writing = self.index.copy()
            for future, _ in made:
                future.set_exception(_unwritable(error))
            return
        if frame:
            self.index = self._writing.copy()
        for future, ids in made:
            future.set_result(ids)

    def _save(self) -> None:
        """Save the index and begin a new journal. Where that fails the journal only gets longer.

        The new file is written beside the old one; the journal notes its name; it takes the place
        of the old one; a new journal takes the place of the old one. Whenever this is cut short,
        the journal belongs to the file, or says that the file has all its changes.
        """
        beside = self.path.with_name(f"{self.path.name}.saving")
        try:
            self.index.save(beside, encode=self._encode)
            beside.chmod(self.path.stat().st_mode & 0o7777)
            name = name_content(beside)
            self._journal.note_saved(name)
            beside.replace(self.path)
            sync_folder(self.path.parent)
            journal = Journal.begin(self._journal.path, name)
        except (OSError, FastmksError):
            _LOG.exception("%s cannot be saved; its changes stay in the journal", self.path)
            with suppress(OSError):
                beside.unlink()
            self._save_at = 2 * self._journal.n_bytes
            return
        self._journal.close()
        self._journal, self._save_at = journal, self._most_bytes


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
        How long the journal gets before the index is saved.

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
        index, _, _ = _replayed(file, loaded)
        return Served(index, file, form=form_of(index))
    lock = _lock(file)
    try:
        index, name, read = _replayed(file, loaded)
        _check_encode(index, encode)
        with suppress(FileNotFoundError):
            file.with_name(f"{file.name}.saving").unlink()
        journal = _resumed(file, name, read)
    except BaseException:
        os.close(lock)
        raise
    return _Writable(
        index,
        file,
        form=form_of(index),
        journal=journal,
        lock=lock,
        encode=encode,
        most_waiting=most_waiting,
        most_bytes=most_bytes,
    )


def _journal_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.journal")


def _load(file: Path, kernel: Any, decode: Any) -> tuple[Index, str]:
    """Return an index, and the name of the content that it was loaded from."""
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
    for _ in range(_TRIES):  # another service may save while this one, not writable, reads
        index, name = loaded()
        read = read_journal(_journal_of(file))
        missing = [] if read is None else read.missing_in(name)
        if missing is None:
            continue
        form = form_of(index)
        for change in missing:
            _replay(index, form, change, file)
        return index, name, read
    raise IndexFileError(
        f"{_journal_of(file)} belongs to another file than {file}: the file was replaced, and the "
        "journal has changes of the old one. Put that back, or move the journal away."
    )


def _replay(index: Index, form: Form, change: dict[str, Any], file: Path) -> None:
    try:
        match change:
            case {"add": list(objects), "ids": list(ids)}:
                index.add(form.read_all(objects, "objects"), ids=ids)
            case {"remove": list(ids)}:
                index.remove(ids)
            case _:
                raise InvalidArgument(f"no change is written as {change!r:.80}")
    except FastmksError as error:
        raise IndexFileError(
            f"{_journal_of(file)} has a change that {file} cannot have: {error}"
        ) from error


def _resumed(file: Path, name: str, read: Read | None) -> Journal:
    """Return the journal to go on with, or a new one where all its changes are in the file."""
    path = _journal_of(file)
    if read is None or not read.missing_in(name):
        return Journal.begin(path, name)
    return Journal(path, n_frames=read.n_frames, n_bytes=read.n_bytes)


def _lock(file: Path) -> int:
    """Keep other services from writing the same index; the lock ends with the process."""
    path = file.with_name(f"{file.name}.lock")
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise InvalidArgument(
            f"{file} is being changed by another service; stop that one, or start this one "
            "without --writable."
        ) from None
    except BaseException:
        os.close(lock)
        raise
    return lock


def _check_encode(index: Index, encode: Callable[[Any], bytes] | None) -> None:
    from fastmks.storage import lacks_objects

    if lacks_objects(index._forest.like.record(encode=encode)):
        raise InvalidArgument(
            "encode must be given to change an index of objects that only your own kernel knows: "
            "without it they cannot be saved."
        )


def _apply(index: Index, change: Change) -> list[Any]:
    """Make a change; an error says whether an id was in use, or not there."""
    if change.is_addition:
        try:
            added: list[Any] = index.add(change.read, ids=change.ids).tolist()
        except InvalidArgument as error:
            used = next((name for name in change.ids or [] if name in index), None)
            if used is None:
                raise
            raise ConflictError(str(error)) from error
        return added
    ids = change.ids or []
    try:
        index.remove(ids)
    except InvalidArgument as error:
        unknown = next((name for name in ids if name not in index), None)
        if unknown is None:
            raise
        raise RefusalError(404, "NotFound", str(error)) from error
    return ids


def _written(change: Change, ids: list[Any]) -> dict[str, Any]:
    return {"add": change.objects, "ids": ids} if change.is_addition else {"remove": ids}


def _unwritable(error: Exception) -> UnwritableError:
    why = getattr(error, "strerror", None) or type(error).__name__
    return UnwritableError(f"the change was not made: the journal cannot be written ({why}).")
