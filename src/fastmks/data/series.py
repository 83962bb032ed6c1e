"""Time series of one or more channels and any lengths."""

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np

from fastmks import _core
from fastmks._util.arithmetic import own_arithmetic
from fastmks._util.arrays import Array, Floats, Int64s
from fastmks._util.validation import check_unmasked
from fastmks.data.base import Store
from fastmks.data.frames import is_table, read_table
from fastmks.data.kinds import JsonFormat, ObjectKind, Schema, floats, is_of, refuse
from fastmks.data.object_lists import is_sparse, list_objects
from fastmks.data.ragged import join_offsets, offsets_of, take_runs
from fastmks.data.restore_checks import check_kind, restored, restored_offsets
from fastmks.data.strings import FOR_STRINGS
from fastmks.errors import IndexFileError, InvalidArgument
from fastmks.files.record import Record, restoring

_N_DRAWN, _N_PAIRS = 200, 20_000  # examined for a bandwidth


@dataclass(frozen=True, eq=False)
class SeriesStore(Store):
    """Series i has offsets[i + 1] - offsets[i] times; its channels lie one after the other."""

    values: Floats
    offsets: Int64s
    n_channels: int
    core: _core.SeriesStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        core = _core.series_store(self.values, self.offsets, self.n_channels)
        object.__setattr__(self, "core", core)

    def __len__(self) -> int:
        return int(self.offsets.shape[0]) - 1

    @property
    def kind(self) -> str:
        """The objects, in words."""
        return f"series of {self.n_channels} channel{'s' * (self.n_channels != 1)}"

    @property
    def n_bytes(self) -> int:
        """The memory of the numbers and of where each series begins."""
        return self.values.nbytes + self.offsets.nbytes

    def copy(self) -> "SeriesStore":
        """This store: it shares no memory with its input."""
        return SeriesStore(self.values, self.offsets, self.n_channels)

    def take(self, positions: Int64s) -> "SeriesStore":
        """The series at these positions, in this order."""
        bounds, values = take_runs(self.values, self.offsets * self.n_channels, positions)
        return SeriesStore(values, bounds // self.n_channels, self.n_channels)

    def get(self, positions: Int64s) -> list[Array]:
        """The series at these positions: (time,) of one channel, else (time, channels)."""
        bounds = self.offsets * self.n_channels
        parts = [self.values[bounds[i] : bounds[i + 1]] for i in positions.tolist()]
        if self.n_channels == 1:
            return [part.copy() for part in parts]
        return [np.ascontiguousarray(part.reshape(self.n_channels, -1).T) for part in parts]

    def record(self) -> Record:
        """The numbers, and where each series begins."""
        return Record(
            {"kind": "series", "n_channels": self.n_channels},
            {"values": self.values, "offsets": self.offsets},
        )


def join_series(stores: Sequence[SeriesStore]) -> SeriesStore:
    """Return a store of the series of several stores with the same number of channels."""
    return SeriesStore(
        np.concatenate([store.values for store in stores]),
        join_offsets([store.offsets for store in stores]),
        stores[0].n_channels,
    )


def restore_series(record: Record) -> SeriesStore:
    """Return the store of a record."""
    check_kind(record, "series")
    values = restored(record, "values", np.float64)
    n_channels = record.count("n_channels", least=1)
    if len(values) % n_channels or _core.first_not_finite(values) >= 0:
        raise IndexFileError(f"the series must be finite, and of {n_channels} channels.")
    with restoring("the objects"):
        offsets = restored_offsets(record, "offsets", len(values) // n_channels)
        return SeriesStore(values, offsets, n_channels)


def make_series(
    series: Any, like: SeriesStore | None = None, *, name: str, single: bool = False
) -> SeriesStore:
    """Return the store of series, each 1-D or (time, channels), with the channels of `like`.

    A 2-D array is one series of one channel a row, a 3-D array has (series, time, channels). One
    1-D array of numbers is one query where `single`.
    """
    items = _items(series, name, single=single)
    parts = [_read_one(item, f"{name}[{i}]") for i, item in enumerate(items)]
    n_channels = parts[0].shape[0] if parts else 1
    first = f"{name}[0] has"
    if like is not None:
        n_channels, first = like.n_channels, "the objects they are compared with have"
    for i, part in enumerate(parts):
        if part.shape[0] != n_channels:
            raise InvalidArgument(
                f"{name} must have one number of channels; {name}[{i}] has {part.shape[0]}, "
                f"{first} {n_channels}. Series of several channels have the shape "
                "(time, channels)."
            )
    return _pack([part.reshape(-1) for part in parts], n_channels)


def _items(series: Any, name: str, *, single: bool) -> list[Any]:
    if is_table(series):  # one series in each row
        series = read_table(series, name)
    is_flat = getattr(series, "ndim", 0) == 1 and not is_sparse(series)
    is_one = is_flat and len(series) > 0 and _has_numbers(series)
    items = [series] if is_one else list_objects(series, name=name, wanted="a sequence of series")
    if items and isinstance(items[0], (str, bytes)):
        raise InvalidArgument(
            f"{name} must be a sequence of series; {name}[0] is the string {items[0]!r}. "
            f"{FOR_STRINGS}"
        )
    if items and all(map(_is_number, items)):
        items, is_one = [np.asarray(items)], True
    if is_one and not single:
        raise InvalidArgument(
            f"{name} must be a sequence of series; got one series of {len(items[0])} numbers. Put "
            "it in a list."
        )
    return items


def _has_numbers(array: Any) -> bool:
    return getattr(getattr(array, "dtype", None), "kind", "O") in "biuf"


def _is_number(item: Any) -> bool:
    is_scalar = isinstance(item, (np.generic, np.ndarray)) and item.ndim == 0
    if np.ma.is_masked(item):
        return False
    return isinstance(item, Number) or (is_scalar and _has_numbers(item))


def _read_one(item: Any, name: str) -> Floats:
    """Return a series as (channels, time), checked."""
    check_unmasked(item, name)
    try:
        array = np.asarray(item)
    except Exception as error:
        # numpy calls methods of foreign objects, which may raise anything.
        raise InvalidArgument(f"{name} cannot be read as an array: {error}") from error
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        seen = f"dtype {array.dtype}, shape {array.shape}" if array.ndim else reprlib.repr(item)
        raise InvalidArgument(
            f"{name} must be a series of real numbers, 1-D or (time, channels); got {seen}."
        )
    if array.size == 0:
        raise InvalidArgument(
            f"{name} must hold at least one number; got an empty series, shape {array.shape}."
        )
    columns = array.reshape(len(array), -1)
    with own_arithmetic():  # longdouble beyond float64: infinite, and refused below
        values = np.ascontiguousarray(columns.T, dtype=np.float64)
    if not np.isfinite(values).all():
        channel, time = np.argwhere(~np.isfinite(values))[0]
        at = f"[{time}, {channel}]" if array.ndim == 2 else f"[{time}]"
        raise InvalidArgument(
            f"{name} must be finite; {name}{at} is {values[channel, time]}. Drop or fill such "
            "entries first."
        )
    return values


def _pack(parts: list[Floats], n_channels: int) -> SeriesStore:
    offsets = offsets_of([len(part) // n_channels for part in parts])
    return SeriesStore(np.concatenate([*parts, np.zeros(0)]), offsets, n_channels)


def _read_series(value: Any, name: str) -> Any:
    rule = "an array of numbers, or one of arrays of as many numbers each, a channel for each"
    if is_of(value, int, float) and value:
        return floats(value, name)
    is_rows = is_of(value, list) and value and all(is_of(row, int, float) for row in value)
    if is_rows and value[0] and len(set(map(len, value))) == 1:
        return floats(value, name)
    raise refuse(name, rule, value)


@own_arithmetic()
def suggest_bandwidth(series: Sequence[Any]) -> float:
    """Return the median distance of drawn values, multiplied by the root of the median length.

    Examples
    --------
    >>> suggest_bandwidth([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    2.0
    """
    rng = np.random.default_rng(0)
    n = len(series)
    drawn = [np.asarray(series[i]) for i in rng.choice(n, min(n, _N_DRAWN), replace=False)]
    length = float(np.median([len(one) for one in drawn]))
    pairs = rng.integers(0, len(drawn), size=(_N_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]] if len(drawn) > 1 else pairs
    places = rng.random((len(pairs), 2))
    distances = [
        math.dist(
            np.atleast_1d(drawn[i][int(u * len(drawn[i]))]),
            np.atleast_1d(drawn[j][int(v * len(drawn[j]))]),
        )
        for (i, j), (u, v) in zip(pairs.tolist(), places.tolist(), strict=True)
    ]
    bandwidth = float(np.median(distances)) * length**0.5
    return float(f"{bandwidth:.3g}") or 1.0


_NUMBERS: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 1}
_JSON = JsonFormat(
    "series",
    {"oneOf": [_NUMBERS, {"type": "array", "items": _NUMBERS, "minItems": 1}]},
    _read_series,
    lambda one: np.asarray(one).tolist(),
    sizes=("steps",),
)
SERIES = ObjectKind(
    "time series",
    lambda _: _JSON,
    in_files="series",
    file_kernel=lambda series: (
        f"normalized:globalalignment:bandwidth={suggest_bandwidth(series)!r}"
    ),
)
