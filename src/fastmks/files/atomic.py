"""Replace a file as a whole or not at all, also at a crash."""

import errno
import os
import stat
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed: as good as a lock
    fcntl = None  # type: ignore[assignment]

_Piece: TypeAlias = "bytes | memoryview"
_IS_POSIX = os.name == "posix"
_OWNER = 0o600  # the owner must be able to remove an unfinished file


def replace_file(
    path: str | os.PathLike[str], pieces: Iterable[_Piece], *, mode: int | None = None
) -> None:
    """Write pieces into a new file, flush it to disk, and put it in the place of `path`.

    A program that opens `path` finds the old file or the new one, also after a crash. A link stays
    one: its target is replaced. The new file has this mode from its first byte on, by
    default that of the old one, or for a new file the default of the system. After an error the old
    file stays; an OSError names `path`.
    """
    try:
        _replace(Path(os.fsdecode(os.path.realpath(path))), pieces, mode)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def optional_flags(*names: str) -> int:
    """Return the flags of `os.open` with these names that this system knows."""
    flags = 0
    for name in names:
        flags |= getattr(os, name, 0)
    return flags


def mode_of(path: str | os.PathLike[str]) -> int | None:
    """Return the mode of a file; None where none exists."""
    try:
        return stat.S_IMODE(Path(path).stat().st_mode)
    except FileNotFoundError:
        return None


def set_mode(file: int, mode: int | None) -> None:
    """Set the mode of an open file, unless that is None."""
    if mode is not None and _IS_POSIX and stat.S_IMODE(os.fstat(file).st_mode) != mode:
        os.fchmod(file, mode)


def _replace(target: Path, pieces: Iterable[_Piece], mode: int | None) -> None:
    old = _mode(target)
    mode = old if mode is None else mode
    prefix = f".fastmks-{zlib.crc32(os.fsencode(target.name)):08x}-"  # a name of any length works
    _remove_abandoned(target.parent, prefix)
    file, temporary = _create(target.parent, prefix, 0o666 if mode is None else _OWNER)
    try:
        try:
            set_mode(file, None if mode is None else mode | _OWNER)
            for piece in pieces:
                _write(file, piece)
            set_mode(file, mode)
            os.fsync(file)
            if _IS_POSIX:  # while it is locked
                temporary.replace(target)
        finally:
            os.close(file)
        if not _IS_POSIX:  # a file that is open has no other name there
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


def _mode(target: Path) -> int | None:
    """Return the mode of the file that is to be replaced; None where none exists."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):  # /dev/null would not be replaced, but lost
        raise OSError(errno.EINVAL, "Not a regular file")
    return stat.S_IMODE(mode)


def _create(folder: Path, prefix: str, mode: int) -> tuple[int, Path]:
    """Open a new file that is locked as long as it is being written, and return its name.

    Between its creation and its lock another process may take it for an abandoned one.
    """
    while True:
        path = folder / f"{prefix}{os.getpid()}-{os.urandom(4).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | optional_flags("O_CLOEXEC", "O_BINARY")
        file = os.open(path, flags, mode)
        if fcntl is None:
            return file, path
        with suppress(OSError):  # some file systems have no locks: then none is abandoned
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:
            return file, path
        os.close(file)


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove unfinished files of killed processes: those that no process has locked."""
    with suppress(OSError):
        for path in list(folder.glob(f"{prefix}*.tmp")):
            with suppress(OSError):
                _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    if fcntl is None:
        path.unlink()
        return
    file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(file)


def _write(file: int, piece: _Piece) -> None:
    view = memoryview(piece)
    while len(view):
        view = view[os.write(file, view) :]


def sync_folder(folder: Path) -> None:
    """Flush the new name to disk; some file systems cannot, and need not."""
    if not _IS_POSIX:  # folders cannot be opened on such systems
        return
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(file)
