"""The journal of an index: changes that are on disk, and not yet in the file of the index.

A journal begins with the name of the file's content that it belongs to. Frames follow, one for each
flush. A frame is only begun when the one before is on disk, so a crash can leave at most the last
one torn, and its changes were not acknowledged.

    b"fastmks journal 2\\n", then the name as 64 hexadecimal digits and a newline
    two marks: frames (8 bytes) and bytes (8) that were acknowledged, CRC-32 of these 16 bytes
    frames: b"\\xffFMJ", CRC-32 of the rest (4 bytes), number of the frame (8), length (8), JSON

All numbers are little-endian. The JSON has no byte 0xff, so a frame is found wherever it begins,
and no byte 0, so a part of it that was not written is seen.

A mark is written when its frame is on disk and before its changes are acknowledged, in turn in the
first place and in the second. It is on disk with the next frame or sooner, so at least the marked
part was acknowledged. A file that was cut short is thus detected, and only bytes after the marked
part can be taken for a torn frame. Journals of version 1 have no marks.
"""

import errno
import hashlib
import json
import os
import stat
import struct
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.atomic import replace_file, set_mode
from fastmks.files.header import read_layout
from fastmks.files.locking import is_at, lock_at_once

_MAGIC, _MAGIC_1 = b"fastmks journal 2\n", b"fastmks journal 1\n"
_MARKS = len(_MAGIC) + 65  # where the marks begin; in version 1 the frames
_MARK = struct.Struct("<QQI")  # frames, bytes, checksum
_BEGIN = _MARKS + 2 * _MARK.size
_FRAME = b"\xffFMJ"
_HEAD = struct.Struct("<4sIQQ")  # begin of a frame, checksum, number, length
_SECTOR = 512  # bytes that disks write as a whole


@dataclass(frozen=True)
class Read:
    """The contents of a journal: changes in order, and the length of the whole part."""

    changes: Sequence[dict[str, Any]]
    points: Mapping[str, int]  # names of contents, and the number of changes in them
    n_frames: int
    n_bytes: int  # up to the end of the last whole frame
    torn: bytes  # bytes after it: a part of a frame that was not acknowledged
    is_marked: bool  # False for version 1

    def missing_in(self, name: str) -> Sequence[dict[str, Any]] | None:
        """Return the changes that the content of this name lacks; None where it is unknown."""
        begin = self.points.get(name)
        return None if begin is None else self.changes[begin:]


def name_content(path: Path) -> str:
    """Return a name for the content of a file: a digest of its length, header and checksums."""
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
    """Return the contents of a journal; None where none exists.

    Bytes at the end that one torn write can explain are dropped. Any other damage is an
    `IndexFileError`: changes that were acknowledged would be lost.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    is_marked = data.startswith(_MAGIC)
    begin = _BEGIN if is_marked else _MARKS
    name = data[len(_MAGIC) : _MARKS - 1]
    if not data.startswith((_MAGIC, _MAGIC_1)) or len(data) < begin or not name.isalnum():
        raise IndexFileError(f"{path} is not a journal of a fastmks index.")
    least_frames, least_bytes = _read_marks(data, path) if is_marked else (0, begin)
    changes: list[dict[str, Any]] = []
    points = {name.decode("ascii"): 0}
    at, n_frames = begin, 0
    while at < len(data):
        frame = _frame_at(data, at)
        if frame is None:
            _check_following(data, at, path)
            if at >= least_bytes and not _is_torn(data, at, n_frames):
                raise _damage(path, at, "no write that was cut short leaves what is there")
            break
        number, payload, end = frame
        if number != n_frames:
            raise _damage(path, at, f"frame {n_frames} is missing before")
        at = end
        n_frames += 1
        held = _parse(payload, path)
        changes += held.get("changes", [])
        if "saved_as" in held:
            points[held["saved_as"]] = len(changes)
    if at < least_bytes or n_frames < least_frames:
        raise _damage(path, at, f"changes up to byte {least_bytes} were acknowledged")
    return Read(changes, points, n_frames, at, data[at:], is_marked)


def _damage(path: Path, at: int, why: str) -> IndexFileError:
    return IndexFileError(
        f"{path} is damaged at byte {at}: {why}. Put back a copy of it, or move it away to go on "
        "without all its changes."
    )


def _head(name: bytes, n_frames: int, n_bytes: int) -> bytes:
    """Return the first bytes of a journal."""
    return _MAGIC + name + b"\n" + 2 * _mark(n_frames, n_bytes)


def _mark(n_frames: int, n_bytes: int) -> bytes:
    text = struct.pack("<QQ", n_frames, n_bytes)
    return text + zlib.crc32(text).to_bytes(4, "little")


def _read_marks(data: bytes, path: Path) -> tuple[int, int]:
    """Return the least number of frames and bytes that were acknowledged: one mark may be torn."""
    marks = [
        (n_frames, n_bytes)
        for n_frames, n_bytes, _ in _MARK.iter_unpack(data[_MARKS:_BEGIN])
        if _mark(n_frames, n_bytes) in data[_MARKS:_BEGIN]
    ]
    if not marks:
        raise _damage(path, _MARKS, "it does not say how much was acknowledged")
    return max(marks)


def _frame_at(data: bytes, at: int) -> tuple[int, bytes, int] | None:
    """Return the number of the frame at a place, its contents, and where it ends; or None."""
    if len(data) - at < _HEAD.size:
        return None
    mark, checksum, number, length = _HEAD.unpack_from(data, at)
    begin, end = at + _HEAD.size, at + _HEAD.size + length
    if mark != _FRAME or end > len(data):
        return None
    if zlib.crc32(memoryview(data)[at + 8 : end]) != checksum:
        return None
    return number, data[begin:end], end


def _check_following(data: bytes, at: int, path: Path) -> None:
    """Refuse damage with a whole frame after it, which no crash leaves."""
    following = data.find(_FRAME, at + 1)
    while following >= 0:
        if _frame_at(data, following) is not None:
            raise _damage(path, at, f"changes follow at byte {following}")
        following = data.find(_FRAME, following + 1)


def _is_torn(data: bytes, at: int, number: int) -> bool:
    """Whether a crash during the write of the frame of this number explains these bytes.

    That is a frame that lacks its end, or has zeros up to the end of some sectors, or both.
    """
    holes: list[tuple[int, int]] = []
    for begin in range(at - at % _SECTOR, len(data), _SECTOR):
        end = min(begin + _SECTOR, len(data))
        written = max(at, begin + len(data[begin:end].rstrip(b"\0")))
        holes += [(written, end)] if written < end else []

    def is_written(place: int) -> bool:
        return place < len(data) and not any(begin <= place < end for begin, end in holes)

    known = [*enumerate(_FRAME, start=at), *enumerate(number.to_bytes(8, "little"), start=at + 8)]
    if any(is_written(place) and data[place] != byte for place, byte in known):
        return False
    payload = at + _HEAD.size
    n_missing = sum(end - max(begin, payload) for begin, end in holes if end > payload)
    if data.count(0, payload) > n_missing:
        return False
    if not all(map(is_written, range(payload - 8, payload))):  # then its length is not known
        return True
    end = payload + int.from_bytes(data[payload - 8 : payload], "little")
    return len(data) < end or (len(data) == end and len(holes) > 0)


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

    It is locked as long as it is open. A journal that was removed meanwhile is written again before
    the next frame; a replaced one is not written to any more, since another process writes there.
    """

    def __init__(self, path: Path, *, n_frames: int, n_bytes: int, mode: int | None = None) -> None:
        self.path = path
        self.n_bytes = n_bytes
        self.is_broken = False  # then the disk's content is unknown: no more changes
        self._n_frames = n_frames
        self._file = _open_locked(path)
        set_mode(self._file, mode)
        if os.fstat(self._file).st_size != n_bytes:  # a torn frame
            os.ftruncate(self._file, n_bytes)
        os.fsync(self._file)
        self._mark()  # replayed changes count as acknowledged: searches find them from now on

    @classmethod
    def begin(cls, path: Path, name: str, *, mode: int | None = None) -> "Journal":
        """Return the writer of an empty journal, which replaces the old one in one step."""
        replace_file(path, [_head(name.encode("ascii"), 0, _BEGIN)], mode=mode)
        return cls(path, n_frames=0, n_bytes=_BEGIN)

    @classmethod
    def resume(cls, path: Path, read: Read, *, mode: int | None = None) -> "Journal":
        """Return a writer that continues a journal that was read; a torn end is removed."""
        n_bytes = read.n_bytes
        if not read.is_marked:
            data = path.read_bytes()
            n_bytes += _BEGIN - _MARKS
            head = _head(data[len(_MAGIC_1) : _MARKS - 1], read.n_frames, n_bytes)
            replace_file(path, [head, data[_MARKS : read.n_bytes]], mode=mode)
        return cls(path, n_frames=read.n_frames, n_bytes=n_bytes, mode=mode)

    @property
    def is_empty(self) -> bool:
        """Whether the journal holds no change."""
        return self._n_frames == 0

    def append(self, changes: Sequence[dict[str, Any]]) -> None:
        """Write changes in one frame; they are on disk when this returns.

        An OSError means that none of them is in the journal, or that it is broken.
        """
        self._append({"changes": list(changes)})

    def note_saved(self, name: str) -> None:
        """Record that the content of this name, not in place yet, has all changes so far."""
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
            self.is_broken = True  # after a failed flush the content of the disk is unknown
            raise
        self.n_bytes += len(frame)
        self._n_frames += 1
        self._mark()

    def _mark(self) -> None:
        """Write a mark of the acknowledged part; an older mark stays true if this one is lost."""
        place = _MARKS + self._n_frames % 2 * _MARK.size
        with suppress(OSError):
            os.pwrite(self._file, _mark(self._n_frames, self.n_bytes), place)

    def _put_back(self) -> None:
        """Write the journal again if it was removed."""
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
        """Remove the written part of a frame that failed."""
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
