"""Built structures to named arrays and back: the same bits as before, and no harm from forged ones.

Whatever arrays hold, restoring them raises ValueError or gives a structure whose searches come
back, with any answer or a fault.
"""

import contextlib
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmks import Index, _core
from fastmks import kernels as K
from fastmks.engines.filters.axes import choose_axes
from support.inside import data_of
from support.waiting import PATIENCE

RNG = np.random.default_rng
ALL_BOUNDS = {"ball", "cap", "shell", "parent"}


@dataclass(frozen=True)
class Case:
    """A structure, how it comes back from arrays, and searches that go everywhere in it."""

    built: Any
    restore: Callable[[dict[str, Any]], Any]
    search: Callable[[Any], list[Any]]

    def arrays(self):
        return self.built.arrays()


def space_of(objects, kernel):
    return data_of(Index(objects, kernel, algorithm="scan")).space


def tree_case(n=300):
    kernel = K.Gaussian(2.0)
    objects = RNG(1).normal(size=(n, 3)).round(1)
    tree = Index(objects, kernel, algorithm="tree").tree
    core, space = tree.core, tree.space.core
    asked = tree.space.queries(RNG(2).normal(size=(5, 3))).core
    among = np.arange(0, n, 3)
    traversals = [
        _core.Traversal("best-first", 1, 0, ALL_BOUNDS),
        _core.Traversal("best-first", 16, 4, ALL_BOUNDS),
        _core.Traversal("level", 4, 0, ALL_BOUNDS),
    ]

    def search(tree):
        answers = []
        for how in traversals:
            for queries, skip in [(asked, False), (space, True)]:
                for where in [None, among]:
                    answers.append(
                        lambda q=queries, s=skip, w=where, h=how: _core.tree_top_k(
                            tree, space, q, w, s, 4, None, h, 0.0, 0.0, None, None, 0, 0, 2, None
                        )
                    )
            answers.append(
                lambda h=how: _core.tree_above(
                    tree, space, asked, None, np.full(5, 0.4), h, 2, None
                )
            )
            answers.append(
                lambda h=how: _core.dual_tree_top_k(
                    tree, tree, space, space, None, True, 4, h, 0.0, 0.0, 2, None
                )
            )
        answers.append(lambda: tree.find_fault(space))
        return answers

    return Case(core, lambda arrays: _core.restore_cover_tree(arrays, n), search)


def filter_case(space, asked, built, restore, name, levels):
    """Searches of a structure that bounds scores."""
    n, n_asked = len(space), len(asked)
    top_k, above = getattr(_core, f"{name}_top_k"), getattr(_core, f"{name}_above")
    among = np.arange(1, n, 3)

    def search(core):
        asks = [(asked, w, False, k) for w in (None, among) for k in (1, 7, min(n // 3 - 1, 400))]
        if n < 10_000:
            asks += [(space, None, True, 2), (space, among, True, 2)]
        answers = [
            lambda q=q, w=w, skip=skip, k=k: top_k(space, q, w, None, core, skip, k, None, 2, None)
            for q, w, skip, k in asks
        ]
        for level in levels:
            answers.append(
                lambda level=level: above(
                    space, asked, None, None, core, np.full(n_asked, level), 2, None
                )
            )
        return answers

    return Case(built, lambda arrays: restore(space, arrays), search)


def codes_case(kernel, n=600, columns=5, n_asked=5):
    objects = RNG(3).normal(size=(n, columns)).round(2)
    objects[5] = 0.0
    space = space_of(objects, kernel)
    asked = space.queries(RNG(4).normal(size=(n_asked, columns))).core
    axes = choose_axes(space, dimension=min(columns, 3))
    built = _core.code_table(space.core, axes.core, 2, None)
    return filter_case(space.core, asked, built, _core.restore_codes, "codes", [0.1, 2.0])


def postings_case(kernel, n=700, columns=30):
    rng = RNG(5)
    counts = rng.poisson(1.0 / (1 + np.arange(min(columns, 30))), size=(n, min(columns, 30)))
    weights = np.where(rng.random(counts.shape) < 0.1, rng.normal(size=counts.shape), counts)
    rows = scipy.sparse.csr_matrix(weights)
    rows.resize((n, columns))
    space = space_of(rows, kernel)
    asked = space.queries(rows[:5]).core
    built = _core.postings(space.core, None)
    return filter_case(space.core, asked, built, _core.restore_postings, "postings", [0.1, 2.0])


def pivots_case(m=6, n=300):
    space = space_of(RNG(6).normal(size=(n, 3)).round(1), K.Gaussian(2.0))
    asked = space.queries(RNG(7).normal(size=(5, 3))).core
    projection = _core.pivot_projection(space.core, np.arange(m)[::-1] * 7)
    built = _core.pivot_table(projection, 2, None)

    def restore(objects, arrays):
        return _core.restore_pivots(objects, arrays)[1]

    return filter_case(space.core, asked, built, restore, "pivots", [0.1, 0.9])


def letters_of(texts):
    joined = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    return joined, np.cumsum([0, *map(len, texts)])


def grams_case(length, mismatches, alphabet, n_letters):
    rng = RNG(8)

    def draw(n):
        return "".join(rng.choice(list("ACGTNXYZ"[:n_letters]), size=n))

    texts = [draw(rng.integers(0, 80)) for _ in range(60)]
    codes = [ord(letter) for letter in alphabet]
    built, _ = _core.count_grams(*letters_of(texts), length, mismatches, codes, 2)
    others = letters_of([texts[3], draw(50), texts[9][2:] + "Q"])
    return Case(
        built,
        lambda arrays: _core.restore_gram_table(length, mismatches, codes, arrays),
        lambda table: [lambda: table.count(*others, 2)],
    )


CASES = {
    "tree": tree_case,
    "codes of products": lambda: codes_case(K.Linear()),
    "codes of cosines": lambda: codes_case(K.Cosine()),
    "codes of distances": lambda: codes_case(K.Gaussian(2.0)),
    "codes of even powers": lambda: codes_case(K.Polynomial(2)),
    "postings of products": lambda: postings_case(K.Linear()),
    "postings of cosines": lambda: postings_case(K.Cosine()),
    "postings in many columns": lambda: postings_case(K.Linear(), 300, 5_000_000),
    "pivots": pivots_case,
    "no pivots": lambda: pivots_case(0),
    "grams": lambda: grams_case(3, 0, "", 4),
    "sorted grams": lambda: grams_case(12, 0, "", 4),
    "long grams": lambda: grams_case(70, 0, "", 1),
    "grams of grams": lambda: grams_case(45, 0, "", 4),
    "grams with mismatches": lambda: grams_case(4, 2, "ACGT", 5),
}
# Leaves so many that groups of them have boxes: larger, so not in every example.
LARGE = {"codes of many leaves": lambda: codes_case(K.Linear(), 512 * 256, 2, 2)}


@pytest.fixture(scope="module", params=[*CASES, *LARGE])
def case(request):
    return {**CASES, **LARGE}[request.param]()


_KEPT: dict[str, Case] = {}


def kept(name):
    """The case of a name, one for all examples."""
    if name not in _KEPT:
        _KEPT[name] = CASES[name]()
    return _KEPT[name]


def flat(answer):
    """The arrays and numbers of an answer, however it nests."""
    if isinstance(answer, tuple | list):
        return [part for entry in answer for part in flat(entry)]
    return [answer]


def assert_same(got, wanted):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        for x, y in zip(flat(a()), flat(b()), strict=True):
            if isinstance(x, np.ndarray):
                assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
            else:
                assert x == y


def in_bytes(arrays, *, shift=0):
    """The same arrays in memory that begins `shift` bytes behind an aligned address."""
    copies = {}
    for name, array in arrays.items():
        room = np.zeros(array.nbytes + 128, dtype=np.uint8)
        begin = -room.ctypes.data % 64 + shift
        place = room[begin : begin + array.nbytes]
        place[:] = np.frombuffer(array.tobytes(), dtype=np.uint8)
        copies[name] = np.frombuffer(place.data, dtype=array.dtype).reshape(array.shape)
    return copies


def in_file(arrays, path):
    """The same arrays in a mapped file, each at a multiple of 64 bytes."""
    places, at = {}, 0
    with path.open("wb") as file:
        for name, array in arrays.items():
            file.write(bytes(-at % 64))
            at += -at % 64
            places[name] = at
            file.write(array.tobytes())
            at += array.nbytes
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    return {
        name: mapped[places[name] : places[name] + array.nbytes]
        .view(array.dtype)
        .reshape(array.shape)
        for name, array in arrays.items()
    }


def address(array):
    return array.__array_interface__["data"][0]


def test_what_comes_back_answers_as_before(case, tmp_path):
    wanted, arrays = case.search(case.built), case.arrays()
    for same in [
        arrays,
        in_bytes(arrays),
        in_bytes(arrays, shift=1),
        in_file(arrays, tmp_path / "arrays"),
    ]:
        restored = case.restore(same)
        assert_same(case.search(restored), wanted)
        again = restored.arrays()
        assert again.keys() == arrays.keys()
        for name, array in arrays.items():
            assert again[name].tobytes() == array.tobytes(), name
            assert not (array.flags.writeable and array.size)


@pytest.mark.parametrize("name", CASES)
def test_the_same_objects_give_the_same_bytes(name):
    one, two = CASES[name]().arrays(), CASES[name]().arrays()
    assert one.keys() == two.keys()
    for part in one:
        assert one[part].tobytes() == two[part].tobytes(), part


@pytest.mark.parametrize("name", CASES)
def test_large_arrays_are_not_copied(name, tmp_path):
    case = kept(name)
    mapped = in_file(case.arrays(), tmp_path / "arrays")
    restored = case.restore(mapped)
    again = restored.arrays()
    small = {"axes", "origin", "letters", "counts", "figures"}
    for part, array in mapped.items():
        if array.size and part not in small and not part.startswith("pivot"):
            assert address(again[part]) == address(array), part


@pytest.mark.parametrize("name", CASES)
def test_arrays_outlive_what_they_came_from(name):
    case = CASES[name]()
    arrays = case.arrays()
    wanted = {part: array.tobytes() for part, array in arrays.items()}
    del case
    gc.collect()
    assert {part: array.tobytes() for part, array in arrays.items()} == wanted


@pytest.mark.parametrize("name", CASES)
def test_what_comes_back_keeps_its_arrays_and_gives_them_back(name):
    case = kept(name)
    arrays = in_bytes(case.arrays())
    kept_ones = [weakref.ref(array) for part, array in arrays.items() if array.nbytes > 64]
    restored = [case.restore(arrays)]
    del arrays
    gc.collect()
    assert all(answer() is not None for answer in case.search(restored[0]))
    thread = threading.Thread(target=restored.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert not any(array() is not None for array in kept_ones)


def test_restored_pivots_evaluate_nothing():
    calls = []

    def dot(x, y):
        calls.append(1)
        return float(x @ y)

    space = space_of(list(RNG(9).normal(size=(40, 3))), K.Custom(dot))
    projection = _core.pivot_projection(space.core, np.array([3, 17]))
    arrays = _core.pivot_table(projection, 1, None).arrays()
    del calls[:]
    restored, table = _core.restore_pivots(space.core, arrays)
    assert not calls
    assert len(table) == 40
    assert restored.pivots().tolist() == projection.pivots().tolist()
    assert restored.error_share == projection.error_share
    assert restored.build_evaluations == projection.build_evaluations


def test_restored_pivots_keep_their_objects_alive():
    space = space_of(RNG(9).normal(size=(40, 3)), K.Linear())
    projection = _core.pivot_projection(space.core, np.array([3, 17]))
    arrays = _core.pivot_table(projection, 1, None).arrays()
    asked = space.queries(RNG(1).normal(size=(6, 3))).core
    wanted = projection.project(asked)["rows"]
    restored, table = _core.restore_pivots(space.core, arrays)
    del space, projection, arrays, table
    gc.collect()
    assert restored.project(asked)["rows"].tobytes() == wanted.tobytes()


_DROPPED_AT_THE_END = """
import threading, time
import numpy as np
from fastmks import Index, _core
arrays = Index(np.eye(300), "linear", algorithm="tree").tree.core.arrays()
kept = _core.restore_cover_tree(arrays, 300)
def work():
    while True:
        _core.restore_cover_tree(arrays, 300)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""


def test_python_ends_while_threads_give_arrays_back():
    """A thread that drops a structure has the GIL, and must not keep it from the end."""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", _DROPPED_AT_THE_END], check=True, timeout=PATIENCE)


@pytest.mark.parametrize("name", CASES)
def test_each_array_must_be_there_and_of_its_kind(name):
    case = kept(name)
    arrays = case.arrays()
    for part, array in arrays.items():
        others = {other: kept for other, kept in arrays.items() if other != part}
        other_type = np.float32 if array.dtype != np.float32 else np.float64
        with np.errstate(all="ignore"):
            wrong = [array.astype(kind) for kind in (np.float16, ">i8", other_type)]
        wrong += [array.reshape(-1, 1, 1), None]
        with pytest.raises(ValueError, match=f"array '{part}' is missing"):
            case.restore(others)
        for other in wrong:
            with pytest.raises(ValueError, match=f"array '{part}'"):
                case.restore({**others, part: other})
        if array.shape[0] > 1 and part != "letters":
            with pytest.raises(ValueError, match="array|origin|axes"):
                case.restore({**others, part: array[:-1]})
            with pytest.raises(ValueError, match=f"array '{part}'"):
                case.restore({**others, part: np.repeat(array, 2, axis=0)[::2]})
    with pytest.raises(ValueError, match="names of arrays must be strings"):
        case.restore({1: arrays[part]})


_WORDS = [
    0, 1, 2, 255, 256, 299, 300, 301, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**62, 2**63, 2**64 - 1,
]  # fmt: skip
_FLOATS = [0.0, -0.0, -1.0, 1e-300, 1e-38, 1e15, 3e38, 1e150, 1.7e308, np.inf, -np.inf, np.nan]


@st.composite
def written(draw):
    """Bytes of a number, of 1, 4 or 8 of them: one that hurts, or any."""
    width = draw(st.sampled_from([1, 4, 8]))
    kind = draw(st.sampled_from(["word", "float", "any"])) if width > 1 else "any"
    if kind == "word":
        return (draw(st.sampled_from(_WORDS)) % 2 ** (8 * width)).to_bytes(width, "little")
    if kind == "float":
        number = draw(st.sampled_from(_FLOATS))
        with np.errstate(over="ignore"):
            return np.array(number).astype(f"<f{width}").tobytes()
    return draw(st.binary(min_size=width, max_size=width))


@st.composite
def damages(draw):
    """What is done to some arrays: (which, where, what) each, as shares of what there is."""
    share = st.floats(0, 1, exclude_max=True)
    step = st.one_of(
        st.tuples(st.just("write"), share, share, written()),
        st.tuples(st.just("write"), share, share, written()),
        st.tuples(st.just("fill"), share, share, written()),
        st.tuples(st.just("copy"), share, share, share),
        st.tuples(st.just("cut"), share, share, st.booleans()),
        st.tuples(st.just("swap"), share, share, st.just(None)),
        st.tuples(st.just("type"), share, st.just(0.0), st.sampled_from(["<f4", "<i8", "|u1"])),
    )
    return draw(st.lists(step, min_size=1, max_size=5))


def damaged(arrays, steps):
    """The arrays after what was done to them."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    for kind, which, where, what in steps:
        names = list(arrays)
        name = names[int(which * len(names))]
        array = arrays[name]
        octets = array.reshape(-1).view(np.uint8)
        if kind in ("write", "fill"):
            width = len(what)
            at = int(where * (len(octets) // width)) * width
            n = 1 if kind == "write" else (len(octets) - at) // width
            piece = np.frombuffer(what * n, dtype=np.uint8)
            octets[at : at + len(piece)] = piece[: len(octets) - at]
        elif kind == "copy" and len(array):
            array[int(where * len(array))] = array[int(what * len(array))].copy()
        elif kind == "cut":
            n = int(where * (len(array) + 1))
            arrays[name] = array[:n] if what else np.concatenate([array, array[:n]])
        elif kind == "swap":
            other = names[int(where * len(names))]
            arrays[name], arrays[other] = arrays[other], array
        elif kind == "type" and octets.size % np.dtype(what).itemsize == 0:
            arrays[name] = octets.view(what)
    return arrays


FAULTS = (_core.DamageFault, _core.NotMercerFault, _core.PivotFault, _core.ValueFault)


def come_back(case, arrays):
    """Restore arrays, and if there is nothing to refuse, let every search come back."""
    try:
        restored = case.restore(arrays)
    except ValueError:
        return
    for answer in case.search(restored):
        with contextlib.suppress(*FAULTS):
            answer()


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=settings.default.max_examples // 3)
@given(steps=damages())
def test_forged_arrays_do_no_harm(name, steps):
    case = kept(name)
    come_back(case, damaged(case.arrays(), steps))


@pytest.mark.parametrize("name", CASES)
def test_one_forged_number_does_no_harm(name):
    """Every array with a number that hurts in its middle and at its end."""
    case = kept(name)
    numbers = [np.array(x).astype(t).tobytes() for t in ("<f4", "<f8") for x in (np.nan, -1e30)]
    numbers += [np.array(2**31 - 1).astype("<i8").tobytes()]
    for i in range(len(case.arrays())):
        which = (i + 0.5) / len(case.arrays())
        for where in (0.3, 0.999):
            for what in numbers:
                come_back(case, damaged(case.arrays(), [("write", which, where, what)]))


def test_forged_boxes_of_groups_do_no_harm():
    case = LARGE["codes of many leaves"]()
    rng = RNG(10)
    numbers = [np.array(x).astype("<f4").tobytes() for x in (np.nan, np.inf, -3e38, 3e38, 0.0)]
    for i, part in enumerate(case.arrays()):
        if "boxes" in part:
            which = (i + 0.5) / len(case.arrays())
            for what in numbers:
                step = (rng.choice(["write", "fill"]), which, rng.random(), what)
                come_back(case, damaged(case.arrays(), [step]))


def test_lies_about_scores_are_faults():
    """Lower bounds that no object reaches leave too few answers, and a search says so."""
    case = kept("codes of products")
    arrays = damaged(case.arrays(), [])
    arrays["tails"][:] = -1e6
    restored = case.restore(arrays)
    with pytest.raises(_core.DamageFault, match="fewer than k"):
        for answer in case.search(restored):
            answer()
