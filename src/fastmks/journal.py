"""The journal of an index: changes that are on disk, and not yet in the file of the index.

A journal begins with the name of the file's content that it belongs to, and goes on with frames,
one for each flush. A frame is only begun when the one before is on disk, so a crash can leave at
most the last one torn, and nobody was told that its changes are made.

    b"fastmks journal 1\\n", then the name as 64 hexadecimal digits and a newline
    frames: b"\\xffFMJ", CRC-32 of the rest (4 bytes), number of the frame (8), length (8), JSON

All numbers are little-endian. The JSON has no byte 0xff, so a frame is found wherever it begins.
"""

import errno
import hashlib
import json
import os
import stat
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.file_locks import is_at, lock_at_once
from fastmks.layout import read_layout
from fastmks.replacing import replace_file, set_mode

__all__ = ["Journal", "Read", "name_content", "read_journal"]

_MAGIC = b"fastmks journal 1\n"
_FRAME = b"\xffFMJ"
_HEAD = struct.Struct("<4sIQQ")  # mark, checksum, number, length
_BEGIN = len(_MAGIC) + 65


@dataclass(frozen=True)
class Read:
    """What a journal holds: changes in order, and how much of it is whole."""

    changes: Sequence[dict[str, Any]]
    points: Mapping[str, int]  # names of contents, and how many of the changes they have
    n_frames: int
    n_bytes: int  # up to the end of the last whole frame

    def missing_in(self, name: str) -> Sequence[dict[str, Any]] | None:
        """Return the changes that the content of this name has not; None where it is unknown."""
        begin = self.points.get(name)
        return None if begin is None else self.changes[begin:]


def name_content(path: Path) -> str:
    """Return a name for what a file holds: its length, header and checksums, digested."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size

        def read(begin: int, end: int) -> bytes:
            file.seek(begin)
            return file.read(end - begin)

        layout = read_layout(read, size, str(path))
        length = int.from_bytes(read(0, 8), "little")
        digest = hashlib.blake2b(read(0, 8 + length), digest_size=32)
        digest.update(read(layout.covered, size))
    return digest.hexdigest()


def read_journal(path: Path) -> Read | None:
    """Return what a journal holds; None where there is none.

    A torn last frame is left out. Damage before other frames is an `IndexFileError`: changes that
    were acknowledged would be lost.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    name = data[len(_MAGIC) : _BEGIN - 1]
    if not data.startswith(_MAGIC) or len(data) < _BEGIN or not name.isalnum():
        raise IndexFileError(f"{path} is not a journal of a fastmks index.")
    changes: list[dict[str, Any]] = []
    points = {name.decode("ascii"): 0}
    at, n_frames = _BEGIN, 0
    while at < len(data):
        frame = _frame_at(data, at)
        if frame is None:
            _check_torn(data, at, path)
            break
        number, payload, end = frame
        if number != n_frames:
            raise IndexFileError(
                f"{path} lacks changes before byte {at}: frame {n_frames} is missing. Put back a "
                "copy of it, or move it away to go on without all its changes."
            )
        at = end
        n_frames += 1
        held = _parse(payload, path)
        changes += held.get("changes", [])
        if "saved_as" in held:
            points[held["saved_as"]] = len(changes)
    return Read(changes, points, n_frames, at)


def _frame_at(data: bytes, at: int) -> tuple[int, bytes, int] | None:
    """Return the number of the frame at a place, what it holds, and where it ends; or None."""
    if len(data) - at < _HEAD.size:
        return None
    mark, checksum, number, length = _HEAD.unpack_from(data, at)
    begin, end = at + _HEAD.size, at + _HEAD.size + length
    if mark != _FRAME or end > len(data):
        return None
    if zlib.crc32(memoryview(data)[at + 8 : end]) != checksum:
        return None
    return number, data[begin:end], end


def _check_torn(data: bytes, at: int, path: Path) -> None:
    """Refuse damage that has a whole frame behind it, which is not what a crash leaves."""
    following = data.find(_FRAME, at + 1)
    while following >= 0:
        if _frame_at(data, following) is not None:
            raise IndexFileError(
                f"{path} is damaged at byte {at}, and changes follow at byte {following}. Put back "
                "a copy of it, or move it away to go on without all its changes."
            )
        following = data.find(_FRAME, following + 1)


def _parse(payload: bytes, path: Path) -> dict[str, Any]:
    try:
        held = json.loads(payload)
    except ValueError as error:
        raise IndexFileError(f"{path} holds a frame that is not JSON: {error}.") from None
    except RecursionError:
        raise IndexFileError(f"{path} holds a frame that is nested too deeply.") from None
    is_whole = (
        isinstance(held, dict)
        and isinstance(held.get("changes", []), list)
        and all(isinstance(change, dict) for change in held.get("changes", []))
        and isinstance(held.get("saved_as", ""), str)
    )
    if not is_whole:
        raise IndexFileError(f"{path} holds a frame that is no change.")
    return held  # type: ignore[no-any-return]


class Journal:
    """A journal that changes are written to. One thread uses it at a time.

    It is locked as long as it is open. One that was removed meanwhile is put back before the next
    frame; one that was replaced is not written to any more, since another process writes there.
    """

    def __init__(self, path: Path, *, n_frames: int, n_bytes: int, mode: int | None = None) -> None:
        self.path = path
        self.n_bytes = n_bytes
        self.is_broken = False  # what is on disk is not known: nothing can be promised any more
        self._n_frames = n_frames
        self._file = _open_locked(path)
        set_mode(self._file, mode)
        if os.fstat(self._file).st_size != n_bytes:  # a torn frame
            os.ftruncate(self._file, n_bytes)
            os.fsync(self._file)

    @classmethod
    def begin(cls, path: Path, name: str, *, mode: int | None = None) -> "Journal":
        """Put an empty journal in the place of the one there is, at once and for good."""
        replace_file(path, [_MAGIC, name.encode("ascii"), b"\n"], mode=mode)
        return cls(path, n_frames=0, n_bytes=_BEGIN)

    @property
    def is_empty(self) -> bool:
        """Whether it holds no change."""
        return self._n_frames == 0

    def append(self, changes: Sequence[dict[str, Any]]) -> None:
        """Write changes in one frame; they are on disk when this returns.

        An OSError means that none of them is in the journal, or that it is broken.
        """
        self._append({"changes": list(changes)})

    def note_saved(self, name: str) -> None:
        """Note that the content of this name, not in its place yet, has all changes so far."""
        self._append({"saved_as": name})

    def _append(self, held: dict[str, Any]) -> None:
        if self.is_broken:
            raise OSError(f"{self.path} is broken")
        if not is_at(self._file, self.path):
            self._put_back()
        payload = json.dumps(held, allow_nan=False, separators=(",", ":")).encode("ascii")
        body = struct.pack("<QQ", self._n_frames, len(payload)) + payload
        frame = _FRAME + zlib.crc32(body).to_bytes(4, "little") + body
        try:
            self._write(frame)
        except OSError:
            self._cut()
            raise
        try:
            os.fsync(self._file)
        except OSError:
            self.is_broken = True  # after a failed flush nobody knows what is on disk
            raise
        self.n_bytes += len(frame)
        self._n_frames += 1

    def _put_back(self) -> None:
        """Write the journal anew where it was removed."""
        if self.path.exists():
            self.is_broken = True
            raise OSError(errno.EEXIST, "another file has taken its place")
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            mode = stat.S_IMODE(os.fstat(self._file).st_mode)
            replace_file(self.path, [file.read(self.n_bytes)], mode=mode)
        removed, self._file = self._file, _open_locked(self.path)
        os.close(removed)

    def _write(self, frame: bytes) -> None:
        done = 0
        while done < len(frame):
            done += os.pwrite(self._file, memoryview(frame)[done:], self.n_bytes + done)

    def _cut(self) -> None:
        """Remove what was written of a frame that could not be."""
        try:
            os.ftruncate(self._file, self.n_bytes)
            os.fsync(self._file)
        except OSError:
            self.is_broken = True

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _open_locked(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    if not lock_at_once(file):
        os.close(file)
        raise InvalidArgument(f"{path} is being written by another process; stop that one first.")
    return file
