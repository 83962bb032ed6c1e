"""Tables and columns of pandas, polars and Arrow give the same answers."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from fastmks import Index, InvalidArgument, kernels

FRAMES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "Arrow": pyarrow.table}
COLUMNS = {
    "pandas": pandas.Series,
    "polars": polars.Series,
    "Arrow": pyarrow.array,
    "Arrow chunks": lambda values: pyarrow.chunked_array([values[:1], values[1:]]),
}
NUMBERS = {"x": [1.0, 2.0, 3.0], "y": [1, 5, 2]}
MIXED = {"x": [1.0, 2.0, 3.0], "text": ["abcd", "bcde", "xyzw"]}
frames = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
columns = pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)


def same(index, plain, queries):
    found, wanted = index.search(queries, k=2), plain.search(queries, k=2)
    assert found.values.tolist() == wanted.values.tolist()
    assert found.indices.tolist() == wanted.indices.tolist()


@frames
def test_rows_of_a_table_are_vectors(make):
    rows = np.column_stack(list(NUMBERS.values()))
    for kernel in (kernels.Linear(), kernels.MinMax()):
        same(Index(make(NUMBERS), kernel), Index(rows, kernel), [[1.0, 1.0]])
        same(Index(rows, kernel), Index(rows, kernel), make(NUMBERS))


@frames
def test_rows_of_a_table_are_series(make):
    kernel = kernels.Normalized(kernels.GlobalAlignment(1.0))
    rows = np.column_stack(list(NUMBERS.values()))
    same(Index(make(NUMBERS), kernel), Index(rows, kernel), [[1.0, 1.0]])


@frames
def test_columns_of_a_table_are_fields(make):
    kernel = kernels.OnField(0, kernels.Linear()) + kernels.OnField(1, kernels.Spectrum(2))
    rows = list(zip(*MIXED.values(), strict=True))
    same(Index(make(MIXED), kernel), Index(rows, kernel), [(1.0, "abcd")])
    same(Index(rows, kernel), Index(rows, kernel), make(MIXED))


@frames
def test_functions_get_the_rows_of_a_table(make):
    rows = list(zip(*MIXED.values(), strict=True))

    def alike(x, y):
        return float(x[0] * y[0] + len(set(x[1]) & set(y[1])))

    same(Index(make(MIXED), alike), Index(rows, alike), [(1.0, "abcd")])


@frames
def test_columns_without_numbers_are_named(make):
    with pytest.raises(InvalidArgument, match="these columns are not: text"):
        Index(make(MIXED))
    with pytest.raises(InvalidArgument, match="Pass one of its columns"):
        Index(make(MIXED), kernels.Spectrum(2))


@columns
@pytest.mark.parametrize(
    ("values", "kernel"),
    [
        (["abcd", "bcde", "xyzb"], kernels.Spectrum(1)),
        ([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]], kernels.Linear()),
        ([[1.0, 2.0], [3.0, 4.0, 5.0], [0.0]], kernels.Normalized(kernels.GlobalAlignment(1.0))),
        (["abcd", "bcde", "xyzb"], lambda x, y: float(len(set(x) & set(y)))),
    ],
    ids=["strings", "vectors", "series", "functions"],
)
def test_columns_hold_objects(make, values, kernel):
    same(Index(make(values), kernel), Index(values, kernel), values[:1])
    same(Index(values, kernel), Index(values, kernel), make(values[:2]))


@columns
def test_a_column_of_numbers_is_one_query(make):
    plain = Index([[1.0, 2.0], [3.0, 4.0]])
    assert plain.search(make([1.0, 2.0])).values.tolist() == [[11.0]]
