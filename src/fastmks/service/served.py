"""The index of a service: searched by all threads, changed by one, which writes the journal."""

import logging
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmks.data.kinds import JsonFormat
from fastmks.errors import InvalidArgument
from fastmks.files.atomic import mode_of, sync_folder
from fastmks.files.journal import Journal, name_content
from fastmks.index.index import Index
from fastmks.index.index_file import write_index
from fastmks.service.refusals import ConflictError, RefusalError, UnwritableError

_LOG = logging.getLogger("fastmks.service")
_PAUSE = 0.05  # seconds between two checks whether a change has ended
_AT_ONCE = 256  # changes that share a flush


@dataclass(frozen=True)
class Change:
    """Objects to add, as JSON values and as read, or ids to remove."""

    ids: list[Any] | None
    objects: list[Any] | None = None
    read: Any = None

    @property
    def is_addition(self) -> bool:
        """Whether objects are added."""
        return self.objects is not None


class Served:
    """The index of a service. `index` is the index as of the last change that is on disk.

    Built by `open_served`. A search takes `index` once and keeps it: an index never changes, the
    next one replaces it.

    Attributes
    ----------
    index : Index
        The current index.
    path : Path
        Its file.
    is_writable : bool
        Whether it takes changes.
    form : JsonFormat
        How its objects are written in JSON.

    Examples
    --------
    >>> import fastmks, pathlib, tempfile
    >>> from fastmks.service import open_served
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "arrows.fmks")
    ...     fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).save(path)
    ...     served = open_served(path)
    >>> len(served.index), served.path.name, served.is_writable
    (2, 'arrows.fmks', False)
    """

    def __init__(self, index: Index, path: Path, *, form: JsonFormat) -> None:
        self.index, self.path, self.form = index, path, form
        self.is_writable = False

    @property
    def journal_bytes(self) -> int:
        """Bytes of the journal; 0 without one."""
        return 0

    @property
    def is_broken(self) -> bool:
        """Whether changes are refused, since the journal could not be written."""
        return False

    def submit(self, change: Change) -> "Future[list[Any]]":
        """Queue a change; the future returns its ids once it is on disk.

        Examples
        --------
        >>> import fastmks, pathlib, tempfile
        >>> from fastmks.service import open_served
        >>> from fastmks.service.served import Change
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "arrows.fmks")
        ...     fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).save(path)
        ...     served = open_served(path, writable=True)
        ...     served.submit(Change([0])).result()
        ...     served.close()
        ...     fastmks.load(path).ids
        [0]
        array([1])
        """
        raise RefusalError(
            403, "ReadOnly", "the service was started without --writable: nothing can be changed."
        )

    @property
    def is_changing(self) -> bool:
        """Whether a change is being applied, or the index saved."""
        return False

    def close(self, seconds: float | None = None) -> None:
        """Apply and save the submitted changes; none can be submitted after.

        Parameters
        ----------
        seconds : float, optional
            The longest wait for a change that is being applied; no limit when not given. Saving has
            no limit.

        An index that could not be saved is an error; the next start has its changes, from the
        journal.

        Examples
        --------
        >>> import fastmks, pathlib, tempfile
        >>> from fastmks.service import open_served
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "arrows.fmks")
        ...     fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).save(path)
        ...     open_served(path, writable=True).close()
        ...     sorted(file.name for file in path.parent.iterdir())
        ['arrows.fmks', 'arrows.fmks.journal', 'arrows.fmks.lock']
        """


class Writable(Served):
    """A served index with a journal, and the thread that writes it."""

    def __init__(
        self,
        index: Index,
        path: Path,
        *,
        form: JsonFormat,
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
        self._writing = index.copy()  # changed by the thread before the change is on disk
        self._waiting: deque[tuple[Change, Future[list[Any]]]] = deque()
        self._news, self._ending = threading.Condition(), threading.Lock()
        self._is_closing, self._is_saving, self._is_closed = False, False, False
        self._unsaved: str | None = None  # why the last attempt to save failed
        self._thread = threading.Thread(target=self._run, name="fastmks-writer", daemon=True)
        self._thread.start()

    @property
    def journal_bytes(self) -> int:
        """Bytes of the journal."""
        return self._journal.n_bytes

    @property
    def is_broken(self) -> bool:
        """Whether changes are refused, since the journal could not be written."""
        return self._journal.is_broken or not self._thread.is_alive()

    def submit(self, change: Change) -> "Future[list[Any]]":
        """Queue a change, unless too many are waiting."""
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

    @property
    def is_changing(self) -> bool:
        """Whether a change is being applied, or the index saved."""
        return self._is_saving or (self._is_closing and self._thread.is_alive())

    def close(self, seconds: float | None = None) -> None:
        """Apply and save the submitted changes, and unlock the file."""
        with self._news:
            self._is_closing = True
            self._news.notify()
        end = math.inf if seconds is None else time.monotonic() + seconds
        while self._thread.is_alive() and (self._is_saving or time.monotonic() < end):
            self._thread.join(_PAUSE)
        if self._thread.is_alive():
            raise self._not_saved(f"a change has not ended within {seconds:g} s")
        with self._ending:
            if not self._is_closed:
                self._is_closed = True
                self._end()
        if self._unsaved is not None:
            raise self._not_saved(self._unsaved)

    def _end(self) -> None:
        try:
            if self._journal.is_broken and not self._journal.is_empty:
                self._unsaved = "its journal could not be written"
            elif not self._journal.is_empty:
                self._save()
        finally:
            self._journal.close()
            os.close(self._lock)  # unlocks it

    def _not_saved(self, why: str) -> UnwritableError:
        return UnwritableError(
            f"{self.path} was not saved ({why}). The next start has the changes that are in "
            f"{self._journal.path.name}."
        )

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
        """Apply changes, write them with one flush, show them to searches, set their futures."""
        made: list[tuple[Future[list[Any]], list[Any]]] = []
        frame: list[dict[str, Any]] = []
        for change, future in taken:
            try:
                self._check_encoded(change)
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

    def _check_encoded(self, change: Change) -> None:
        """Refuse objects that could not be saved, before they are acknowledged."""
        if self._encode is None or not change.is_addition:
            return
        for i, one in enumerate(change.read):
            try:
                written = self._encode(one)
            except Exception as error:
                raise InvalidArgument(
                    f"objects[{i}] cannot be saved: encode raises {type(error).__name__}: {error}"
                ) from error
            if not isinstance(written, bytes):
                raise InvalidArgument(
                    f"objects[{i}] cannot be saved: encode must return bytes; it returned "
                    f"{type(written).__name__}."
                )

    def _save(self) -> None:
        """Save the index and begin a new journal. If that fails, the journal only grows.

        The new file is written beside the old one; the journal notes its name; it replaces the old
        file; a new journal replaces the old one. If this stops at any step, the journal belongs to
        the file, or says that the file has all its changes.
        """
        beside = self.path.with_name(f"{self.path.name}.saving")
        self._is_saving = True
        try:
            mode = mode_of(self.path)
            write_index(self.index, beside, encode=self._encode, mode=mode)
            name = name_content(beside)
            self._journal.note_saved(name)
            beside.replace(self.path)
            sync_folder(self.path.parent)
            journal = Journal.begin(self._journal.path, name, mode=mode)
        except Exception as error:  # of the file system, or of the user's own function encode
            _LOG.exception("%s cannot be saved; its changes stay in the journal", self.path)
            with suppress(OSError):
                beside.unlink()
            self._save_at = 2 * self._journal.n_bytes
            self._unsaved = _why(error)
            return
        finally:
            self._is_saving = False
        self._journal.close()
        self._journal, self._save_at, self._unsaved = journal, self._most_bytes, None


def _apply(index: Index, change: Change) -> list[Any]:
    """Apply a change and return its ids; an error says whether an id was in use, or unknown."""
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
    return UnwritableError(
        f"the change was not made: the journal cannot be written ({_why(error)})."
    )


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
