"""Arrays of numpy and sparse matrices of scipy: .npy and .npz files."""

import math
import sys
import zipfile
from collections.abc import Iterator
from tokenize import TokenError
from typing import IO, Any

import numpy as np

from fastmks._util.arrays import Array
from fastmks._util.validation import import_extra
from fastmks.errors import InvalidArgument
from fastmks.inputs.chunks import Chunk, Opened, Reading
from fastmks.inputs.streams import Stream

_IDS = "ids"  # the array of an .npz file with the ids of the objects
_SPARSE = "indptr"  # an array of sparse matrices only
# The errors of numpy for wrong headers, which are Python expressions.
_FAULTS = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, SyntaxError),
    *(TokenError, TypeError, ValueError, Warning),
)


def open_npy(stream: Stream, reading: Reading) -> Opened:
    """Open an .npy file of any size: rows are read in chunks."""
    array = _Rows(stream.file, stream.name)
    return Opened(array.kind, array.chunks(reading.chunk), array.n_rows, array.n_columns)


def open_npz(stream: Stream, reading: Reading) -> Opened:
    """Open an .npz file: a sparse matrix of scipy, or an array, with or without one of ids."""
    try:
        archive = zipfile.ZipFile(stream.seekable())
    except zipfile.BadZipFile as error:
        raise InvalidArgument(f"{stream.name} is no .npz file ({error}).") from error
    files = [name for name in archive.namelist() if name.endswith(".npy")]
    if not files:
        raise InvalidArgument(f"{stream.name} is no .npz file: it holds no arrays.")
    names = [name.removesuffix(".npy") for name in files]
    if _SPARSE in names:
        return _open_sparse(archive, stream.name, reading)
    chosen = _choose(names, reading.columns, stream.name)
    array = _Rows(archive.open(f"{chosen}.npy"), f"{stream.name}, array {chosen!r}")
    ids = None
    if reading.has_ids and _IDS in names:
        ids = _read_ids(archive, stream.name, array.n_rows)
    return Opened(
        array.kind,
        _named_rows(array.chunks(reading.chunk), ids),
        array.n_rows,
        array.n_columns,
        ids_from=None if ids is None else f"the array {_IDS!r}",
    )


def _choose(names: list[str], columns: tuple[str, ...] | None, file: str) -> str:
    others = [name for name in names if name != _IDS]
    if columns is not None and len(columns) == 1 and columns[0] in others:
        return columns[0]
    if columns is None and len(others) == 1:
        return others[0]
    got = "" if columns is None else f"; got {', '.join(columns)}"
    example = others[0] if others else "name"
    raise InvalidArgument(
        f"{file} holds the arrays {', '.join(names) or '(none)'}: choose the one with the objects, "
        f"as in columns=[{example!r}]{got}."
    )


def _read_ids(archive: zipfile.ZipFile, file: str, n_rows: int) -> Array:
    (chunk,) = _Rows(archive.open(f"{_IDS}.npy"), f"{file}, array 'ids'", most_axes=1).chunks(None)
    ids: Array = np.asarray(chunk.objects)
    if len(ids) != n_rows or ids.dtype.kind not in "iuU":
        raise InvalidArgument(
            f"{file}: the array 'ids' must hold a whole number or a string for each of the "
            f"{n_rows} objects; got {len(ids)} of type {ids.dtype}."
        )
    return ids


def _named_rows(chunks: Iterator[Chunk], ids: Array | None) -> Iterator[Chunk]:
    done = 0
    for chunk in chunks:
        n = len(chunk.objects)
        yield chunk if ids is None else Chunk(chunk.objects, ids[done : done + n])
        done += n


def _open_sparse(archive: zipfile.ZipFile, file: str, reading: Reading) -> Opened:
    """Open a sparse matrix: read whole, then cut, since its arrays lie one after the other."""
    sparse = import_extra("scipy.sparse", extra="sparse", needed_by=f"reading {file}")
    try:
        loaded = sparse.load_npz(archive.fp)
        if hasattr(loaded, "check_format"):  # else wrong indices read outside arrays
            loaded.check_format(full_check=True)
        matrix = loaded.tocsr()
    except _FAULTS as error:
        raise InvalidArgument(
            f"{file} is no sparse matrix that scipy saved ({str(error)[:200]})."
        ) from error
    n_rows = int(matrix.shape[0])
    size = reading.chunk or max(1, n_rows)
    chunks = (Chunk(matrix[begin : begin + size], None) for begin in range(0, n_rows, size))
    return Opened("vectors", chunks, n_rows, int(matrix.shape[1]))


class _Rows:
    """The rows of an .npy file whose header was read."""

    def __init__(self, file: IO[bytes], name: str, *, most_axes: int = 3) -> None:
        self._file, self._name = file, name
        self.shape, self._is_fortran, self.dtype = self._header()
        n_axes = len(self.shape)
        is_text = self.dtype.kind in "US" and n_axes == 1
        if not is_text and not (self.dtype.kind in "biuf" and (n_axes > 1 or most_axes == 1)):
            raise InvalidArgument(
                f"{name} must hold numbers, one object a row, or one string each; got an array of "
                f"shape {self.shape} of {self.dtype}.{self._way_out()}"
            )
        if n_axes > most_axes:
            raise InvalidArgument(f"{name} must have at most {most_axes} axes; got {self.shape}.")
        if 0 in self.shape[1:] or self.dtype.itemsize == 0:
            raise InvalidArgument(
                f"{name} must hold objects of at least one number or character; got an array of "
                f"shape {self.shape} of {self.dtype.str}."
            )

    def _way_out(self) -> str:
        if self.dtype.kind == "O":
            return " Objects of Python are not read: save numbers, with array.astype(float)."
        return _ROW if len(self.shape) == 1 and self.dtype.kind in "biuf" else ""

    @property
    def n_columns(self) -> int | None:
        """The numbers of each row, where rows are vectors."""
        return self.shape[1] if self.kind == "vectors" and len(self.shape) == 2 else None

    @property
    def n_rows(self) -> int:
        """The length of the first axis."""
        return self.shape[0]

    @property
    def kind(self) -> str:
        """strings or vectors; series where the array has three axes."""
        if self.dtype.kind in "US":
            return "strings"
        return "series" if len(self.shape) == 3 else "vectors"

    def chunks(self, size: int | None) -> Iterator[Chunk]:
        """Yield rows; all at once where they lie by columns."""
        if self._is_fortran:
            whole = self._read(self.shape[::-1]).T
            step = size or max(1, self.n_rows)
            self._check_end()
            for begin in range(0, self.n_rows, step):
                yield self._chunk(np.ascontiguousarray(whole[begin : begin + step]))
            return
        left = self.n_rows
        while left:
            n = min(left, size or left)
            yield self._chunk(self._read((n, *self.shape[1:])))
            left -= n
        self._check_end()

    def _check_end(self) -> None:
        """Read to the end, where the checksums of compressed files are checked."""
        if self._file.read(1):
            raise InvalidArgument(f"{self._name} has bytes after its array.")

    def _chunk(self, array: Array) -> Chunk:
        if self.kind != "strings":
            return Chunk(array, None)
        if self.dtype.kind == "U":  # numpy does not check its characters
            codes = array.view(f"{self.dtype.str[0]}u4")
            if codes.max(initial=0) > sys.maxunicode:
                raise InvalidArgument(
                    f"{self._name} must hold strings of Unicode characters; got one with the code "
                    f"{codes.max()}, where the greatest is {sys.maxunicode}."
                )
        return Chunk(array.tolist(), None)

    def _header(self) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        try:
            version = np.lib.format.read_magic(self._file)
            if version not in readers:
                raise ValueError(f"version {version} of the format")
            shape, is_fortran, dtype = readers[version](self._file)
            if any(isinstance(size, bool) or size < 0 for size in shape):
                raise ValueError(f"an array of shape {shape}")
        except _FAULTS as error:
            raise InvalidArgument(f"{self._name} is no .npy file ({str(error)[:200]}).") from error
        return shape, is_fortran and len(shape) > 1, dtype

    def _read(self, shape: tuple[int, ...]) -> Array:
        """Return the next numbers, read in pieces, since the size in a header may be wrong."""
        n_bytes = math.prod(shape) * self.dtype.itemsize
        content = bytearray()
        while len(content) < n_bytes:
            piece = self._file.read(min(2**24, n_bytes - len(content)))
            if not piece:
                raise InvalidArgument(
                    f"{self._name} is cut: it ends {n_bytes - len(content)} bytes too early."
                )
            content += piece
        return np.frombuffer(content, dtype=self.dtype).reshape(shape)


_ROW = " One vector has the shape (1, n): save array.reshape(1, -1)."
