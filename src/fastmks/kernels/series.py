"""Kernels of time series that may run at different speeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from fastmks import _core
from fastmks._util.validation import check_count, check_number
from fastmks.data import Store
from fastmks.data.series import SERIES, SeriesStore, join_series, make_series, restore_series
from fastmks.errors import InvalidArgument
from fastmks.files.record import Record
from fastmks.kernels.object_kernel import NormalizedKernel

_LEAST_BANDWIDTH = 1e-300  # its inverse must be finite
_MOST_TRIANGULAR = 10_000_000


class _SeriesKernel(NormalizedKernel):
    """The base of kernels between time series."""

    kind = SERIES
    store_key = "series"

    def read(self, objects: Any, *, name: str) -> SeriesStore:
        """Return series as a store."""
        return make_series(objects, name=name)

    def read_queries(self, queries: Any, like: Store, *, name: str) -> SeriesStore:
        """Return series of as many channels as a store; a 1-D array of numbers is one query."""
        return make_series(queries, cast(SeriesStore, like), name=name, single=True)

    def join(self, stores: Sequence[Store]) -> SeriesStore:
        """Return the series of several stores in one."""
        return join_series(cast("Sequence[SeriesStore]", stores))

    def restore(self, record: Record) -> SeriesStore:
        """Return the store of series that was recorded."""
        return restore_series(record)


@dataclass(frozen=True, repr=False)
class GlobalAlignment(_SeriesKernel):
    """Cuturi's global alignment kernel of time series: a Mercer kernel in place of time warping.

    The sum, over all ways to align two series from beginning to end, of the product of
    ``v / (2 - v)`` over the aligned times, where ``v = exp(-|x_i - y_j|^2 / (2 bandwidth^2))``. It
    is Mercer, which no kernel from the time-warping distance is. Values grow and
    fall exponentially with length: rank with ``Normalized(GlobalAlignment(...))``, which never
    overflows.

    Objects are a list of arrays, 1-D or (time, channels), of any lengths; a 2-D array holds a
    series in each row.

    Parameters
    ----------
    bandwidth : float
        Positive. A usual choice is a multiple of the median of |x_i - y_j| times the root of the
        median length.
    triangular : int, optional
        T: v is multiplied by ``max(0, 1 - |i - j| / T)``, so that times further apart than T are
        never aligned. Faster, and Mercer as well. Series whose lengths differ by T or more have
        the value 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmks.kernels import GlobalAlignment, Normalized
    >>> kernel = Normalized(GlobalAlignment(bandwidth=1.0))
    >>> beat = np.array([0.0, 0.0, 1.0, 3.0, 1.0, 0.0])
    >>> late, slow = np.roll(beat, 1), np.repeat(beat, 2)
    >>> [round(kernel(beat, other), 3) for other in (beat, late, slow, -beat)]
    [1.0, 0.279, 0.101, 0.0]
    """

    python_example: ClassVar[str] = "GlobalAlignment(bandwidth=1.0)"
    text_example: ClassVar[str] = "globalalignment:bandwidth=1.0"

    bandwidth: float
    triangular: int | None = None

    mercer_columns = math.inf
    is_normalized = False
    value_range = (0.0, math.inf)
    is_expensive = True
    finite_advice = "Use Normalized(GlobalAlignment(...)), which never overflows."

    def __post_init__(self) -> None:
        bandwidth = check_number("bandwidth", self.bandwidth, positive=True)
        if bandwidth < _LEAST_BANDWIDTH:
            raise InvalidArgument(
                f"bandwidth must be at least {_LEAST_BANDWIDTH:g}; got {bandwidth!r}."
            )
        object.__setattr__(self, "bandwidth", bandwidth)
        if self.triangular is not None:
            checked = check_count("triangular", self.triangular, most=_MOST_TRIANGULAR)
            object.__setattr__(self, "triangular", checked)

    def _space(self, store: Store, isa: str, *, is_normalized: bool) -> _core.Space:
        return _core.global_alignment_space(
            cast(SeriesStore, store).core,
            isa,
            self.bandwidth,
            self.triangular or 0,
            is_normalized,
        )
