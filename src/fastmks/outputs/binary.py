"""Answers as arrays: Parquet, a row group for each chunk, and .npz, spooled to disk."""

import io
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, cast

import numpy as np

from fastmks._util.arrays import Array
from fastmks._util.validation import import_extra
from fastmks.index.ids import is_text
from fastmks.outputs.answers import Answers, no_utf8


class _Sink(io.RawIOBase):
    """A file for a writer, whose bytes are read back in pieces."""

    def __init__(self) -> None:
        self._held, self._n_bytes = list[bytes](), 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Keep a copy."""
        piece = bytes(data)
        self._held.append(piece)
        self._n_bytes += len(piece)
        return len(piece)

    def tell(self) -> int:
        """The number of bytes so far."""
        return self._n_bytes

    def drain(self) -> bytes:
        """Return the bytes written since the last call."""
        piece = b"".join(self._held)
        self._held.clear()
        return piece


def parquet_pieces(chunks: Iterable[Answers]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file, with the columns of `Answers`.

    Examples
    --------
    >>> import fastmks, io
    >>> from fastmks.outputs import answers_of
    >>> from pyarrow import parquet
    >>> hits = fastmks.Index([[0.1]]).search([[3.0]])
    >>> content = b"".join(parquet_pieces([answers_of(hits, ["q"])]))
    >>> parquet.read_table(io.BytesIO(content)).column("value").to_pylist()
    [0.30000000000000004]
    """
    pyarrow = import_extra("pyarrow", extra="arrow", needed_by="writing Parquet")
    from pyarrow import parquet

    sink, writer = _Sink(), None
    try:
        for answers in chunks:
            columns = _columns(pyarrow, answers)
            if writer is None:
                fields = [(name, _type(pyarrow, answers, name, columns)) for name in columns]
                writer = parquet.ParquetWriter(sink, pyarrow.schema(fields))
            writer.write_table(pyarrow.table(columns, schema=writer.schema))
            yield sink.drain()
    finally:
        if writer is not None:
            writer.close()
    yield sink.drain()


def _columns(pyarrow: Any, answers: Answers) -> dict[str, Any]:
    try:
        return {
            name: pyarrow.array(column.tolist() if is_text(column) else column)
            for name, column in answers.columns().items()
        }
    except UnicodeEncodeError as error:
        raise no_utf8(answers, "Parquet") from error


def _type(pyarrow: Any, answers: Answers, name: str, columns: dict[str, Any]) -> Any:
    """Return the type of a column, also of one without hits."""
    named = {"query": answers.queries, "id": answers.ids}
    if name in named:
        return pyarrow.string() if is_text(named[name]) else pyarrow.int64()
    return columns[name].type


class _Spool:
    """An array that grows on disk, and is written as a whole when its length is known."""

    def __init__(self) -> None:
        self._file = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115, until `pieces`
        self._parts: list[tuple[np.dtype[Any], int]] = []

    def add(self, array: Array) -> None:
        """Append an array; strings of Python become numpy strings, which need no pickle."""
        array = array.astype(str) if array.dtype.kind == "O" else array
        self._file.write(np.ascontiguousarray(array).tobytes())
        self._parts.append((array.dtype, len(array)))

    def pieces(self, k: int | None) -> Iterator[bytes]:
        """Yield an .npy file of all that was added, in rows of k where given."""
        dtype = np.result_type(*(dtype for dtype, _ in self._parts))
        n = sum(size for _, size in self._parts)
        header = io.BytesIO()
        np.lib.format.write_array_header_2_0(
            header,
            {
                "descr": np.lib.format.dtype_to_descr(dtype),
                "fortran_order": False,
                "shape": (n,) if k is None else (n // k, k),
            },
        )
        yield header.getvalue()
        self._file.seek(0)
        for own, size in self._parts:
            array = np.frombuffer(self._file.read(own.itemsize * size), dtype=own)
            yield array.astype(dtype, copy=False).tobytes()

    def close(self) -> None:
        """Free the space on disk."""
        self._file.close()


def npz_pieces(chunks: Iterable[Answers]) -> Iterator[bytes]:
    """Yield the bytes of an .npz file: ``queries``, ``ids``, ``values`` and so on, as in `Hits`.

    Where all queries have the same number of hits, ids and values have a row for each query; else
    ``offsets`` says where those of each query begin. Reading it needs no pickle.

    Examples
    --------
    >>> import fastmks, io, numpy as np
    >>> from fastmks.outputs import answers_of
    >>> hits = fastmks.Index([[0.1], [2.0]]).search([[3.0]], k=2)
    >>> np.load(io.BytesIO(b"".join(npz_pieces([answers_of(hits, ["q"])]))))["values"]
    array([[6. , 0.3]])
    """
    spools: dict[str, _Spool] = {}
    k, n_hits = None, 0
    try:
        for answers in chunks:
            k = answers.k
            arrays = {"queries": answers.queries, "ids": answers.ids, "values": answers.values}
            if k is None:
                begins = answers.offsets[1:] + n_hits
                arrays["offsets"] = begins if n_hits or spools else np.append([0], begins)
            if answers.gap is not None and answers.proven is not None:
                arrays |= {"gap": answers.gap, "proven": answers.proven}
            for name, array in arrays.items():
                if name not in spools:
                    spools[name] = _Spool()
                spools[name].add(array)
            n_hits += len(answers.values)
            yield b""
        yield from _archive(spools, k)
    finally:
        for spool in spools.values():
            spool.close()


def _archive(spools: dict[str, _Spool], k: int | None) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(cast("IO[bytes]", sink), "w", zipfile.ZIP_STORED) as archive:
        for name, spool in spools.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                for piece in spool.pieces(k if name in ("ids", "values", "proven") else None):
                    member.write(piece)
                    yield sink.drain()
    yield sink.drain()
