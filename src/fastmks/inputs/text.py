"""Strings: one a line, or the sequences of FASTA files."""

from collections.abc import Iterator

from fastmks.data.fasta import fasta_records
from fastmks.errors import InvalidArgument
from fastmks.inputs.chunks import Chunk, Opened, Reading, batches
from fastmks.inputs.streams import Stream


def open_lines(stream: Stream, reading: Reading) -> Opened:
    """Open a text file: each line is an object, empty ones too, without the end of the line."""
    strings = (line for _, line in stream.lines())
    return Opened("strings", (Chunk(batch, None) for batch in batches(strings, reading.block)))


def open_fasta(stream: Stream, reading: Reading) -> Opened:
    """Open a FASTA file: sequences, and their names as ids."""
    chunks = _sequences(stream, reading)
    return Opened("strings", chunks, ids_from="names" if reading.has_ids else None)


def _sequences(stream: Stream, reading: Reading) -> Iterator[Chunk]:
    seen: dict[str, int] | None = {} if reading.chunk is None and reading.has_ids else None
    for batch in batches(fasta_records(stream.lines(), stream.name), reading.block):
        if seen is not None:
            _check_new(batch, seen, stream.name)
        names = [name for name, _, _ in batch] if reading.has_ids else None
        yield Chunk([sequence for _, _, sequence in batch], names)


def _check_new(records: list[tuple[str, int, str]], seen: dict[str, int], file: str) -> None:
    """Refuse a name that was given before, where the file is read whole; chunks may repeat one."""
    for name, line, _ in records:
        if name in seen:
            raise InvalidArgument(
                f"{file}, line {line}: the name {name!r} was given on line {seen[name]} already. "
                "Names are ids, so each must be unique: rename or drop one of the two."
            )
        seen[name] = line
