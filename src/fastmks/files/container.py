"""One file, or bytes, of a `Record`: written as a whole, mapped or read, and verified."""

import errno
import mmap as memory
import os
import stat
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from fastmks._util.arrays import Array, Bytes
from fastmks._util.fork_safe import Lock
from fastmks._util.progress import Progress
from fastmks._util.validation import check_threads
from fastmks.errors import IndexFileError
from fastmks.files.atomic import optional_flags, replace_file
from fastmks.files.header import ALIGNMENT, BLOCK, Layout, make_header, read_layout
from fastmks.files.record import Record

_BLOCKS_AT_ONCE = 16  # blocks that a thread checks before it can be stopped
_SEEKING = threading.Lock()

_Piece: TypeAlias = "bytes | memoryview"


class Container:
    """A record in the bytes of a file; only its header was checked.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from fastmks.files.container import open_record, write_record
    >>> from fastmks.files.record import Record
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     write_record(file.name, Record({"unit": "m"}, {"lengths": np.array([2.0, 3.0])}))
    ...     container = open_record(file.name, mmap=True)
    >>> container.record.arrays["lengths"]
    array([2., 3.])
    >>> container.verify()
    >>> container.is_verified
    True
    """

    def __init__(self, name: str, layout: Layout, data: Bytes, *, is_verified: bool) -> None:
        self._name = name
        self._layout = layout
        self._data = data
        self._lock = Lock(name, "is being verified by this thread.")
        self._is_verified = is_verified
        arrays = {
            key: data[entry.begin : entry.end].view(entry.dtype).reshape(entry.shape)
            for key, entry in layout.entries.items()
        }
        self.record = Record(layout.facts, arrays)

    @property
    def n_bytes(self) -> int:
        """The length of the file without its checksums."""
        return self._layout.covered

    @property
    def is_verified(self) -> bool:
        """Whether every byte was compared with its checksum."""
        return self._is_verified

    def verify(self, *, progress: Progress | None = None, threads: int | None = None) -> None:
        """Compare all blocks with their checksums, once; a damaged one is an `IndexFileError`."""
        if self._is_verified:
            return
        with self._lock.alone():
            if not self._is_verified:
                data = self._data.data
                _check_blocks(
                    self._layout,
                    lambda begin, end: data[begin:end],
                    self._name,
                    progress=progress or Progress(False),
                    threads=check_threads(threads),
                )
                _check_bools(self.record, self._name)
                self._is_verified = True


def write_record(path: str | os.PathLike[str], record: Record, *, mode: int | None = None) -> None:
    """Write a record to a file, which is replaced as a whole or not at all.

    Takes almost no memory beside the record. A failure is an OSError and leaves an old file
    unchanged. The mode is that of the old file when not given.
    """
    replace_file(path, _pieces(record), mode=mode)


def to_bytes(record: Record) -> bytes:
    """Return the bytes that `write_record` would write."""
    return b"".join(_pieces(record))


def from_bytes(data: bytes) -> Record:
    """Return the record of bytes that `to_bytes` returned, verified."""
    container = container_of(data, "what was pickled")
    container.verify()
    return container.record


def container_of(data: bytes, name: str) -> Container:
    """Return the container in the bytes of a file, in memory; errors call it `name`."""
    _check_byte_order()
    layout = read_layout(lambda begin, end: bytes(data[begin:end]), len(data), name)
    array = np.frombuffer(data, dtype=np.uint8)
    if array.ctypes.data % ALIGNMENT:
        array = _aligned(len(data))
        array[:] = np.frombuffer(data, dtype=np.uint8)
    array.flags.writeable = False
    return Container(name, layout, array, is_verified=False)


def open_record(path: str | os.PathLike[str], *, mmap: bool) -> Container:
    """Return the container in a file that `write_record` has written.

    With `mmap` its arrays are mapped: they take no memory until they are used, processes share
    that memory, and only the header has been verified. Without, everything is read and verified.
    The file may be replaced meanwhile, as `write_record` does, but must not be changed in place:
    a mapped file that is truncated ends the process.
    """
    _check_byte_order()
    name = os.fspath(path)
    # A pipe must not block.
    flags = os.O_RDONLY | optional_flags("O_CLOEXEC", "O_NONBLOCK", "O_BINARY")
    file = os.open(name, flags)
    try:
        status = os.fstat(file)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if not stat.S_ISREG(status.st_mode):
            raise IndexFileError(f"{name} is not a fastmks index: it is not a regular file.")
        layout = read_layout(lambda begin, end: _read(file, begin, end, name), status.st_size, name)
        if mmap:
            return Container(name, layout, _map(file, status.st_size, name), is_verified=False)
        data = _read_all(file, layout, name)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from error
    finally:
        os.close(file)
    container = Container(name, layout, data, is_verified=True)
    _check_bools(container.record, name)
    return container


def _check_byte_order() -> None:
    if sys.byteorder != "little":
        raise NotImplementedError("files of fastmks need a little-endian machine; this one is not.")


def _pieces(record: Record) -> Iterator[_Piece]:
    """Yield the bytes of a file from its beginning to its end."""
    _check_byte_order()
    header, parts = make_header(record)
    checksums = _Checksums()
    yield checksums.add(header)
    for part in parts:
        for piece in [part] if isinstance(part, bytes) else _array_pieces(part):
            yield checksums.add(piece)
    yield checksums.end()


def _array_pieces(array: Array) -> Iterator[_Piece]:
    """Yield the entries of an array in C order, copying at most a little of it."""
    dtype = array.dtype.newbyteorder("<")
    if array.flags.c_contiguous and array.dtype == dtype:
        data = array.reshape(-1).view(np.uint8).data
        yield from (data[begin : begin + BLOCK] for begin in range(0, len(data), BLOCK))
        return
    chunks = np.nditer(
        array,
        flags=["external_loop", "buffered", "zerosize_ok"],
        order="C",
        op_dtypes=[dtype],
        buffersize=BLOCK // dtype.itemsize,
    )
    for chunk in chunks:
        yield np.asarray(chunk).tobytes()  # the iterator reuses its memory


class _Checksums:
    """The checksums of blocks of bytes that come in pieces of any length."""

    def __init__(self) -> None:
        self._finished: list[int] = []
        self._checksum = 0
        self._length = 0  # of the block so far

    def add(self, piece: _Piece) -> _Piece:
        """Return the piece, after adding it to the checksums."""
        view = memoryview(piece)
        while len(view):
            part = view[: BLOCK - self._length]
            self._checksum = zlib.crc32(part, self._checksum)
            self._length += len(part)
            if self._length == BLOCK:
                self._finish()
            view = view[len(part) :]
        return piece

    def end(self) -> bytes:
        """Return all checksums, and that of themselves."""
        if self._length:
            self._finish()
        text = np.array(self._finished, dtype="<u4").tobytes()
        return text + zlib.crc32(text).to_bytes(4, "little")

    def _finish(self) -> None:
        self._finished.append(self._checksum)
        self._checksum = self._length = 0


def _check_blocks(
    layout: Layout,
    load: Callable[[int, int], memoryview],
    name: str,
    *,
    progress: Progress,
    threads: int,
) -> None:
    """Refuse a file of which a block differs from its checksum; the first such block is named."""
    from concurrent.futures import ThreadPoolExecutor  # here, since the import takes time

    n_blocks = len(layout.checksums)

    def first_damaged(begin: int) -> int | None:
        numbers = range(begin, min(n_blocks, begin + _BLOCKS_AT_ONCE))
        return next((n for n in numbers if not layout.is_whole(n, load(*layout.block(n)))), None)

    begins = range(0, n_blocks, _BLOCKS_AT_ONCE)
    n_threads = min(threads, len(begins))
    pool = ThreadPoolExecutor(n_threads)
    found = (pool.map if n_threads > 1 else map)(first_damaged, begins)
    try:
        with progress.bar(layout.covered, unit="B") as report:
            for begin, damaged in zip(begins, found, strict=True):
                if damaged is not None:
                    raise layout.damage(damaged, name)
                if report is not None:
                    report(min(layout.covered, (begin + _BLOCKS_AT_ONCE) * BLOCK))
    finally:
        pool.shutdown(cancel_futures=True)


def _check_bools(record: Record, name: str) -> None:
    """Refuse bools that are neither 0 nor 1: compiled code does not define their value."""
    for key, array in record.arrays.items():
        if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
            raise IndexFileError(f"the array {key!r} of {name} has bools that are neither 0 nor 1.")


def _read_all(file: int, layout: Layout, name: str) -> Bytes:
    """Return all arrays in new memory, verified while they are read."""
    data = _aligned(layout.covered)
    view = data.data
    _check_blocks(
        layout,
        lambda begin, end: _read_into(file, begin, view[begin:end], name),
        name,
        progress=Progress(False),
        threads=check_threads(None),
    )
    data.flags.writeable = False
    return data


def _read(file: int, begin: int, end: int, name: str) -> bytes:
    return bytes(_read_into(file, begin, memoryview(bytearray(end - begin)), name))


def _read_into(file: int, begin: int, view: memoryview, name: str) -> memoryview:
    """Fill memory from a file, and return it."""
    done = 0
    while done < len(view):
        count = _read_at(file, begin + done, view[done:])
        if count == 0:
            raise _cut_meanwhile(name)
        done += count
    return view


def _read_at(file: int, begin: int, view: memoryview) -> int:
    """Read from a place in a file, in one of several threads, and return the number of bytes."""
    if hasattr(os, "preadv"):
        return os.preadv(file, [view], begin)
    with _SEEKING:  # Windows has one place for all
        os.lseek(file, begin, os.SEEK_SET)
        data = os.read(file, len(view))
    view[: len(data)] = data
    return len(data)


def _cut_meanwhile(name: str) -> IndexFileError:
    return IndexFileError(f"{name} has become shorter while it was read.")


def _map(file: int, size: int, name: str) -> Bytes:
    """Return the map of a file. Before Python 3.13 it keeps a file descriptor of its own."""
    try:
        if sys.version_info >= (3, 13):
            mapped = memory.mmap(file, size, access=memory.ACCESS_READ, trackfd=False)
        else:
            mapped = memory.mmap(file, size, access=memory.ACCESS_READ)
    except ValueError:
        raise _cut_meanwhile(name) from None
    return np.frombuffer(mapped, dtype=np.uint8)


def _aligned(size: int) -> Bytes:
    """Return memory with the alignment of arrays in a file."""
    memory = np.empty(size + ALIGNMENT, dtype=np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin : begin + size]
