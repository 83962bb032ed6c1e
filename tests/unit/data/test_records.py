"""Objects recorded and restored: the same bits, and no crash whatever a record holds."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fastmks import FastmksError, IndexFileError, InvalidArgument, _core
from fastmks import kernels as K
from fastmks.engines.space import Space
from fastmks.files.record import Record
from fastmks.kernels.objects import (
    join_objects,
    joins_at_once,
    read_more,
    read_objects,
    restore_objects,
)
from support.functions import overlap
from support.kinds import KINDS

CASES = pytest.mark.parametrize("kind", KINDS, ids=str)


def frozen(record):
    """A record as a file gives it: nothing in it can be written to."""
    arrays = {name: array.copy() for name, array in record.arrays.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return Record(record.facts, arrays)


def recorded(objects):
    """All there is to restore objects from, with those that only Python knows."""
    return frozen(objects.record(encode=pickle.dumps))


def restored(record, kernel, like=None):
    return restore_objects(record, kernel, like=like, decode=pickle.loads)


def values(objects, kernel, queries):
    space = Space(objects, kernel)
    others = space.queries(queries)
    matrices = [_core.scan_matrix(space.core, rows.core, 1) for rows in (space, others)]
    return [array.view(np.int64) for array in (space.self_values(), *matrices)]


def assert_same(got, wanted, kind):
    assert got.kind == wanted.kind
    for ours, theirs in zip(
        values(got, kind.kernel, kind.queries),
        values(wanted, kind.kernel, kind.queries),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


@CASES
def test_objects_are_restored_to_the_bit(kind):
    """As they were read, and as they lie in a tree; they can be got, taken and joined as before."""
    read = read_objects(kind.objects, kind.kernel)
    again = restored(recorded(read), kind.kernel)
    assert_same(again, read, kind)
    turned = np.arange(len(read))[::-1]
    taken = restored(recorded(again.take(turned)), kind.kernel)
    if not joins_at_once(kind.kernel):  # their queries would have to be turned too
        assert_same(taken, read.take(turned), kind)
        assert_same(
            join_objects(kind.kernel, [taken.take(turned[:3]), again]),
            join_objects(kind.kernel, [read.take(np.arange(3)), read]),
            kind,
        )
    assert_same(join_objects(kind.kernel, [taken.take(turned)]), read, kind)
    assert_same(read_objects(again.get(np.arange(len(read))), kind.kernel), read, kind)


@CASES
def test_arrays_of_a_record_are_not_copied(kind):
    """Nothing of a size that matters; tables of grams keep theirs in memory of their own."""
    record = recorded(read_objects(kind.objects, kind.kernel))
    again = restored(record, kind.kernel).record(encode=pickle.dumps)
    shared = ("rows", "columns", "values", "words", "members", "residues", "neighbours", "letters")
    for name, array in record.arrays.items():
        if name.rpartition("/")[2] in shared and "table" not in name and array.size:
            assert np.shares_memory(array, again.arrays[name]), name


@CASES
def test_nothing_is_recorded_too(kind):
    none = read_objects(kind.objects, kind.kernel).take(np.zeros(0, np.int64))
    again = restored(recorded(none), kind.kernel)
    assert len(again) == 0
    assert again.kind == none.kind
    if not joins_at_once(kind.kernel):
        more = read_more(kind.objects, kind.kernel, again)
        assert_same(more, read_objects(kind.objects, kind.kernel), kind)


@CASES
def test_records_of_other_kernels_are_refused(kind):
    record = recorded(read_objects(kind.objects, kind.kernel))
    for other in (K.Linear(), K.Tanimoto(), K.Spectrum(2), K.ShortestPath(), K.Precomputed()):
        own = {type(store) for store in restored(record, kind.kernel).stores.values()}
        try:
            read = restore_objects(record, other)
        except IndexFileError:
            continue
        assert {type(store) for store in read.stores.values()} <= own


def flattened(facts, path=()):
    for key, value in facts.items():
        if isinstance(value, dict):
            yield from flattened(value, (*path, key))
        else:
            yield (*path, key), value


def changed_facts(facts, path, value):
    key, *more = path
    return {**facts, key: changed_facts(facts[key], more, value) if more else value}


EXTREMES = st.sampled_from([0, 1, -1, 2, 3, 7, 63, 64, 255, 2**31 - 1, 2**62, -(2**63), 2**63 - 1])


@st.composite
def damaged(draw, record):
    """A record of which one fact or array is something else, or is not there."""
    facts, arrays = dict(record.facts), dict(record.arrays)
    paths = [path for path, _ in flattened(facts)]
    if not arrays or draw(st.integers(0, 3)) == 0:
        something = st.one_of(st.none(), st.booleans(), EXTREMES, st.text(max_size=3), st.just([]))
        return Record(changed_facts(facts, draw(st.sampled_from(paths)), draw(something)), arrays)
    name = draw(st.sampled_from(sorted(arrays)))
    how = draw(
        st.sampled_from(["entry", "entry", "entry", "cut", "longer", "type", "axes", "gone"])
    )
    array = arrays[name].copy()
    if how == "entry" and array.size:
        at = draw(st.integers(0, array.size - 1))
        raw = np.array([draw(EXTREMES)], dtype=np.int64)
        new = raw.astype(array.dtype) if draw(st.booleans()) else raw.view(np.uint8)
        array.reshape(-1)[at] = new[0]
    elif how == "cut":
        array = array[: draw(st.integers(0, len(array)))]
    elif how == "longer":
        array = np.concatenate([array, array[-1:], array[:1]])
    elif how == "type":
        with np.errstate(all="ignore"):
            array = array.astype(draw(st.sampled_from([np.int8, np.int64, np.float32, np.uint64])))
    elif how == "axes":
        array = array.reshape(1, *array.shape) if draw(st.booleans()) else array.reshape(-1)
    arrays[name] = array
    if how == "gone":
        del arrays[name]
    return Record(facts, arrays)


@given(data=st.data())
def test_damaged_records_never_crash(data):
    """They are refused, or give objects that can be compared; with what values does not matter."""
    kind = KINDS[data.draw(st.integers(0, len(KINDS) - 1))]
    record = data.draw(damaged(read_objects(kind.objects, kind.kernel).record()))
    with np.errstate(all="ignore"):
        try:
            objects = restore_objects(frozen(record), kind.kernel, objects=kind.objects)
            values(objects, kind.kernel, kind.queries)
            objects.get(np.arange(len(objects)))
            join_objects(kind.kernel, [objects, objects])
        except FastmksError:
            return


def test_python_objects_are_handed_in_again_or_encoded():
    kernel = K.Custom(overlap)
    read = read_objects(["ab", "bc"], kernel)
    bare = frozen(read.record())
    with pytest.raises(InvalidArgument, match="the 2 Python objects are not in the file"):
        restore_objects(bare, kernel)
    with pytest.raises(InvalidArgument, match="must be the 2 that were indexed.*got 1"):
        restore_objects(bare, kernel, objects=["ab"])
    assert restore_objects(bare, kernel, objects=["ab", "bc"]).get(np.arange(2)) == ["ab", "bc"]
    encoded = frozen(read.record(encode=str.encode))
    with pytest.raises(InvalidArgument, match="pass decode"):
        restore_objects(encoded, kernel)
    assert restore_objects(encoded, kernel, decode=bytes.decode).get(np.arange(2)) == ["ab", "bc"]
    with pytest.raises(InvalidArgument, match=r"for objects\[0\] it returned str"):
        read.record(encode=str)


def test_python_objects_of_a_field_are_handed_in_with_the_rest():
    kernel = K.OnField(0, K.Linear()) + K.OnField(1, K.Custom(overlap))
    objects = [([1.0], "ab"), ([2.0], "bc")]
    bare = frozen(read_objects(objects, kernel).record())
    again = restore_objects(bare, kernel, objects=objects)
    assert [word for _, word in again.get(np.arange(2))] == ["ab", "bc"]


def test_known_values_of_functions_are_recorded():
    asked = []

    def dot(x, y):
        asked.append((x, y))
        return float(x * y)

    kernel = K.Custom(dot)
    read = read_objects([2, 3, 5], kernel)
    Space(read, kernel).self_values()
    again = restore_objects(frozen(read.record()), kernel, objects=[2, 3, 5])
    turned = again.take(np.array([2, 0]))
    assert Space(turned, kernel).self_values().tolist() == [25.0, 4.0]
    joined = join_objects(kernel, [turned, read_objects([7], kernel)])
    assert Space(joined, kernel).self_values().tolist() == [25.0, 4.0, 49.0]
    assert asked[3:] == [(7, 7)]
    renamed = K.Custom(dot, name="another")  # which prints otherwise: what is known is not its own
    Space(restore_objects(frozen(read.record()), renamed, objects=[2, 3, 5]), renamed).self_values()
    assert len(asked) == 7


def test_one_array_is_one_object_also_when_all_objects_have_left():
    kernel = K.Custom(lambda x, y: float(x.sum() * y.sum()))
    read = read_objects([np.ones(2), np.ones(3)], kernel)
    none = read.take(np.zeros(0, np.int64))
    again = restore_objects(frozen(none.record()), kernel)
    for like in (read, none, again, join_objects(kernel, [none])):
        assert len(read_more(np.ones(4), kernel, like)) == 1


def test_bits_behind_the_last_are_refused():
    record = recorded(read_objects(np.eye(9, dtype=bool), K.Tanimoto()))
    words = record.arrays["store 0/words"].copy()
    for at, bit in [(0, 2**63), (1, 1), (7, 1)]:
        words[3] = 0
        words[3, at] = bit
        with pytest.raises(IndexFileError, match="must have no bits set after them"):
            restore_objects(Record(record.facts, {"store 0/words": words}), K.Tanimoto())


def test_stores_of_several_lengths_are_refused():
    kernel = K.OnField(0, K.Linear()) + K.OnField(1, K.Gaussian())
    record = recorded(read_objects([([1.0], [2.0]), ([3.0], [4.0])], kernel))
    arrays = {**record.arrays, "store 1/rows": record.arrays["store 1/rows"][:1]}
    with pytest.raises(IndexFileError, match="differ in length"):
        restore_objects(Record(record.facts, arrays), kernel)
    with pytest.raises(IndexFileError, match="not those of the kernel"):
        restore_objects(record, K.OnField(0, K.Linear()))


UNLIKE = [
    (K.Linear(), np.eye(3), np.eye(2)),
    (K.Linear(), np.eye(3), sp.csr_array(np.eye(3))),
    (K.Tanimoto(), np.eye(3, dtype=bool), np.eye(4, dtype=bool)),
    (K.Tanimoto(), np.eye(3, dtype=bool), [{0}, {1}]),
    (K.Spectrum(2), ["ab"], [b"ab"]),
    (K.SmithWaterman(), ["AR"], [b"AR"]),
    (K.GlobalAlignment(1.0), [[1.0]], [np.ones((3, 2))]),
    (K.Custom(overlap), np.eye(2), np.eye(3)),
    (K.Custom(overlap), np.eye(2), np.eye(2, dtype=int)),
    (K.Custom(overlap), np.eye(2), [1, 2]),
]


@pytest.mark.parametrize(("kernel", "objects", "others"), UNLIKE)
def test_parts_of_several_kinds_are_refused(kernel, objects, others):
    """Each is a record of its own, and what each of them is would do by itself."""
    first, second = (read_objects(these, kernel) for these in (objects, others))
    assert restored(recorded(first), kernel, like=first.take(np.zeros(0, int))).form == first.form
    with pytest.raises(IndexFileError, match="the objects must be .*, as others are"):
        restored(recorded(second), kernel, like=first)


@CASES
def test_what_is_added_has_the_form_of_what_is_there(kind):
    read = read_objects(kind.objects, kind.kernel)
    none = read.take(np.zeros(0, np.int64))
    assert none.form == read.form == join_objects(kind.kernel, [read]).form
    if not joins_at_once(kind.kernel):
        assert read_more(kind.objects, kind.kernel, none).form == read.form
    assert restored(recorded(read), kind.kernel, like=none).form == read.form
