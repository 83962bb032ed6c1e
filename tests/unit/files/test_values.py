"""Plain values for files: each comes back with its type, and equal where it was equal."""

import contextlib
import datetime
import enum
import math
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastmks import IndexFileError, InvalidArgument
from fastmks.files.container import from_bytes, to_bytes
from fastmks.files.record import Record
from fastmks.files.values import from_plain, to_plain

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)  # surrogates too
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**80), 2**80),
    st.floats(allow_nan=False),
    TEXT,
    st.binary(max_size=8),
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=4),
    max_leaves=10,
)
LISTS = st.one_of(
    st.lists(VALUES, max_size=12),
    st.lists(TEXT),
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.binary()),
)


def through_file(values):
    return from_plain(from_bytes(to_bytes(to_plain(values))))


def described(value):
    """Tell 1, 1.0 and True apart, also within tuples, and 0.0 from -0.0."""
    if isinstance(value, tuple):
        return ("tuple", [described(item) for item in value])
    if isinstance(value, frozenset):
        return ("frozenset", sorted((described(item) for item in value), key=repr))
    return (type(value).__name__, hex(value) if isinstance(value, int) else repr(value))


@given(LISTS)
@example([1, 1.0, True, "1", b"1", (1,), (1.0,), (True,), frozenset({1}), None])
@example(["\ud800", "\udc00", "\ud800\udc00", "\U00010000"])
@example([("\ud800\udc00",), ("\U00010000",)])
@example([0.0, -0.0, math.inf, -math.inf, 5e-324])
@example([2**63, -(2**63) - 1, 10**5000, -(10**5000)])
@example([])
@example(["", "", b"", (), frozenset()])
def test_comes_back_as_it_was(values):
    back = through_file(values)
    assert back == values
    assert [described(value) for value in back] == [described(value) for value in values]
    assert [hash(value) for value in back] == [hash(value) for value in values]
    assert to_bytes(to_plain(back)) == to_bytes(to_plain(values))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.int64(3), 3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.int8(-1), -1),
        (np.float64(0.1), 0.1),
        (np.float32(0.1), 0.10000000149011612),
        (np.float16(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("é"), "é"),
        (np.bytes_(b"x"), b"x"),
        ((np.int64(3), (np.str_("a"),)), (3, ("a",))),
        (frozenset({np.int64(3)}), frozenset({3})),
    ],
)
def test_numpy_scalars_are_what_they_equal(given, expected):
    (back,) = through_file([given])
    assert described(back) == described(expected)
    assert back == given
    assert hash(back) == hash(given)


class Colour(enum.IntEnum):
    RED = 1


class Name(str):
    __slots__ = ()


def nested(depth):
    value = ()
    for _ in range(depth):
        value = (value,)
    return value


@pytest.mark.parametrize(
    "value",
    [
        1j,
        math.nan,
        np.float64("nan"),
        (1, math.nan),
        object(),
        Colour.RED,
        Name("x"),
        namedtuple("Pair", "a b")(1, 2),
        datetime.date(2020, 1, 1),
        np.datetime64("2020-01-01"),
        np.timedelta64(3, "ns"),
        np.longdouble(0.1),
        np.complex64(1),
        Decimal(1),
        Fraction(1, 2),
        len,
        (1, (2, Colour.RED)),
        nested(40),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_plain_is_refused_by_name(value):
    with pytest.raises(InvalidArgument, match=r"^labels must be None, .*to be saved; got .*Use a"):
        to_plain(["x", 1, value], name="labels")


def test_depth():
    assert through_file([nested(31)]) == [nested(31)]


def test_frozensets_are_kept_in_one_order():
    members = [*range(100), *map(str, range(100)), (1, 2), None]
    sets = [frozenset(members), frozenset(reversed(members))]
    assert to_bytes(to_plain(sets[:1])) == to_bytes(to_plain(sets[1:]))


def test_strings_and_numbers_are_arrays():
    assert sorted(to_plain(["a", "é"]).arrays) == ["kinds", "text", "text_offsets"]
    assert to_plain(["a", "é"]).arrays["text_offsets"].tolist() == [0, 1, 3]
    assert sorted(to_plain([1, 2]).arrays) == ["kinds", "numbers"]


def changed(values, **arrays):
    return Record({}, {**to_plain(values).arrays, **arrays})


def bytes_array(text):
    return np.frombuffer(text, dtype=np.uint8)


def as_json(text):
    return Record({}, {"kinds": np.zeros(1, np.uint8), "json": bytes_array(text)})


@pytest.mark.parametrize(
    "record",
    [
        Record(),
        changed(["a"], kinds=np.array([4], np.uint8)),
        changed(["a"], kinds=np.array([1, 1], np.uint8)),
        changed(["a"], kinds=np.array([2], np.uint8)),
        changed(["a"], kinds=np.array([1.0])),
        changed([1], numbers=np.array([1, 2])),
        changed([1], numbers=np.array([1.0])),
        changed([1, None], kinds=np.array([2, 2], np.uint8)),
        changed(["ab", "c"], text_offsets=np.array([0, 3, 2])),
        changed(["ab", "c"], text_offsets=np.array([0, 2, 4])),
        changed(["ab", "c"], text_offsets=np.array([1, 2, 3])),
        changed(["ab", "c"], text_offsets=np.array([0, -1, 3])),
        changed(["ab", "c"], text_offsets=np.array([0, 3])),
        changed(["ab", "c"], text_offsets=np.zeros(0, np.int64)),
        changed(["é", "c"], text_offsets=np.array([0, 1, 3])),
        changed(["ab"], text=bytes_array(b"\xff\xfe")),
        as_json(b""),
        as_json(b"{}"),
        as_json(b"[1,2]"),
        as_json(b"[NaN]"),
        as_json(b"[{}]"),
        as_json(b"[[]]"),
        as_json(b'[["import", "os"]]'),
        as_json(b'[["int", 5]]'),
        as_json(b'[["int", "x"]]'),
        as_json(b'[["float", "nan"]]'),
        as_json('[["bytes", "\u0100"]]'.encode()),
        as_json(b'[["tuple", {}]]'),
        as_json(b"[\xff]"),
        as_json(b"[" * 100_000),
        as_json(b"[1]x"),
        *(as_json(b"[" + b'["tuple",' * n + b"1" + b"]" * (n + 1)) for n in (60, 700, 900)),
    ],
)
def test_bad_records_are_told(record):
    with pytest.raises(IndexFileError):
        from_plain(record)


@given(st.binary(max_size=60), st.sampled_from([0, 1, 2, 3]))
def test_no_bytes_do_anything_else(data, kind):
    arrays = {
        "kinds": np.full(1, kind, np.uint8),
        "json": bytes_array(data),
        "text": bytes_array(data),
        "text_offsets": np.array([0, len(data)]),
    }
    with contextlib.suppress(IndexFileError):
        assert len(from_plain(Record({}, arrays))) == 1
