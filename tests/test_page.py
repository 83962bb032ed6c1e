"""The page of the service, without a browser: what it is told equals what the library says."""

import asyncio
import dataclasses
import json
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
import scipy.sparse
from starlette.applications import Starlette

import fastmks
from fastmks import Index, InvalidArgument, Traversal, kernels
from fastmks.progress import Progress
from fastmks.service.page import demo_index, page_routes
from fastmks.service.page.views import _read

RNG = np.random.default_rng(5)
ROWS = (RNG.normal(size=(900, 12)) * 0.7 ** np.arange(12)).astype(np.float32)
WORDS = ["".join(RNG.choice(list("ACGT"), 30)) for _ in range(60)]
ONE_BY_ONE = Traversal(order="best-first", block=1)
HOSTILE = "<img src=x onerror=\"document.title='hit'\">"
RINGS = [([(0, 1), (1, 2), (2, 0)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])] * 4


class Page:
    """The routes of an index, asked without a network."""

    def __init__(self, index, **options):
        self.served = SimpleNamespace(index=index, path=None, is_writable=True)
        self.app = Starlette(routes=page_routes(self.served, **options))

    def ask(self, method, path, **options):
        async def asked():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
                return await client.request(method, path, **options)

        return asyncio.run(asked())

    def get(self, path):
        answer = self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def compare(self, **request):
        answer = self.ask("POST", "/page/compare", json=request)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refusal(self, **request):
        answer = self.ask("POST", "/page/compare", json=request)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["type"] == "InvalidArgument"
        return answer.json()["error"]["message"]


@pytest.mark.parametrize("seconds", [0.0, 0.002, 0.02, 0.4])
def test_a_dear_kernel_is_looked_at_for_about_a_second(seconds):
    """Counted: as many evaluations as fit into a second, or one; not a thousand of them."""
    calls = []

    def product(x, y):
        time.sleep(seconds)
        calls.append((x, y))
        return 100.0 * x * y

    index = Index([float(x) for x in range(1, 41)], product)
    calls.clear()
    about = Page(index).get("/page/about")
    assert about["kernels"][0]["epsilon_most"] > 100.0
    assert 1 <= len(calls) <= max(2, 1.1 / seconds if seconds else 3000)
    if not seconds:
        assert len(calls) > 400  # there was time for all of them


def test_an_index_of_one_object_has_no_spread():
    about = Page(Index([[1.0, 2.0]], "linear")).get("/page/about")
    assert about["kernels"][0]["epsilon_most"] == 1.0


@pytest.fixture(scope="module")
def page():
    return Page(Index(ROWS, "cosine", algorithm="tree"))


@pytest.mark.parametrize("text", ["own", "linear", "polynomial:degree=2"])
@pytest.mark.parametrize("algorithm", ["tree", "filter", "scan"])
def test_hits_and_figures_are_those_of_the_library(page, text, algorithm):
    kernel = "cosine" if text == "own" else text
    answer = page.compare(kernel=text, id=17, k=7, algorithm=algorithm)
    hits = Index(ROWS, kernel).search(
        ROWS[17:18], k=7, algorithm=algorithm, traversal=ONE_BY_ONE, trace=True
    )
    assert [hit["id"] for hit in answer["hits"]] == [str(i) for i in hits.ids[0]]
    assert [hit["value"] for hit in answer["hits"]] == hits.values[0].tolist()
    assert answer["evaluations"] == hits.stats.kernel_evaluations
    assert answer["scan_evaluations"] == len(ROWS)
    assert answer["map"]["evaluated"] == "".join("01"[mark] for mark in hits.evaluated.tolist())
    assert (answer["tree"] is not None) == (algorithm == "tree")
    assert answer["gap"] == 0.0
    assert answer["exact"] == {"evaluations": answer["evaluations"], "seconds": None, "found": 7}
    assert 0.0 < answer["seconds"] < 10.0


@pytest.mark.parametrize("promise", [{"epsilon": 0.05}, {"rank": 60}, {"budget": 40}])
def test_approximate_answers_stand_beside_the_exact_one(page, promise):
    index = Index(ROWS, "cosine", algorithm="tree")
    exact = index.search(ROWS[3:4], k=5, traversal=ONE_BY_ONE)
    hits = index.search(ROWS[3:4], k=5, traversal=ONE_BY_ONE, **promise)
    answer = page.compare(kernel="own", id="3", k=5, **promise)
    assert answer["gap"] == hits.gap[0] > 0.0
    assert answer["evaluations"] == hits.stats.kernel_evaluations
    assert answer["exact"]["evaluations"] == exact.stats.kernel_evaluations
    assert answer["exact"]["seconds"] > 0.0
    found = set(hits.ids[0].tolist()) & set(exact.ids[0].tolist())
    assert answer["exact"]["found"] == len(found)
    assert {int(hit["id"]) for hit in answer["hits"] if hit["is_exact"]} == found


def test_a_query_of_ones_own_is_searched_for(page):
    answer = page.compare(kernel="linear", object=[1.0] * 12, k=3)
    hits = Index(ROWS, "linear").search(np.ones(12), k=3)
    assert [hit["value"] for hit in answer["hits"]] == hits.values[0].tolist()
    assert answer["query"]["id"] is None
    assert not any(hit["is_query"] for hit in answer["hits"])


def test_sets_and_texts_of_ones_own_are_searched_for():
    numbers = Page(Index([{1, 2}, {2, 3}, {9}], kernels.Tanimoto()))
    assert numbers.compare(kernel="own", object=["2", 3], k=1)["hits"][0]["id"] == "1"
    assert "whole numbers" in numbers.refusal(kernel="own", object=["b"])
    texts = Page(Index([{"a", "1"}, {"1"}], kernels.Jaccard()))
    assert texts.compare(kernel="own", object=["1"], k=1)["hits"][0]["value"] == 1.0
    assert "texts or numbers" in texts.refusal(kernel="own", object=[["a"]])
    assert "texts or numbers" in texts.refusal(kernel="own", object="a")
    words = Page(Index(WORDS, kernels.SmithWaterman()))
    assert words.compare(kernel="own", object=WORDS[5], k=1)["hits"][0]["id"] == "5"
    for bad in (7, "A" * 10_001, [WORDS[0]]):
        assert "at most 10,000 letters" in words.refusal(kernel="own", object=bad)
    functions = Page(Index([1.0, 2.0], kernels.Custom(lambda x, y: x * y)))
    assert "give the id" in functions.refusal(kernel="own", object=2.0)


def test_only_offered_kernels_are_made(page):
    offered = [kernel["text"] for kernel in page.get("/page/about")["kernels"]]
    assert offered[:3] == ["own", "linear", "polynomial:degree=2"]
    assert offered[3].startswith("gaussian:bandwidth=")
    assert len(offered) == 4  # the cosine is the index's own
    for text in ("cosine", "tanh", "polynomial:degree=3", "Linear", "", None, 7, ["linear"]):
        assert "kernel must be one of 'own'" in page.refusal(kernel=text, id=0)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"kernel": "own"}, "give either id"),
        ({"kernel": "own", "id": 0, "object": [0.0] * 12}, "give either id"),
        ({"kernel": "own", "id": 900}, "900 is not one"),
        ({"kernel": "own", "id": "seven"}, "id must be the id"),
        ({"kernel": "own", "id": True}, "id must be the id"),
        ({"kernel": "own", "id": 2**80}, "id"),
        ({"kernel": "own", "id": "9" * 400}, "id must be the id"),
        ({"kernel": "own", "id": [0]}, "id must be the id"),
        ({"kernel": "own", "id": 0, "k": 0}, "k must be"),
        ({"kernel": "own", "id": 0, "k": 51}, "from 1 to 50"),
        ({"kernel": "own", "id": 0, "k": 2.5}, "k must be"),
        ({"kernel": "own", "id": 0, "algorithm": "dual-tree"}, "algorithm must be one of"),
        ({"kernel": "own", "id": 0, "algorithm": ["tree"]}, "algorithm must be one of"),
        ({"kernel": "own", "id": 0, "budget": 2}, "budget"),
        ({"kernel": "own", "id": 0, "budget": 50, "algorithm": "scan"}, "needs algorithm='tree'"),
        ({"kernel": "own", "id": 0, "rank": 50, "epsilon": 0.1}, "rank"),
        ({"kernel": "own", "id": 0, "epsilon": -1}, "epsilon"),
        ({"kernel": "own", "id": 0, "epsilon": "much"}, "epsilon"),
        ({"kernel": "own", "object": [1.0]}, "12 finite numbers"),
        ({"kernel": "own", "object": ["x"] * 12}, "12 finite numbers"),
        ({"kernel": "own", "object": [10**400] * 12}, "12 finite numbers"),
        ({"kernel": "own", "object": {"a": 1}}, "12 finite numbers"),
        ({"kernel": "own", "id": 0, "seed": 1}, "'seed' is none of the fields"),
    ],
)
def test_bad_requests_are_refused_in_words(page, request_, words):
    assert words in page.refusal(**request_)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[1]",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'"x"',
        b'{"kernel": "own", "id": 0, "id": 1}',
        b'{"kernel": "own", "id": 0, "epsilon": NaN}',
        b"x" * ((8 << 20) + 1),
    ],
)
def test_bodies_that_are_no_request_are_refused(page, body):
    headers = {"content-type": "application/json"}
    answer = page.ask("POST", "/page/compare", content=body, headers=headers)
    assert answer.status_code == (413 if len(body) > 8 << 20 else 400)
    assert answer.json()["error"]["message"]
    plain = page.ask("POST", "/page/compare", content=body, headers={"content-type": "text/plain"})
    assert plain.status_code == 415  # which pages of other sites may send unasked


@pytest.mark.parametrize("query", ["from=-1", "n=0", "from=x", "n=1e3", "from=" + "9" * 40])
def test_bad_ranges_are_refused(page, query):
    assert page.ask("GET", f"/page/objects?{query}").status_code == 400


def test_objects_come_a_page_at_a_time(page):
    found = page.get("/page/objects?from=890&n=40")["objects"]
    assert [one["id"] for one in found] == [str(i) for i in range(890, 900)]
    assert found[0]["numbers"] == ROWS[890].astype(float).tolist()
    assert len(page.get("/page/objects?n=100000")["objects"]) == 200
    assert page.get("/page/objects?from=5000")["objects"] == []


def test_files_are_those_of_the_list_only(page):
    front = page.ask("GET", "/")
    assert front.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in front.headers["content-security-policy"]
    assert "unsafe" not in front.headers["content-security-policy"]
    assert "<style" not in front.text
    assert " style=" not in front.text
    assert " onclick" not in front.text
    for name in ("page.js", "page.css", "icon.svg", "pictures.js"):
        assert page.ask("GET", f"/page/{name}").status_code == 200
    for name in ("index.html", "..%2froutes.py", "../routes.py", "routes.py", "page.js%00", "x"):
        assert page.ask("GET", f"/page/{name}").status_code == 404


def test_the_page_asks_nobody_else_and_sets_no_markup(page):
    for name in ("page", "panels", "drawings", "pictures", "objects", "controls", "service"):
        text = page.ask("GET", f"/page/{name}.js").text
        assert not any(word in text for word in ("http:", "https:", "innerHTML", "eval(", "write("))
        assert "insertAdjacentHTML" not in text


def test_every_object_is_on_the_map_and_in_the_tree(page):
    page.compare(kernel="linear", id=0, algorithm="tree")
    pictures = page.get("/page/pictures?kernel=linear&tree=true")
    assert len(pictures["map"]["points"]) == len(ROWS)
    assert all(-100 < x < 1100 and -100 < y < 1100 for x, y in pictures["map"]["points"])
    tree = pictures["tree"]
    assert tree["n_objects"] == len(ROWS)
    assert tree["nodes"][0] == [0, len(ROWS), 0, 1]
    for begin, end, row, until in tree["nodes"]:
        assert 0 <= begin < end <= len(ROWS)
        assert 0 <= row < until <= len(tree["levels"])
    assert page.get("/page/pictures?kernel=linear")["tree"] is None


def test_pictures_are_of_what_was_compared(monkeypatch):
    """Whoever asks for pictures alone has nothing built for them."""
    page = Page(Index(ROWS, "cosine"))
    path = "/page/pictures?kernel=linear&tree=true"

    def fail(*_):
        raise AssertionError("something is built")

    with monkeypatch.context() as patched:
        for name in ("Index", "make_map", "make_icicle"):
            patched.setattr(f"fastmks.service.page.views.{name}", fail)
        assert page.get(path) == {"version": 1, "map": None, "tree": None}
    page.compare(kernel="linear", id=0, algorithm="scan")
    drawn = page.get(path)
    assert drawn["map"] is not None
    assert drawn["tree"] is None
    page.compare(kernel="linear", id=0, algorithm="tree")
    assert page.get(path)["tree"]["n_objects"] == len(ROWS)


def test_a_gap_that_nothing_bounds_is_null(page, monkeypatch):
    search = Index.search

    def without_bounds(*args, **options):
        return dataclasses.replace(search(*args, **options), gap=np.array([np.inf]))

    monkeypatch.setattr(Index, "search", without_bounds)
    assert page.compare(kernel="own", id=0, budget=40)["gap"] is None


def test_shares_of_subtrees_are_counted(page):
    index = Index(ROWS, "linear", algorithm="tree")
    hits = index.search(ROWS[:1], k=5, traversal=ONE_BY_ONE, trace=True)
    answer = page.compare(kernel="linear", id=0, k=5)
    nodes = index.tree.nodes
    evaluated = hits.evaluated[index.tree.space.order]
    shares = [
        round(100 * int(evaluated[begin:end].sum()) / int(end - begin))
        for begin, end in zip(nodes["begin"], nodes["end"], strict=True)
    ]
    assert answer["tree"]["nodes"] == shares  # so few objects that all nodes are drawn
    assert len(answer["tree"]["stripes"]) == 400
    assert 0 in answer["tree"]["nodes"]
    assert f"{hits.stats.kernel_evaluations:,} of 900 objects" in answer["tree"]["words"]


def test_the_plan_is_that_of_the_index(page):
    plan = page.compare(kernel="own", id=0, k=2, algorithm="auto")["plan"]
    assert plan["algorithm"] in plan["sentence"]
    assert {one["algorithm"] for one in plan["forecasts"]} >= {"scan"}


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
    forest = index._forest
    then = page.compare(kernel="linear", id=1, k=2)
    assert then["version"] == first["version"] + 1
    assert then["hits"][0]["id"] == "600"
    assert "0 is not one" in page.refusal(kernel="linear", id=0)
    assert index._forest is forest
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
    assert set(first(Index(many))) == {"filter"}
    assert first(Index(many, algorithm="tree"))[0] == "tree"
    spectrum = kernels.Normalized(kernels.Spectrum(3))
    assert set(first(Index(WORDS, spectrum))) == {"filter"}
    assert first(Index(WORDS, spectrum, algorithm="tree"))[0] == "tree"
    alignment = kernels.LocalAlignment()
    assert first(Index(["MKV", "MKL"], alignment))[0] == "auto"


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
    assert len(index) == 1797
    about = Page(index).get("/page/about")
    assert about["form"] == "image"
    assert json.dumps(about)
    assert isinstance(index, fastmks.Index)
