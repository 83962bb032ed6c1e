"""The service answers as the index does, to the last bit, for every kind of object."""

import json
import math
from urllib.parse import quote

import numpy as np
import pytest
import scipy.sparse

import fastmks
from fastmks import kernels
from fastmks.service import Limits, open_served
from fastmks.service.page import page_routes
from support.older import index_with_odd_ids
from support.serving import serving

RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(40, 5))
SMALL = VECTORS.astype(np.float32)
SPARSE = scipy.sparse.random(30, 50, density=0.1, format="csr", random_state=1)
BITS = RNG.random((30, 19)) < 0.4
WORDS = ["search", "research", "tree", "trees", "match", "matches", "kernel", "colonel"]
SETS = [{"flour", "salt"}, {"flour", 3, None}, {("a", 1), "egg"}, {"salt", True}, set()]
GRAPHS = [
    ([(0, 1), (1, 2)], ["C", "C", "O"]),
    ([(0, 1), (1, 2)], ["C", "O", "C"]),
    ([], ["N"]),
    ([(0, 1)], [None, ("x", 2)]),
]
SERIES = [RNG.normal(size=n) for n in (5, 7, 9, 6)]
CHANNELS = [RNG.normal(size=(n, 2)) for n in (5, 7, 9)]


def as_graph(graph):
    return {"edges": [list(edge) for edge in graph[0]], "nodes": graph[1]}


def sparse_row(row):
    row = row.tocoo()
    return {"columns": row.col.tolist(), "values": row.data.tolist()}


def overlap(x, y):
    return float(len(set(x["tags"]) & set(y["tags"])))


# Objects, a kernel, and each of the objects in JSON.
KINDS = {
    "vectors": (VECTORS, kernels.Gaussian(2.0), VECTORS.tolist()),
    "float32": (SMALL, kernels.Cosine(), SMALL.tolist()),
    "sparse": (SPARSE, kernels.Linear(), [sparse_row(SPARSE[i]) for i in range(30)]),
    "sparse for dense": (SPARSE.toarray(), kernels.Linear(), [sparse_row(row) for row in SPARSE]),
    "dense for sparse": (SPARSE, kernels.Cosine(), SPARSE.toarray().tolist()),
    "counts": (np.abs(VECTORS), kernels.MinMax(), np.abs(VECTORS).tolist()),
    "hex": (BITS, kernels.Tanimoto(), [np.packbits(row).tobytes().hex() for row in BITS]),
    "bits": (BITS, kernels.Tanimoto(), BITS.astype(int).tolist()),
    "positions": (
        [set(np.flatnonzero(row).tolist()) for row in BITS],
        kernels.Tanimoto(),
        [np.flatnonzero(row).tolist() for row in BITS],
    ),
    "strings": (WORDS, kernels.Spectrum(2), WORDS),
    "bytes": ([b"\xffab", b"abc", b"bcd"], kernels.Spectrum(2), ["\xffab", "abc", "bcd"]),
    "alignments": (["MKVL", "MKVA", "GGHH"], kernels.SmithWaterman(), ["MKVL", "MKVA", "GGHH"]),
    "sets": (SETS, kernels.Jaccard(), [[list(m) if m == ("a", 1) else m for m in s] for s in SETS]),
    "graphs": (GRAPHS, kernels.WeisfeilerLehman(2), [as_graph(g) for g in GRAPHS]),
    "series": (SERIES, kernels.GlobalAlignment(1.0), [one.tolist() for one in SERIES]),
    "channels": (CHANNELS, kernels.GlobalAlignment(1.0), [one.tolist() for one in CHANNELS]),
    "values": (VECTORS @ VECTORS.T, kernels.Precomputed(), (VECTORS @ VECTORS.T).tolist()),
    "tuples": (
        list(zip(WORDS, VECTORS[:8], strict=True)),
        kernels.OnField(0, kernels.Spectrum(2)) + kernels.OnField(1, kernels.Gaussian(1.0)),
        [[word, row.tolist()] for word, row in zip(WORDS, VECTORS[:8], strict=True)],
    ),
}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A service of numbered vectors, not writable."""
    path = tmp_path_factory.mktemp("service") / "digits.fmks"
    fastmks.Index(VECTORS, kernels.Linear()).save(path)
    with serving(path) as client:
        yield client


def ids_and_values(answer):
    return [hit["id"] for hit in answer["hits"]], [hit["value"] for hit in answer["hits"]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_object(kind, tmp_path):
    """Searched for, looked at, added and removed through JSON, with the index's own bits."""
    objects, kernel, shown = KINDS[kind]
    index = fastmks.Index(objects, kernel)
    path = tmp_path / "index.fmks"
    index.save(path)
    k = min(3, len(shown))
    wanted = index.search(objects, k=k)
    with serving(path, writable=True) as client:
        batch = client.post("/v1/batch", json={"queries": shown, "k": k}).json()
        for i, answer in enumerate(batch["answers"]):
            assert ids_and_values(answer) == (wanted.ids[i].tolist(), wanted.values[i].tolist())
        one = client.post("/v1/search", json={"query": shown[1], "k": k}).json()
        assert ids_and_values(one) == (wanted.ids[1].tolist(), wanted.values[1].tolist())
        if kind == "values":  # an object is its values with those that were there before it
            more = [*shown[0], shown[0][0]]
            assert client.post("/v1/objects", json={"objects": [more]}).json()["ids"] == [40]
            return
        got = client.get("/v1/objects/1").json()
        assert got["id"] == 1
        again = client.post("/v1/search", json={"query": got["object"], "k": k}).json()
        assert ids_and_values(again) == ids_and_values(one)
        assert client.post(
            "/v1/objects", json={"objects": shown[:2], "ids": [500, 600]}
        ).json() == {
            "ids": [500, 600],
            "size": len(shown) + 2,
        }
        assert client.post("/v1/objects", json={"objects": shown[2:3]}).json()["ids"] == [601]
        assert client.post("/v1/objects/remove", json={"ids": [0]}).json()["size"] == len(shown) + 2
    assert (tmp_path / "index.fmks.journal").stat().st_size < 130  # it was saved at the end
    changed = fastmks.load(path)
    assert {500, 600, 601} <= set(changed.ids.tolist())
    index.add(index.get([0, 1, 2]), ids=[500, 600, 601])
    index.remove([0])
    mine, theirs = index.search(objects, k=k), changed.search(objects, k=k)
    assert np.array_equal(mine.values, theirs.values)
    assert np.array_equal(mine.ids, theirs.ids)


@pytest.mark.parametrize(
    ("kernel", "make", "show"),
    [
        (kernels.WeisfeilerLehman(1), lambda x: ([(0, 1)], [x, "C"]), as_graph),
        (kernels.ShortestPath(), lambda x: ([(0, 1)], [x, "C"]), as_graph),
        (kernels.Jaccard(), lambda x: {x, "C"}, list),
    ],
)
def test_one_and_true_are_the_same_label_as_in_python(kernel, make, show, tmp_path):
    """JSON tells them apart, Python does not; answers are those of Python, before and after."""
    labels = [1, True, 1.0, 0, False, "1"]
    index = fastmks.Index([make("C"), make(1), make(0)], kernel)
    path = tmp_path / "index.fmks"
    index.save(path)
    with serving(path, writable=True) as client:
        for _ in range(2):
            wanted = index.search([make(label) for label in labels], k=3)
            queries = [show(make(label)) for label in labels]
            answers = client.post("/v1/batch", json={"queries": queries, "k": 3}).json()["answers"]
            for i, answer in enumerate(answers):
                assert ids_and_values(answer) == (wanted.ids[i].tolist(), wanted.values[i].tolist())
            assert answers[0]["hits"] == answers[1]["hits"] == answers[2]["hits"]
            index.add([make(True), make(False)])
            added = [show(make(True)), show(make(False))]
            client.post("/v1/objects", json={"objects": added})
        shown = client.get("/v1/objects/3").text
    assert "true" not in shown  # as the index met it first
    theirs = fastmks.load(path).search([make(True)], k=7)
    assert np.array_equal(theirs.ids, index.search([make(True)], k=7).ids)


def test_functions_of_your_own_take_what_json_gives(tmp_path):
    path = tmp_path / "things.fmks"
    things = [{"tags": ["a", "b"]}, {"tags": ["c"]}]
    own = {"encode": lambda thing: json.dumps(thing).encode(), "decode": json.loads}
    fastmks.Index(things, overlap).save(path, encode=own["encode"])
    with serving(path, writable=True, kernel=overlap, **own) as client:
        answer = client.post("/v1/search", json={"query": {"tags": ["c", "x"]}, "k": 1}).json()
        assert ids_and_values(answer) == ([1], [1.0])
        client.post("/v1/objects", json={"objects": [{"tags": ["x"]}]})
        assert client.get("/v1/objects/2").json()["object"] == {"tags": ["x"]}
    assert fastmks.load(path, kernel=overlap, decode=json.loads).get([2]) == [{"tags": ["x"]}]
    with pytest.raises(fastmks.InvalidArgument, match="encode must be given"):
        open_served(path, writable=True, kernel=overlap, decode=json.loads)
    with open_served_again(path, own) as served:  # the failed attempt left no lock
        assert len(served.index) == 3


def test_objects_that_could_not_be_saved_are_not_acknowledged(tmp_path):
    path = tmp_path / "things.fmks"

    def encode(thing):
        return thing["tags"] if "raw" in thing else json.dumps([thing["tags"]]).encode()

    own = {"encode": encode, "decode": lambda data: {"tags": json.loads(data)[0]}}
    fastmks.Index([{"tags": ["a"]}], overlap).save(path, encode=encode)
    limits = Limits(journal_bytes=1)  # saved after every change
    with serving(path, writable=True, kernel=overlap, limits=limits, **own) as client:
        for wrong, why in (
            ({"raw": 1, "tags": []}, "encode must return bytes; it returned list"),
            ({"other": 1}, "encode raises KeyError: 'tags'"),
        ):
            answer = client.post("/v1/objects", json={"objects": [{"tags": ["b"]}, wrong]})
            assert answer.status_code == 400
            assert f"objects[1] cannot be saved: {why}" in answer.json()["error"]["message"]
        assert client.post("/v1/objects", json={"objects": [{"tags": ["c"]}]}).is_success
        assert client.get("/health").json() == {"status": "ok"}
    index = fastmks.load(path, kernel=overlap, decode=own["decode"])
    assert index.get(index.ids) == [{"tags": ["a"]}, {"tags": ["c"]}]


def open_served_again(path, own):
    from contextlib import closing

    return closing(open_served(path, writable=True, kernel=overlap, **own))


def test_options_are_those_of_a_search(digits):
    index = fastmks.Index(VECTORS, algorithm="tree")
    query = VECTORS[3].tolist()
    with serving(index) as client:
        for options in (
            {"epsilon": 0.5},
            {"relative": 0.1},
            {"rank": 9, "delta": 0.1, "seed": 4, "k": 2},
            {"budget": 12},
            {"only": [3, 5, 7], "k": 2},
            {"algorithm": "scan"},
            {"k": 4.0},
        ):
            with_k = {"k": 3, **options}
            wanted = index.search([query], **{**with_k, "k": int(with_k["k"])})
            answer = client.post("/v1/search", json={"query": query, **with_k}).json()
            assert ids_and_values(answer) == (wanted.ids[0].tolist(), wanted.values[0].tolist())
            assert answer["gap"] == wanted.gap[0]
            assert answer["n_proven"] == wanted.proven.sum()
            assert answer["stats"]["evaluations"] == wanted.stats.kernel_evaluations
    above = index.search_above([query], 1.5)
    answer = digits.post("/v1/search", json={"query": query, "threshold": 1.5}).json()
    assert ids_and_values(answer) == (above.ids.tolist(), above.values.tolist())


def test_few_hits_when_not_said_how_many(digits):
    query = VECTORS[0].tolist()
    assert len(digits.post("/v1/search", json={"query": query}).json()["hits"]) == 10
    few = digits.post("/v1/search", json={"query": query, "only": [1, 2]}).json()
    assert len(few["hits"]) == 2
    with serving(fastmks.Index(VECTORS[:3])) as client:
        assert len(client.post("/v1/search", json={"query": query}).json()["hits"]) == 3


def test_what_is_served(digits):
    about = digits.get("/v1/index").json()
    assert about["size"] == 40
    assert about["kind"] == "vectors of 5 columns"
    assert about["kernel"] == "Linear()"
    assert (about["algorithm"], about["form"], about["writable"]) == ("auto", "vector", False)
    assert about["limits"]["k"] == 1000
    assert digits.get("/health").json() == {"status": "ok"}
    plan = digits.post("/v1/explain", json={"queries": VECTORS[:2].tolist(), "k": 3}).json()
    assert plan["algorithm"] == "scan"
    assert plan["n_queries"] == 2
    assert plan["text"].startswith("2 queries")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ([], "JSON object"),
        ({}, "'query'"),
        ({"query": None}, "array of numbers"),
        ({"query": [1, 2]}, "5 numbers"),
        ({"query": [1, 2, 3, 4, True]}, "array of numbers"),
        ({"query": [1, 2, 3, 4, [5]]}, "array of numbers"),
        ({"query": [1, 2, 3, 4, 10**400]}, "within float64"),
        ({"query": {"columns": [5], "values": [1]}}, "0 to 4"),
        ({"query": {"columns": [1, 1], "values": [1, 2]}}, "once"),
        ({"query": {"columns": [1]}}, "columns"),
        ({"query": {"columns": [1.5], "values": [1]}}, "whole numbers"),
        ({"query": [0] * 5, "k": 0}, "k must be"),
        ({"query": [0] * 5, "k": 41}, "40 indexed objects"),
        ({"query": [0] * 5, "k": 10**30}, "k must be"),
        ({"query": [0] * 5, "k": "3"}, "k must be"),
        ({"query": [0] * 5, "k": None}, "null"),
        ({"query": [0] * 5, "kk": 1}, "'kk'"),
        ({"query": [0] * 5, "only": [True] * 40}, "whole numbers"),
        ({"query": [0] * 5, "only": ["a"]}, "whole numbers"),
        ({"query": [0] * 5, "only": [10**30]}, "int64"),
        ({"query": [0] * 5, "only": [99]}, "99"),
        ({"query": [0] * 5, "only": []}, "k must be"),
        ({"query": [0] * 5, "algorithm": "magic"}, "algorithm must be"),
        ({"query": [0] * 5, "algorithm": ["scan"]}, "algorithm must be"),
        ({"query": [0] * 5, "seconds": 1e9}, "at most 30"),
        ({"query": [0] * 5, "epsilon": -1}, "epsilon"),
        ({"query": [0] * 5, "seed": -1}, "seed"),
        ({"query": [0] * 5, "threshold": 1, "k": 2}, "threshold cannot be combined with k"),
        ({"query": [1e308] * 5}, "finite values"),
    ],
)
def test_bad_arguments_are_named(digits, body, says):
    answer = digits.post("/v1/search", json=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] in ("InvalidArgument", "KernelValueError")
    assert says in error["message"]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"nonsense",
        b'{"query": [1, 2, 3, 4, NaN]}',
        b'{"query": [1, 2, 3, 4, -Infinity]}',
        b'{"query": [1, 2, 3, 4, 1e999]}',
        b'{"query": [1, 2, 3, 4, 5], "k": 1, "k": 2}',
        b'{"query": [1, 2, 3, 4, 5]} {}',
        b'{"query": ' + b"[" * 40 + b"]" * 40 + b"}",
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
        b'\xff\xfe{"query": 1}',
        b'"\xed\xa0\x80"',
        b'{"query": [1, 2, 3, 4, ' + b"9" * 5000 + b"]}",
    ],
)
def test_what_is_no_json_that_can_be_trusted(digits, text):
    answer = digits.post("/v1/search", content=text, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "InvalidArgument"
    assert len(answer.content) < 1000


def test_values_come_back_as_they_are(digits):
    """Numbers of an answer are the float64s of the index, also the awkward ones."""
    query = [0.1, 1 / 3, -1e-300, 5e-324, 2.0**53 + 2]
    wanted = fastmks.Index(VECTORS).search([query], k=40)
    answer = digits.post("/v1/search", json={"query": query, "k": 40}).json()
    assert ids_and_values(answer) == (wanted.ids[0].tolist(), wanted.values[0].tolist())
    assert all(math.isfinite(value) for value in ids_and_values(answer)[1])


def test_ids_of_every_sort():
    names = ["../../etc/passwd", "a/b", "a b?", "é", "", "%2e", "remove", "\ud800"]
    with serving(index_with_odd_ids(VECTORS[:8], ids=names), writable=True) as client:
        hits = client.post("/v1/search", json={"query": [1] * 5, "k": 8}).json()["hits"]
        assert {hit["id"] for hit in hits} == set(names)
        for i, name in enumerate(names[:-1]):
            quoted = "".join(f"%{byte:02x}" for byte in name.encode())
            got = client.get(f"/v1/objects/{quoted}")
            assert got.json() == {"id": name, "object": VECTORS[i].tolist()}
        assert client.get("/v1/objects/..%2f..%2fetc%2fshadow").status_code == 404
        missing = client.post("/v1/objects", json={"objects": [[1] * 5]})
        assert missing.status_code == 400
        assert "ids must be given" in missing.json()["error"]["message"]
        assert client.post("/v1/objects/remove", json={"ids": ["a/b", "nix"]}).status_code == 404
        assert client.get("/v1/index").json()["size"] == 8
        all_ids = json.dumps({"ids": names})  # one of which UTF-8 has not, but JSON has
        as_json = {"content-type": "application/json"}
        removed = client.post("/v1/objects/remove", content=all_ids, headers=as_json)
        assert removed.json()["size"] == 0
        empty = client.post("/v1/search", json={"query": [1] * 5})
        assert empty.status_code == 400
        assert client.post("/v1/objects", json={"objects": [[1] * 5], "ids": ["x"]}).is_success


def test_paths_are_matched_whole():
    """A newline at the end is part of an id, and of no other path."""
    names = ["a", "b\n", "\n", "c\nd", "e\r"]
    with serving(index_with_odd_ids(VECTORS[:5], ids=names), make_routes=page_routes) as client:
        for i, name in enumerate(names):
            got = client.get(f"/v1/objects/{quote(name, safe='')}")
            assert got.json() == {"id": name, "object": VECTORS[i].tolist()}
        for name in ("a\n", "b", "b\n\n", "\n\n", "c", "c\n", "e", "e\r\n"):
            assert client.get(f"/v1/objects/{quote(name, safe='')}").status_code == 404
        for route in ("health", "metrics", "openapi.json", "v1/index", "page/about", ""):
            assert client.get(f"/{route}").is_success
            assert client.get(f"/{route}%0A").status_code == 404
        assert client.post("/v1/search%0A", json={"query": [1] * 5}).status_code == 404


def test_the_page_takes_ids_as_they_are():
    with serving(fastmks.Index(VECTORS[:5], ids=range(5, 10)), make_routes=page_routes) as client:
        kernel = client.get("/page/about").json()["kernels"][0]["text"]
        for name, status in [("7", 200), (7, 200), ("7\n", 400), (" 7", 400), ("+7", 400)]:
            body = {"id": name, "kernel": kernel, "k": 1}
            assert client.post("/page/compare", json=body).status_code == status


def test_numbers_in_addresses(digits):
    for text, status in [("7", 200), ("-1", 404), ("07", 200), ("9" * 30, 400), ("x", 400)]:
        assert digits.get(f"/v1/objects/{text}").status_code == status
    assert digits.get(f"/v1/objects/{2**63}").status_code in (400, 404)


def test_changes_that_cannot_be_made_change_nothing():
    with serving(fastmks.Index(VECTORS, kernels.Polynomial(degree=3)), writable=True) as client:
        for body, status in [
            ({"objects": [[1] * 5], "ids": [3]}, 409),
            ({"objects": [[1] * 5, [2] * 5], "ids": [100, 100]}, 400),
            ({"objects": [[1] * 5], "ids": [100, 101]}, 400),
            ({"objects": [[1] * 5], "ids": ["a"]}, 400),
            ({"objects": [[1] * 4]}, 400),
            ({"objects": []}, 400),
            ({"objects": [[1] * 5], "ids": None}, 400),
        ]:
            assert client.post("/v1/objects", json=body).status_code == status
        for body, status in [({"ids": [1, 99]}, 404), ({"ids": []}, 400), ({"ids": ["a"]}, 400)]:
            assert client.post("/v1/objects/remove", json=body).status_code == status
        assert client.get("/v1/index").json()["size"] == 40
        assert client.served.journal_bytes < 130


def test_labels_that_json_has_not():
    with serving(fastmks.Index([{b"salt"}, {"egg"}], kernels.Jaccard())) as client:
        assert client.get("/v1/objects/0").status_code == 422
        assert client.get("/v1/objects/1").json()["object"] == ["egg"]


def test_more_routes_are_behind_the_same_guard():
    from starlette.responses import HTMLResponse
    from starlette.routing import Route

    async def page(request):
        return HTMLResponse("<p>hello</p>")

    with serving(
        fastmks.Index(VECTORS),
        make_routes=lambda *_: [Route("/", page)],
        token="a token of some length",
    ) as client:
        answer = client.get("/")
        assert answer.text == "<p>hello</p>"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert client.get("/", headers={"authorization": ""}).status_code == 401


def test_metrics_count():
    with serving(fastmks.Index(VECTORS), writable=True) as client:
        client.post("/v1/batch", json={"queries": VECTORS[:3].tolist(), "k": 2})
        client.post("/v1/search", json={"query": [1]})
        client.post("/v1/objects", json={"objects": [[1] * 5] * 4})
        client.get("/somewhere")
        text = client.get("/metrics").text
    for line in (
        'fastmks_requests_total{route="/v1/batch",method="POST",status="200"} 1',
        'fastmks_requests_total{route="/v1/search",method="POST",status="400"} 1',
        'fastmks_requests_total{route="other",method="GET",status="404"} 1',
        'fastmks_request_seconds_bucket{route="/v1/batch",le="+Inf"} 1',
        'fastmks_request_seconds_count{route="/v1/batch"} 1',
        'fastmks_refused_total{type="InvalidArgument"} 1',
        "fastmks_queries_total 3",
        'fastmks_evaluations_total{kind="object"} 120',
        'fastmks_changes_total{kind="added"} 4',
        "fastmks_objects 44",
        "fastmks_in_flight 1",
        "fastmks_can_write 1",
    ):
        assert f"\n{line}\n" in text
    assert int(text.partition("\nfastmks_journal_bytes ")[2].partition("\n")[0]) > 150


def test_letters_that_are_no_bytes():
    with serving(fastmks.Index([b"abc", b"bcd"], kernels.Spectrum(2))) as client:
        answer = client.post("/v1/search", json={"query": "ab\u0100"})
        assert answer.status_code == 400
        assert "U+00FF" in answer.json()["error"]["message"]


def test_the_description_of_a_token():
    with serving(fastmks.Index(VECTORS), token="a token of some length") as client:
        described = client.get("/openapi.json").json()
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for route, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["security"] == ([] if route == "/health" else [{"token": []}])
            assert ("401" in operation["responses"]) == (route != "/health")
