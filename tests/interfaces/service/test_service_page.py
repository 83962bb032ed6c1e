"""The page as a part of the service: behind its token, within its limits, in its metrics."""

import threading
import time

import numpy as np
import pytest

import fastmks
from fastmks._util.progress import Progress
from fastmks.service import Limits
from fastmks.service.page import page_routes
from fastmks.service.page.views import Views
from fastmks.service.refusals import RefusalError
from fastmks.service.workers import Deadline
from support.serving import serving
from support.waiting import PATIENCE, wait_until

TOKEN = "a token of some length"
VECTORS = np.random.default_rng(3).normal(size=(300, 6))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(VECTORS, "cosine", algorithm="tree").save(path)
    return path


def prompt(x, y):
    return float(len(set(x) & set(y)))


@pytest.fixture
def words_path(tmp_path):
    path = tmp_path / "words.fmks"
    fastmks.Index(["abc", "bcd"] * 200, prompt).save(path, encode=str.encode)
    return path


def test_it_answers_as_the_index_does(path):
    with serving(path, make_routes=page_routes) as client:
        assert "<title>" in client.get("/").text
        kernel = client.get("/page/about").json()["kernels"][0]["text"]
        asked = {"object": VECTORS[7].tolist(), "kernel": kernel, "k": 4}
        found = client.post("/page/compare", json=asked).json()
        wanted = fastmks.load(path).search(VECTORS[7], k=4)
        assert [hit["id"] for hit in found["hits"]] == [str(i) for i in wanted.ids[0]]
        assert [hit["value"] for hit in found["hits"]] == wanted.values[0].tolist()
        metrics = client.get("/metrics").text
        assert 'route="/page/compare"' in metrics


def test_everything_of_it_needs_the_token(path):
    with serving(path, make_routes=page_routes, token=TOKEN) as client:
        for asked in ("/", "/page/page.js", "/page/about", "/page/objects"):
            assert client.get(asked).status_code == 200
            refused = client.get(asked, headers={"authorization": ""})
            assert refused.status_code == 401
            assert "Basic" in refused.headers["www-authenticate"]  # browsers ask for it


def test_it_keeps_to_the_time_of_a_request(words_path):
    limits, pause = Limits(seconds=0.7, workers=1), [0.0]

    def pausing(x, y):
        time.sleep(pause[0])
        return prompt(x, y)

    with serving(
        words_path, limits=limits, kernel=pausing, decode=bytes.decode, make_routes=page_routes
    ) as client:
        kernel = _own(client)
        pause[0] = 0.02  # a search takes 8 s
        answer = client.post("/page/compare", json={"id": "0", "kernel": kernel, "k": 2})
        assert answer.status_code == 408
        assert "took longer than 0.7 s" in answer.json()["error"]["message"]


@pytest.mark.parametrize("kernel", ["own", "linear"])
def test_a_tree_that_takes_too_long_is_given_up(kernel):
    """Neither comparing nor pictures go on with it: the one worker is free soon after."""
    limits = Limits(seconds=1.0, workers=1)
    with serving(
        fastmks.Index(np.random.default_rng(0).normal(size=(30_000, 60)), "cosine"),
        limits=limits,
        make_routes=page_routes,
    ) as client:
        _own(client)
        asked = {"id": "0", "kernel": kernel, "algorithm": "tree"}
        assert client.post("/page/compare", json=asked).status_code == 408
        wait_until(lambda: "fastmks_working 0" in client.get("/metrics").text)
        wanted = f"/page/pictures?kernel={kernel}&tree=true"
        while (pictures := client.get(wanted)).status_code == 408:  # the map too, where it is slow
            pass
        assert pictures.json()["tree"] is None


def test_a_map_that_takes_too_long_is_given_up_and_made_another_time(tmp_path):
    calls = []

    def pausing(x, y):
        calls.append(1)
        time.sleep(0.001 if len(calls) > 2000 else 0.0)
        return float(len(set(x) & set(y)))

    path = tmp_path / "sets.fmks"
    fastmks.Index(["abc", "bcd", "xyz"] * 20, prompt).save(path, encode=str.encode)
    index = fastmks.load(path, kernel=pausing, decode=bytes.decode)
    view = Views(lambda: index, most_objects=1000).now(Progress(False))
    deadline = Deadline(0.1)
    calls.extend([1] * 2000)
    with pytest.raises(RefusalError, match=r"longer than 0\.1 s"):
        view.map(view.choices["own"], deadline.progress())
    assert view.drawn_map(view.choices["own"]) is None
    assert view.map(view.choices["own"], Progress(False)) is not None


def test_who_waits_for_what_another_makes_gives_up_too(path):
    view = Views(lambda: fastmks.load(path), most_objects=1000).now(Progress(False))
    begun, done = threading.Event(), threading.Event()

    def make():
        begun.set()
        done.wait(PATIENCE)
        return "made"

    maker = threading.Thread(target=view._make, args=("a", "b", Progress(False), make))
    maker.start()
    assert begun.wait(PATIENCE)
    try:
        with pytest.raises(RefusalError, match=r"longer than 0\.2 s"):
            view._make("a", "b", Deadline(0.2).progress(), make)
    finally:
        done.set()
        maker.join()
    assert view._make("a", "b", Deadline(PATIENCE).progress(), make) == "made"


def test_its_bodies_are_those_of_the_service(path):
    asked = {"id": "0", "kernel": "own"}
    with serving(path, limits=Limits(body_bytes=20), make_routes=page_routes) as client:
        answer = client.post("/page/compare", json=asked)
        assert (answer.status_code, answer.json()["error"]["type"]) == (413, "TooLarge")
    with serving(path, limits=Limits(bodies_bytes=20), make_routes=page_routes) as client:
        answer = client.post("/page/compare", json=asked)
        assert (answer.status_code, answer.json()["error"]["type"]) == (429, "TooMany")
    large = {**asked, "object": [0.5] * 300_000}
    del large["id"]
    with serving(path, limits=Limits(body_bytes=4 << 20), make_routes=page_routes) as client:
        assert "6 finite numbers" in client.post("/page/compare", json=large).text


def test_its_errors_are_those_of_the_service(path):
    with serving(path, make_routes=page_routes) as client:
        twice = b'{"kernel": "own", "id": 0, "id": 1}'
        headers = {"content-type": "application/json"}
        for route in ("/page/compare", "/v1/search"):
            answer = client.post(route, content=twice, headers=headers)
            assert answer.status_code == 400
            assert answer.json()["error"]["type"] == "InvalidArgument"
            assert "each key once" in answer.json()["error"]["message"]
        missing = client.get("/page/nothing.js")
        assert (missing.status_code, missing.json()["error"]["type"]) == (404, "NotFound")


def test_it_waits_in_the_same_line(words_path):
    limits, may_go_on = Limits(seconds=PATIENCE, workers=1, waiting=1), threading.Event()
    may_go_on.set()

    def waiting(x, y):
        assert may_go_on.wait(PATIENCE)
        return prompt(x, y)

    with serving(
        words_path, limits=limits, kernel=waiting, decode=bytes.decode, make_routes=page_routes
    ) as client:
        kernel, codes = _own(client), []
        may_go_on.clear()

        def ask():
            asked = {"id": "0", "kernel": kernel, "k": 2}
            codes.append(client.post("/page/compare", json=asked).status_code)

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(codes) == 3)  # one is worked on, and one waits
        may_go_on.set()
        for thread in threads:
            thread.join()
        assert codes == [429] * 3 + [200] * 2


def _own(client):
    while (about := client.get("/page/about")).status_code == 408:  # it goes on, and is kept
        pass
    return about.json()["kernels"][0]["text"]
