"""Tables and columns of pandas, polars and Arrow, known by their methods. Imports none of these."""

from typing import Any

import numpy as np

from fastmks.errors import InvalidArgument

_NUMBERS = "biuf"


def is_table(objects: Any) -> bool:
    """Whether something is a data frame, which iterates over the names of its columns."""
    return hasattr(objects, "columns")


def rows_of(objects: Any) -> Any:
    """Return the rows of a table as tuples; anything else as it is."""
    if hasattr(objects, "itertuples"):  # pandas
        return objects.itertuples(index=False, name=None)
    if hasattr(objects, "iter_rows"):  # polars
        return objects.iter_rows()
    if hasattr(objects, "column_names"):  # Arrow
        return zip(*(column.to_pylist() for column in objects.columns), strict=True)
    return objects


def column_values(objects: Any) -> Any:
    """Return the values of a polars or Arrow column as Python objects; anything else as it is."""
    library = type(objects).__module__.partition(".")[0]
    method = {"polars": "to_list", "pyarrow": "to_pylist"}.get(library, "")
    if is_table(objects) or not hasattr(objects, method):
        return objects
    return getattr(objects, method)()


def read_table(frame: Any, name: str) -> Any:
    """Return a table, or a pandas Series, as an array of numbers; anything else as it is."""
    if hasattr(frame, "iter_rows") or hasattr(frame, "column_names"):  # polars, Arrow
        array = np.asarray(frame)
        if array.dtype.kind not in _NUMBERS:
            names = getattr(frame, "column_names", frame.columns)
            _check_numbers(names, [np.asarray(frame[one]).dtype for one in names], name)
        return array
    if not hasattr(frame, "dtypes") or not hasattr(frame, "to_numpy"):
        return frame
    dtypes = list(np.atleast_1d(np.asarray(frame.dtypes, dtype=object)))
    if not all(hasattr(dtype, "kind") for dtype in dtypes):
        return frame  # not pandas: numpy reads it
    _check_numbers(getattr(frame, "columns", [name]), dtypes, name)
    if all(isinstance(dtype, np.dtype) and dtype.kind != "b" for dtype in dtypes):
        return frame.to_numpy()  # without the detour through objects
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _check_numbers(columns: Any, dtypes: list[Any], name: str) -> None:
    pairs = zip(columns, dtypes, strict=True)
    bad = [str(column) for column, dtype in pairs if dtype.kind not in _NUMBERS]
    if bad:
        raise InvalidArgument(
            f"{name} must be real numbers; these columns are not: {', '.join(bad[:5])}"
            f"{', ...' if len(bad) > 5 else ''}. Drop or encode them first."
        )
