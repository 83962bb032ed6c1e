"""The page as a part of the service: behind its token, within its limits, in its metrics."""

import threading
import time

import numpy as np
import pytest

import fastmks
from fastmks.service import Limits
from fastmks.service.page import page_routes
from serving import serving

TOKEN = "a token of some length"
VECTORS = np.random.default_rng(3).normal(size=(300, 6))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(VECTORS, "cosine", algorithm="tree").save(path)
    return path


def slow(x, y):
    time.sleep(0.002)
    return float(len(set(x) & set(y)))


def prompt(x, y):
    return float(len(set(x) & set(y)))


@pytest.fixture
def slow_path(tmp_path):
    path = tmp_path / "slow.fmks"
    fastmks.Index(["abc", "bcd"] * 200, slow).save(path, encode=str.encode)
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


def test_it_keeps_to_the_time_of_a_request(slow_path):
    limits = Limits(seconds=0.7, workers=1)  # a search takes longer
    with serving(
        slow_path, limits=limits, kernel=slow, decode=bytes.decode, make_routes=page_routes
    ) as client:
        answer = client.post("/page/compare", json={"id": "0", "kernel": _own(client), "k": 2})
        assert answer.status_code == 408
        assert "took longer than 0.7 s" in answer.json()["error"]


def test_it_waits_in_the_same_line(slow_path):
    limits = Limits(seconds=60.0, workers=1, waiting=1)
    with serving(
        slow_path, limits=limits, kernel=prompt, decode=bytes.decode, make_routes=page_routes
    ) as client:
        kernel, codes = _own(client), []

        def ask():
            asked = {"id": "0", "kernel": kernel, "k": 2}
            codes.append(client.post("/page/compare", json=asked).status_code)

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(codes) == {200, 429}


def _own(client):
    while (about := client.get("/page/about")).status_code == 408:  # it goes on, and is kept
        pass
    return about.json()["kernels"][0]["text"]
