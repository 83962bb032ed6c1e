"""Services that are killed at any moment, and searched while they are changed."""

import contextlib
import random
import signal
import threading
import time

import httpx
import numpy as np
import pytest

import fastmks
from fastmks.service import open_served, serve
from support.functions import overlap
from support.serving import Process, serving
from support.waiting import PATIENCE

N_ROUNDS, N_WRITERS = 5, 4


class Writer:
    """Adds and removes objects of its own ids until the service is gone, and keeps account."""

    def __init__(self, address, number, objects, seed):
        self.objects = objects  # by id, as acknowledged
        self.after = dict(objects)  # with the change that was under way
        self._number, self._rng = number, random.Random(seed)
        self._client = httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False)
        self.n_done = 0
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        with self._client:
            try:
                while True:
                    self._change()
            except httpx.TransportError:
                pass

    def _change(self):
        rng = self._rng
        if self.objects and rng.random() < 0.4:
            ids = rng.sample(sorted(self.objects), rng.randint(1, min(3, len(self.objects))))
            self.after = {name: one for name, one in self.objects.items() if name not in ids}
            answer = self._client.post("/v1/objects/remove", json={"ids": ids})
        else:
            first = max(self.objects, default=self._number * 1_000_000) + rng.randint(1, 3)
            new = {first + i: [rng.gauss(0, 1) for _ in range(3)] for i in range(rng.randint(1, 4))}
            self.after = {**self.objects, **new}
            body = {"objects": list(new.values()), "ids": list(new)}
            answer = self._client.post("/v1/objects", json=body)
        if answer.status_code == 503:  # told to stop, it takes no more
            self.after = self.objects
            raise httpx.ReadError("the service is stopping")
        assert answer.status_code == 200
        self.objects = self.after
        self.n_done += 1


def check(path, writers, first):
    """What was acknowledged is there; a change that was under way is there as a whole or not."""
    index = open_served(path).index
    there = {name: index.get([name])[0].tolist() for name in index.ids.tolist()}
    for number, writer in enumerate(writers):
        mine = {name: one for name, one in there.items() if name // 1_000_000 == number + 1}
        assert mine in (writer.objects, writer.after)
        writer.objects = mine
    assert {name: one for name, one in there.items() if name < 1_000_000} == first
    twin = fastmks.Index(np.array(list(there.values())), ids=list(there))
    queries = np.random.default_rng(len(there)).normal(size=(5, 3))
    k = min(10, len(there))
    found, wanted = index.search(queries, k=k), twin.search(queries, k=k)
    assert np.array_equal(found.values, wanted.values)
    assert np.array_equal(found.ids, wanted.ids)


def test_a_kill_at_any_moment_loses_nothing_acknowledged(tmp_path):
    """The journal is short, so that many kills meet a service that is saving."""
    path = tmp_path / "index.fmks"
    vectors = np.random.default_rng(0).normal(size=(30, 3))
    fastmks.Index(vectors).save(path)
    first = dict(enumerate(vectors.tolist()))
    rng = random.Random(8)
    accounts = [{} for _ in range(N_WRITERS)]
    n_saved = 0
    for turn in range(N_ROUNDS):
        process = Process(path, "--writable", "--journal-bytes", "3000")
        before = path.stat().st_ino
        writers = [
            Writer(process.address, number + 1, accounts[number], rng.random())
            for number in range(N_WRITERS)
        ]
        n_wanted = rng.randint(20, 150)
        while sum(writer.n_done for writer in writers) < n_wanted:
            assert all(writer.thread.is_alive() for writer in writers)
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.01))  # at any moment
        if turn == N_ROUNDS - 1:
            assert process.stop() == 0
        else:
            process.kill()
        for writer in writers:
            writer.thread.join()
        check(path, writers, first)
        n_saved += path.stat().st_ino != before
        accounts = [writer.objects for writer in writers]
    assert n_saved > 0
    assert len(fastmks.load(path)) == 30 + sum(map(len, accounts))  # the last one ended in peace


@pytest.mark.parametrize("algorithm", ["auto", "tree"])
def test_every_answer_is_that_of_some_moment(tmp_path, algorithm):
    """Searches beside a writer: between what was acknowledged before, and begun before the end."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(200, 4))
    path = tmp_path / "index.fmks"
    index = fastmks.Index(vectors, algorithm=algorithm)
    index.save(path)
    queries = rng.normal(size=(6, 4))
    moments = [index.search(queries, k=5)]  # the answers after so many changes
    changes = []
    for turn in range(60):
        if turn % 3 == 2:
            leaving = index.search(queries[turn % 6][None], k=1).ids[0].tolist()
            changes.append(("/v1/objects/remove", {"ids": leaving}))
            index.remove(leaving)
        else:
            more = (2 * rng.normal(size=(2, 4))).tolist()
            changes.append(("/v1/objects", {"objects": more}))
            index.add(more)
        moments.append(index.search(queries, k=5))
    begun, ended, seen = [0], [0], []

    def ask(number):
        with httpx.Client(base_url=client.base_url, timeout=PATIENCE, trust_env=False) as mine:
            is_over = False
            while not is_over:
                least = ended[0]
                is_over = least == len(changes)
                body = {"query": queries[number].tolist(), "k": 5}
                hits = mine.post("/v1/search", json=body).json()["hits"]
                seen.append((number, least, begun[0], hits))

    with serving(path, writable=True) as client:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for route, body in changes:
            begun[0] += 1
            assert client.post(route, json=body).status_code == 200
            ended[0] += 1
        for thread in threads:
            thread.join()
    assert len(seen) >= 6
    for number, least, most, hits in seen:
        found = [(hit["id"], hit["value"]) for hit in hits]
        candidates = [
            list(zip(m.ids[number].tolist(), m.values[number].tolist(), strict=True))
            for m in moments[least : most + 1]
        ]
        assert found in candidates


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_that_is_told_to_stop_answers_and_saves(tmp_path, number):
    """Requests under way are answered; what was acknowledged is in the file itself."""
    path = tmp_path / "index.fmks"
    fastmks.Index(np.random.default_rng(0).normal(size=(20_000, 60))).save(path)
    process = Process(path, "--writable", "--workers", "1")
    body = {"objects": np.ones((3, 60)).tolist()}
    assert process.client.post("/v1/objects", json=body).json()["ids"] == [20000, 20001, 20002]
    queries = {"queries": np.random.default_rng(1).normal(size=(400, 60)).tolist(), "k": 1}
    queries["algorithm"] = "scan"
    answers, is_working = [], False

    def ask():
        with httpx.Client(base_url=process.address, timeout=PATIENCE, trust_env=False) as client:
            answers.append(client.post("/v1/batch", json=queries))

    while not is_working:  # the answer may come before anybody has looked
        n_answers = len(answers)
        thread = threading.Thread(target=ask)
        thread.start()
        while not is_working and len(answers) == n_answers:
            is_working = "\nfastmks_working 1\n" in process.client.get("/metrics").text
    assert process.stop(number) == 0
    thread.join()
    assert answers[-1].status_code == 200
    assert len(answers[-1].json()["answers"]) == 400
    assert len(fastmks.load(path)) == 20_003
    assert "Traceback" not in process.said


STUCK = """
import sys, time
from pathlib import Path
from fastmks.service import Limits, app, serve
from fastmks.service import server as running

app.GRACE = running.GRACE = 0.5  # instead of 5 s

def stuck(x, y):
    if "stuck" in (x, y):
        time.sleep(3600)  # nothing stops a call of a function of one's own
    return float(len(set(x) & set(y)))

def encode(x):
    if x == "stuck":
        Path(sys.argv[1]).with_name("begun").touch()
        time.sleep(3600)
    return x.encode()

serve(
    sys.argv[1],
    port=0,
    kernel=stuck,
    encode=encode,
    decode=bytes.decode,
    writable=True,
    limits=Limits(workers=2, seconds=0.5),
    announce=lambda address: print("at", address, file=sys.stderr, flush=True),
)
"""


@pytest.fixture
def stuck_path(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(["abc", "bcd"], overlap).save(path, encode=str.encode)
    return path


def reopened(path):
    return open_served(path, kernel=overlap, decode=bytes.decode).index


def add_one(process):
    """Add an object; on a busy machine half a second may be over before that is begun with."""
    while process.client.post("/v1/objects", json={"objects": ["cde"]}).status_code == 408:
        pass


def ask_what_nothing_stops(process):
    """Two requests for two workers, or more where some are given up before they are begun with."""
    add_one(process)
    n_asked = 0
    while process.client.get("/health").is_success:
        answer = process.client.post("/v1/search", json={"query": "stuck", "k": 1})
        assert answer.status_code == 408
        n_asked += 1
    assert n_asked >= 2


def test_a_service_whose_workers_are_all_overdue_is_not_healthy_and_ends(stuck_path):
    """Its index is saved, and the process leaves, though two calls have an hour to go."""
    process = Process(stuck_path, code=STUCK)
    ask_what_nothing_stops(process)
    health = process.client.get("/health")
    assert health.status_code == 503
    assert health.json()["error"]["type"] == "Overdue"
    assert "all 2 workers" in health.json()["error"]["message"]
    assert "\nfastmks_overdue 2\n" in process.client.get("/metrics").text
    assert process.stop() == 0
    assert "ended without waiting for what still runs" in process.said
    assert len(fastmks.load(stuck_path, kernel=overlap, decode=bytes.decode)) == 3


def test_ctrl_c_again_and_again_leaves_at_once(stuck_path):
    process = Process(stuck_path, code=STUCK)
    ask_what_nothing_stops(process)
    process.signal(signal.SIGTERM)
    for _ in range(2):
        time.sleep(0.05)
        process.signal(signal.SIGINT)
    assert process.end() in (0, 130)  # which it is depends on how far it had come
    assert "ended without waiting for what still runs" in process.said
    assert len(reopened(stuck_path)) == 3


def test_a_change_that_does_not_end_is_not_waited_for(stuck_path):
    """The service leaves unsaved: what was acknowledged is in the journal, the other is not."""
    process = Process(stuck_path, code=STUCK)
    add_one(process)

    def add():
        with (
            httpx.Client(base_url=process.address, timeout=PATIENCE, trust_env=False) as client,
            contextlib.suppress(httpx.HTTPError),
        ):
            while client.post("/v1/objects", json={"objects": ["stuck"]}).status_code == 408:
                pass

    thread = threading.Thread(target=add)
    thread.start()
    while not stuck_path.with_name("begun").exists():
        time.sleep(0.01)
    assert process.stop() == 1
    thread.join()
    assert "a change has not ended" in process.said
    assert len(fastmks.load(stuck_path, kernel=overlap, decode=bytes.decode)) == 2
    index = reopened(stuck_path)
    assert len(index) == 3
    assert index.get([2]) == ["cde"]


def test_a_service_that_cannot_save_its_index_at_last_says_so(tmp_path):
    path = tmp_path / "index.fmks"
    fastmks.Index(np.eye(3)).save(path)
    process = Process(path, "--writable")
    assert process.client.post("/v1/objects", json={"objects": [[5, 5, 5]]}).is_success
    path.with_name("index.fmks.saving").mkdir()  # where the new file would be written first
    assert process.stop() == 1
    assert "fastmks: error:" in process.said
    assert "index.fmks was not saved (Is a directory). The next start" in process.said
    path.with_name("index.fmks.saving").rmdir()
    assert len(open_served(path).index) == 4
    assert Process(path, "--writable").stop() == 0
    assert len(fastmks.load(path)) == 4


def test_a_signal_at_the_first_word_ends_it_in_peace(tmp_path):
    """Whoever has read the address may stop it: from then on signals are heeded."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # not the end of the tests
    path, said = tmp_path / "index.fmks", []
    fastmks.Index(np.eye(3)).save(path)

    def stop(address):
        said.append(httpx.URL(address).port)
        signal.raise_signal(signal.SIGTERM)

    try:
        serve(path, port=0, writable=True, announce=stop)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(said) == 1
    open_served(path, writable=True).close()  # nobody has it locked
