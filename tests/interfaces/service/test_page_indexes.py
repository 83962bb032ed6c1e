"""The page of any index: kinds of objects, sizes, and indexes that change."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse

import fastmks
from fastmks import Index, InvalidArgument, kernels
from fastmks._util.progress import Progress
from fastmks.service.page import demo_index, page_routes
from fastmks.service.page.views import _read
from support.inside import snapshot_of
from support.paging import HOSTILE, ONE_BY_ONE, RINGS, ROWS, WORDS, Page

RNG = np.random.default_rng(6)
KINDS = {
    "texts": (["to be", "or not", "to be?", HOSTILE], kernels.Normalized(kernels.Spectrum(2))),
    "sequences": (WORDS, kernels.Normalized(kernels.Spectrum(3))),
    "alignments": (WORDS[:12], kernels.SmithWaterman()),
    "sets": ([{"a", "b"}, {"b", HOSTILE}, {"c"}], kernels.Jaccard()),
    "bits": (RNG.random((40, 64)) < 0.3, kernels.Tanimoto()),
    "graphs": (RINGS, kernels.Normalized(kernels.WeisfeilerLehman())),
    "series": ([np.ones(4), np.zeros(3), np.arange(5.0)], kernels.GlobalAlignment(1.0)),
    "gram": (np.eye(5) + 1.0, kernels.Precomputed()),
    "functions": ([3.0, 1.0, 2.0], kernels.Custom(lambda x, y: x * y)),
    "sums": (ROWS[:30], kernels.Linear() + kernels.Gaussian(2.0)),
    "one": (ROWS[:1], kernels.Linear()),
    "same": (np.ones((20, 3)), kernels.Linear()),
    "zeros": (np.zeros((20, 3)), kernels.Cosine()),
    "tanh": (ROWS[:30], kernels.Tanh()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_object_is_compared_and_drawn(kind):
    objects, kernel = KINDS[kind]
    index = Index(objects, kernel)
    page = Page(index)
    about = page.get("/page/about")
    assert about["size"] == len(index)
    shown = page.get("/page/objects")["objects"]
    assert len(shown) == min(40, len(index))
    k = min(3, len(index))
    first = objects[:1] if kind == "gram" else index.get([index.ids[0]])
    own = index.search(first, k=k)
    for choice in about["kernels"]:
        for algorithm in choice["algorithms"]:
            answer = page.compare(kernel=choice["text"], id="0", k=k, algorithm=algorithm)
            assert len(answer["hits"]) == k
            if choice["text"] == "own":
                assert [hit["value"] for hit in answer["hits"]] == own.values[0].tolist()
            pictures = page.get(f"/page/pictures?kernel={choice['text']}&tree=true")
            if pictures["map"] is not None:
                n_points = len(pictures["map"]["points"])
                assert len(answer["map"]["evaluated"]) == n_points == len(index)


def test_sparse_rows_are_drawn_and_compared():
    rows = scipy.sparse.random(50, 30, density=0.2, format="csr", random_state=0)
    page = Page(Index(rows, "cosine"))
    assert page.get("/page/about")["form"] == "row"
    assert page.get("/page/objects?n=1")["objects"][0]["numbers"] == rows[[0]].toarray()[0].tolist()
    answer = page.compare(kernel="linear", id=2, k=2)
    hits = Index(rows, "linear").search(rows[[2]], k=2)
    assert [hit["value"] for hit in answer["hits"]] == hits.values[0].tolist()


def test_hostile_text_comes_through_as_it_is():
    index = Index(["aa", HOSTILE], kernels.Normalized(kernels.Spectrum(1)), ids=[HOSTILE, "b"])
    page = Page(index)
    shown = page.get("/page/objects")["objects"]
    assert shown[0]["id"] == HOSTILE
    assert shown[1]["text"] == HOSTILE
    raw = page.ask("GET", "/page/objects")
    assert raw.headers["content-type"] == "application/json"
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert page.compare(kernel="own", id=HOSTILE, k=1)["hits"][0]["id"] == HOSTILE


def test_long_ids_keep_their_digits():
    page = Page(Index(ROWS[:3], ids=[2**63 - 1, 5, -7]))
    assert page.get("/page/objects")["objects"][0]["id"] == "9223372036854775807"
    assert page.compare(kernel="own", id="9223372036854775807", k=1)["query"]["id"] == str(
        2**63 - 1
    )
    assert page.compare(kernel="own", id="-7", k=1)["query"]["id"] == "-7"


def test_images_are_told_from_rows():
    forms = {
        Page(Index(objects)).get("/page/about")["form"]
        for objects in (np.abs(ROWS[:, :9]), ROWS[:, :4], np.abs(ROWS[:, :10]))
    }
    assert forms == {"row"}
    assert Page(Index(RNG.random((5, 784)))).get("/page/about")["form"] == "image"
    assert Page(Index(RNG.normal(size=(5, 784)))).get("/page/about")["form"] == "row"


def test_a_changed_index_is_seen_anew_and_is_not_changed_by_looking():
    index = Index(ROWS[:600], "cosine")
    page = Page(index)
    first = page.compare(kernel="linear", id=1, k=2)
    index.add(10 * ROWS[1:2])
    index.remove([0])
    snapshot = snapshot_of(index)
    then = page.compare(kernel="linear", id=1, k=2)
    assert then["version"] == first["version"] + 1
    assert then["hits"][0]["id"] == "600"
    assert "0 is not one" in page.refusal(kernel="linear", id=0)
    assert snapshot_of(index) is snapshot
    page.served.index = Index(ROWS[:5])
    assert page.get("/page/about")["size"] == 5


def test_a_tree_of_an_index_in_several_parts_is_that_of_all_its_objects():
    index = Index(ROWS[:600], "cosine")
    index.add(ROWS[600:])
    index.remove([0])
    page = Page(index)
    answer = page.compare(kernel="own", id=1, k=4, algorithm="tree")
    hits = Index(ROWS[1:], "cosine", ids=range(1, 900)).search(
        ROWS[1:2], k=4, algorithm="tree", traversal=ONE_BY_ONE
    )
    assert [hit["id"] for hit in answer["hits"]] == [str(i) for i in hits.ids[0]]
    assert answer["evaluations"] == hits.stats.kernel_evaluations
    assert page.get("/page/pictures?kernel=own&tree=true")["tree"]["n_objects"] == 899


def test_many_strings_are_read_a_few_at_a_time():
    """What was read in pieces, and could be stopped between them, is searched as ever."""
    rng = np.random.default_rng(8)
    many = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(4100)]
    page = Page(Index(many, kernels.Normalized(kernels.Spectrum(3))))
    answer = page.compare(kernel="normalized:spectrum:p=2", id=4099, k=5)
    hits = Index(many, kernels.Normalized(kernels.Spectrum(2))).search(many[4099:], k=5)
    assert [hit["id"] for hit in answer["hits"]] == [str(i) for i in hits.ids[0]]
    assert [hit["value"] for hit in answer["hits"]] == hits.values[0].tolist()
    looks = []

    def end():
        looks.append(1)
        if len(looks) == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        _read(many, kernels.Spectrum(2), Progress(False, end))


def test_the_first_engine_is_soon_built():
    """A tree of many objects, or of strings that are nearly equidistant, takes all pairs."""

    def first(index):
        return [one["algorithms"][0] for one in Page(index).get("/page/about")["kernels"]]

    assert set(first(Index(ROWS, "cosine"))) == {"tree"}
    many = np.random.default_rng(0).normal(size=(20_001, 2))
    assert set(first(Index(many))) == {"auto"}
    assert first(Index(many, algorithm="tree"))[0] == "tree"
    spectrum = kernels.Normalized(kernels.Spectrum(3))
    assert set(first(Index(WORDS, spectrum))) == {"filter"}
    assert first(Index(WORDS, spectrum, algorithm="tree"))[0] == "tree"
    alignment = kernels.LocalAlignment()
    assert first(Index(["MKV", "MKL"], alignment))[0] == "auto"


def test_auto_has_measured_its_engines_before_it_answers():
    """The first answer is by the engine that `auto` settles on."""
    many = np.random.default_rng(0).normal(size=(20_001, 2))
    page = Page(Index(many))
    for kernel in ("own", "cosine"):
        answer = page.compare(kernel=kernel, id=0)
        lines = {one["algorithm"]: one["basis"] for one in answer["plan"]["forecasts"]}
        assert lines["filter"].endswith("queries before")
        assert lines["scan"].endswith("queries before")
        assert answer["algorithm"] == answer["plan"]["algorithm"]


def test_a_large_index_is_searched_as_it_is():
    page = Page(Index(ROWS, "cosine"), most_objects=899)
    about = page.get("/page/about")
    assert about["is_large"]
    assert [(one["text"], one["algorithms"]) for one in about["kernels"]] == [
        ("own", ["auto", "scan"])
    ]
    assert page.compare(kernel="own", id=0)["algorithm"] in ("scan", "filter")
    wide = Page(Index(np.ones((100, 300))), most_objects=100)
    assert wide.get("/page/about")["is_large"]
    with_tree = Page(Index(ROWS, "cosine", algorithm="tree"), most_objects=899)
    assert "tree" in with_tree.get("/page/about")["kernels"][0]["algorithms"]
    with pytest.raises(InvalidArgument, match="most_objects must be"):
        page_routes(page.served, most_objects=0)


def test_many_objects_are_drawn_by_a_sample():
    page = Page(Index(RNG.normal(size=(9000, 3))))
    answer = page.compare(kernel="own", id=0, k=2, algorithm="scan")
    points = page.get("/page/pictures?kernel=own")["map"]["points"]
    assert len(points) == len(answer["map"]["evaluated"]) == 4000
    assert "Map of 4,000 of 9,000 objects" in answer["map"]["words"]
    assert len(answer["map"]["hits"]) == 2


def test_an_empty_index_has_a_page():
    index = Index(ROWS[:2])
    index.remove([0, 1])
    page = Page(index)
    assert page.get("/page/about")["size"] == 0
    assert page.get("/page/objects")["objects"] == []
    assert "the index is empty" in page.refusal(kernel="own", id=0)


def test_many_at_once_build_each_index_once(monkeypatch):
    built = []

    class Counted(Index):
        def __init__(self, *args, **options):
            built.append(args[1])
            super().__init__(*args, **options)

    monkeypatch.setattr("fastmks.service.page.views.Index", Counted)
    page = Page(Index(ROWS, "cosine"))
    with ThreadPoolExecutor(8) as pool:
        futures = [
            pool.submit(page.compare, kernel="linear", id=i, k=3, algorithm="tree")
            for i in range(16)
        ]
        answers = [future.result() for future in futures]
    assert built == [kernels.Linear()]
    index = Index(ROWS, "linear")
    for i, answer in enumerate(answers):
        hits = index.search(ROWS[i : i + 1], k=3)
        assert [hit["value"] for hit in answer["hits"]] == hits.values[0].tolist()


def test_the_demo_is_of_digits():
    index = demo_index()
    rows = index.get(index.ids)
    assert len(index) == len(np.unique(rows, axis=0)) == 12 * 1797
    about = Page(index).get("/page/about")
    assert about["form"] == "image"
    assert json.dumps(about)
    assert isinstance(index, fastmks.Index)


def test_a_pair_with_a_graph_is_no_graph():
    pairs = list(zip(RINGS, WORDS, strict=False))
    graphs = kernels.OnField(0, kernels.Normalized(kernels.WeisfeilerLehman()))
    strings = kernels.OnField(1, kernels.Normalized(kernels.Spectrum(3)))
    page = Page(Index(pairs, graphs + strings))
    assert page.get("/page/about")["form"] == "other"
    assert page.get("/page/objects")["objects"][0]["text"].startswith("((")
