"""The page of the service, without a browser: what it is told equals what the library says."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from fastmks import Index, kernels
from support.paging import ONE_BY_ONE, ROWS, WORDS, Page


@pytest.mark.parametrize("seconds", [0.0, 0.002, 0.02, 0.4])
def test_a_dear_kernel_is_looked_at_for_about_a_second(monkeypatch, seconds):
    """Counted: as many evaluations as fit into a second, or one; not a thousand of them."""
    calls = []
    clock = SimpleNamespace(monotonic=lambda: seconds * len(calls))
    monkeypatch.setattr("fastmks.service.page.kernel_choices.time", clock)

    def product(x, y):
        calls.append((x, y))
        return 100.0 * x * y

    index = Index([float(x) for x in range(1, 41)], product)
    calls.clear()
    about = Page(index).get("/page/about")
    assert about["kernels"][0]["epsilon_most"] > 100.0
    assert 1 <= len(calls) <= max(2, 1.0 / seconds if seconds else 3000)
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
    assert "strings or numbers" in texts.refusal(kernel="own", object=[["a"]])
    assert "strings or numbers" in texts.refusal(kernel="own", object="a")
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
