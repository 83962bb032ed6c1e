"""Time series of the UCR and UEA archives: .tsv files with a label first, and .ts files."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from fastmks._util.arrays import Floats
from fastmks.errors import InvalidArgument
from fastmks.inputs.chunks import Chunk, Opened, Reading, batches
from fastmks.inputs.headers import is_count, open_header
from fastmks.inputs.streams import Stream


def open_ucr(stream: Stream, reading: Reading) -> Opened:
    """Open a file of time series; labels are skipped, and so are NaN after the end of one."""
    first = next(iter(stream.first_lines(1)), "")
    if first.lstrip().startswith(("@", "#")):
        series = _ts_series(stream.lines(), stream.name)
    else:
        series = _tsv_series(stream.lines(), stream.name, reading.header)
    chunks = (Chunk(batch, None) for batch in batches(series, reading.block))
    return Opened("series", chunks, has_header=reading.header)


def _tsv_series(
    lines: Iterable[tuple[int, str]], file: str, has_header: bool | None
) -> Iterator[Floats]:
    is_first = True
    for number, line in lines:
        if not line.strip():
            continue
        delimiter = "\t" if "\t" in line else "," if "," in line else None
        label, *fields = line.strip().split(delimiter)
        if is_first and has_header is None and is_count([label, *fields]):
            raise open_header([label, *fields], file)
        if not (is_first and has_header):
            yield _numbers(fields, f"{file}, line {number}")
        is_first = False


@dataclass
class _Header:
    """The facts in the lines before @data."""

    has_label: bool = False
    has_times: bool = False


def _ts_series(lines: Iterable[tuple[int, str]], file: str) -> Iterator[Floats]:
    header, is_data = _Header(), False
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if is_data:
            yield _ts_line(text, header, f"{file}, line {number}")
        elif text.lower() == "@data":
            is_data = True
        elif text.startswith("@"):
            _note(text.lower().split(), header)
        else:
            raise InvalidArgument(f"{file}, line {number}: series come after a line '@data'.")
    if not is_data:
        raise InvalidArgument(f"{file} has no line '@data', after which series come.")


def _note(words: list[str], header: _Header) -> None:
    is_true = len(words) > 1 and words[1] == "true"
    if words[0] in ("@classlabel", "@targetlabel"):
        header.has_label = header.has_label or is_true
    elif words[0] == "@timestamps":
        header.has_times = is_true


def _ts_line(text: str, header: _Header, place: str) -> Floats:
    """Return (time,) of one channel, else (time, channels)."""
    if header.has_times or text.startswith("("):
        raise InvalidArgument(f"{place}: series with time stamps are not read; resample them.")
    parts = text.split(":")
    if header.has_label and len(parts) > 1:
        parts.pop()
    channels = [_numbers(part.split(","), place) for part in parts]
    if len({len(channel) for channel in channels}) > 1:
        lengths = ", ".join(str(len(channel)) for channel in channels)
        raise InvalidArgument(
            f"{place}: channels of one series must have one length; got {lengths}."
        )
    return channels[0] if len(channels) == 1 else np.stack(channels, axis=1)


def _numbers(fields: list[str], place: str) -> Floats:
    try:
        numbers = np.array([float("nan" if f.strip() == "?" else f) for f in fields])
    except ValueError as error:
        raise InvalidArgument(f"{place}: a series is made of numbers ({error}).") from error
    missing = np.isnan(numbers)
    n_kept = len(numbers) - int(missing[::-1].cumprod().sum())
    if n_kept == 0:
        raise InvalidArgument(f"{place}: the series holds no number.")
    bad = np.flatnonzero(~np.isfinite(numbers[:n_kept]))
    if len(bad):
        raise InvalidArgument(
            f"{place}: number {bad[0] + 1} of the series is {fields[bad[0]].strip()}; fill gaps "
            "first."
        )
    return numbers[:n_kept]
