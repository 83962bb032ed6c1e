"""Exclusive changes of the file of an index: a lock, and a check of its journal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fastmks.errors import InvalidArgument
from fastmks.files.atomic import optional_flags
from fastmks.files.journal import name_content, read_journal
from fastmks.files.locking import is_at, lock_at_once


def journal_of(file: Path) -> Path:
    """Return the journal that belongs to the file of an index."""
    return file.with_name(f"{file.name}.journal")


def n_pending(file: Path) -> int:
    """Return the number of changes that a service acknowledged and that the file lacks."""
    read = read_journal(journal_of(file))
    if read is None or not read.changes:
        return 0
    missing = read.missing_in(name_content(file))
    return len(read.changes if missing is None else missing)


def lock_file(file: Path) -> int:
    """Return a lock against changes of an index by others; it ends with the process.

    A service also locks its journal: removing the file of the lock does not admit another process.
    """
    while True:
        lock = os.open(_lock_of(file), os.O_RDWR | os.O_CREAT | optional_flags("O_CLOEXEC"), 0o600)
        try:
            if not lock_at_once(lock) or _is_journal_locked(file):
                raise _is_changed(file)
            if is_at(lock, _lock_of(file)):  # else its holder has removed it
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _is_changed(file: Path) -> InvalidArgument:
    return InvalidArgument(
        f"{file} is being changed by another process, such as fastmks serve --writable; stop that "
        "one first."
    )


@contextmanager
def not_served(path: str | os.PathLike[str]) -> Iterator[None]:
    """Refuse to replace a file that a service changes, which would replace it again.

    It creates no lock: where no service has changed the file before, one may start meanwhile.
    """
    file = Path(os.fsdecode(os.path.realpath(path)))
    locks = []
    try:
        for each in (_lock_of(file), journal_of(file)):
            with suppress(OSError):  # no lock exists, or the file system has no locks
                locks.append(os.open(each, os.O_RDONLY | optional_flags("O_CLOEXEC")))
                if not lock_at_once(locks[-1], is_shared=True):
                    raise _is_changed(file)
        yield
    finally:
        for lock in locks:
            os.close(lock)


def _is_journal_locked(file: Path) -> bool:
    try:
        journal = os.open(journal_of(file), os.O_WRONLY | optional_flags("O_CLOEXEC"))
    except FileNotFoundError:
        return False
    try:
        return not lock_at_once(journal)
    finally:
        os.close(journal)


def _lock_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.lock")


@contextmanager
def changing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Lock the file of an index against changes by others for a block.

    A file whose journal has changes that it lacks is refused: they would be lost.
    """
    file = Path(os.fsdecode(os.path.realpath(path)))
    try:
        lock = lock_file(file)
    except OSError as error:  # for example no such folder
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    try:
        if file.exists() and n_pending(file):
            raise InvalidArgument(
                f"{journal_of(file)} has changes that {file} lacks: a service was killed. Start "
                "fastmks serve --writable on it and stop it, which saves them; or move the journal "
                "away to go on without them."
            )
        yield
    finally:
        with suppress(OSError):
            if is_at(lock, _lock_of(file)):  # else it is that of another process
                _lock_of(file).unlink()
        os.close(lock)
