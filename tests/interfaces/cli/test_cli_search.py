"""The command search, in this process: the hits of the library, whatever the options."""

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from fastmks import Index, load
from fastmks.cli import run
from fastmks.cli.terminal import show_answers
from fastmks.outputs import answers_of
from support.calling import Q, X, rows_of, rows_of_hits, words
from support.older import index_with_odd_ids


class TestSearch:
    @pytest.fixture(autouse=True)
    def _index(self, fastmks_):
        fastmks_("build x.npy -o x.fmks --kernel cosine")

    def test_the_hits_are_those_of_the_library(self, fastmks_):
        want = rows_of_hits(Index(X, "cosine").search(Q, 4), range(23))
        assert rows_of(fastmks_("search x.fmks q.npy -k 4")) == want

    @pytest.mark.parametrize("chunk", [1, 7, 23, 4096])
    def test_chunks_make_no_difference(self, fastmks_, chunk):
        want = fastmks_("search x.fmks q.npy -k 4")
        assert fastmks_(f"search x.fmks q.npy -k 4 --chunk {chunk}") == want

    @pytest.mark.parametrize("algorithm", ["auto", "scan", "tree", "dual-tree", "filter"])
    def test_algorithms_and_threads_make_no_difference(self, fastmks_, algorithm):
        want = fastmks_("search x.fmks q.npy -k 4")
        got = fastmks_(f"search x.fmks q.npy -k 4 --algorithm {algorithm} --threads 2")
        assert got == want

    def test_every_form_of_output(self, fastmks_):
        want = Index(X, "cosine").search(Q, 2)
        fastmks_("search x.fmks q.npy -k 2 -o h.csv")
        assert rows_of(Path("h.csv").read_text()) == rows_of_hits(want, range(23))
        fastmks_("search x.fmks q.npy -k 2 -o h.jsonl --chunk 5")
        lines = [json.loads(line) for line in Path("h.jsonl").read_text().splitlines()]
        assert [line["value"] for line in lines] == want.values.ravel().tolist()
        fastmks_("search x.fmks q.npy -k 2 -o h.parquet --chunk 5")
        assert parquet.read_table("h.parquet").column("id").to_pylist() == want.ids.ravel().tolist()
        fastmks_("search x.fmks q.npy -k 2 -o anything --output-form npz --chunk 5")
        with np.load("anything") as found:
            assert np.array_equal(found["values"], want.values)
        assert (
            fastmks_("search x.fmks q.npy -k 2 --output-form jsonl") == Path("h.jsonl").read_text()
        )
        assert fastmks_("search x.fmks q.npy -k 2 -o -") == Path("h.csv").read_text()

    @pytest.mark.parametrize("command", ["search", "explain"])
    @pytest.mark.parametrize("only", ["idz.txt", "4,5,300", "-1", "9" * 30, "nix", "."])
    def test_only_says_where_it_looked(self, fastmks_, failing, command, only):
        fastmks_("build t.csv -o t.fmks")
        for index in ("x.fmks", "t.fmks"):
            code, line = failing(f"{command} {index} q.npy --only {only}")
            assert code == 1
            kind = "whole numbers" if index == "x.fmks" else "strings"
            assert f"--only must be ids of the index ({kind}) with commas between them" in line
            assert line.endswith("is no id of it.")
        fastmks_(f"{command} t.fmks q.npy -k 1 --only n4,n5")

    @pytest.mark.parametrize("command", ["search", "explain"])
    def test_only_reads_a_file_where_that_is_said(self, fastmks_, failing, command):
        fastmks_("build t.csv -o t.fmks")
        Path("n4").write_text("n7\n")
        Path("some.txt").write_text("n5\nn6\n\nn5\n")
        Path("none.txt").write_text("\n")
        Path("other.txt").write_text("n5\nx\n")
        line = f"{command} t.fmks q.npy --only"
        if command == "search":
            assert {row[2] for row in rows_of(fastmks_(f"{line} n4"))} == {"n4"}
            assert {row[2] for row in rows_of(fastmks_(f"{line} @some.txt"))} == {"n5", "n6"}
        for wrong, said in (
            ("some.txt", "'some.txt' is no id of it. For the file some.txt, write @some.txt."),
            ("@other.txt", "'x' is no id of it."),
            ("@none.txt", "--only must name at least one id; none.txt holds none."),
            ("@missing.txt", "No such file or directory: missing.txt"),
            ("n5," * 500 + "x", "'x' is no id of it."),
        ):
            code, found = failing(f"{line} {wrong}")
            assert code == 1
            assert found.endswith(said)
        failing(f"{command} t.fmks - --only @-", 2, "standard input can be read once")

    @pytest.mark.parametrize("output", ["q.npy", "x.fmks", "./q.npy", "link.csv", "some.csv"])
    def test_nothing_that_is_read_is_replaced(self, folder, failing, output):
        Path("link.csv").symlink_to("q.npy")
        Path("some.csv").write_text("4\n")
        content = Path(output).read_bytes()
        line = f"search x.fmks q.npy --only @some.csv -o {output} --output-form csv"
        failing(line, 2, f"{output} is the same file as")
        assert Path(output).read_bytes() == content

    def test_names_that_no_text_has(self, fastmks_, failing, capfd):
        index_with_odd_ids(np.eye(2), ids=["a", "b\ud800"]).save("odd.fmks")
        np.save("eye.npy", np.eye(2))
        lines = fastmks_("search odd.fmks eye.npy -k 1 --output-form jsonl").splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["a", "b\ud800"]
        failing("search odd.fmks eye.npy -k 1", 1, "got the id 'b\\ud800'")
        show_answers(answers_of(load("odd.fmks").search(np.eye(2)), ["q", "\udfff"]))
        assert "\\udfff" in capfd.readouterr().out

    def test_a_threshold(self, fastmks_):
        want = Index(X, "cosine").search_above(Q, 0.8)
        rows = rows_of(fastmks_("search x.fmks q.npy --threshold 0.8 --chunk 6"))
        assert [row[3] for row in rows] == want.values.tolist()
        assert [int(row[2]) for row in rows] == want.ids.tolist()
        assert [int(row[0]) for row in rows] == np.repeat(
            np.arange(23), np.diff(want.offsets)
        ).tolist()

    @pytest.mark.parametrize(
        ("options", "arguments"),
        [
            ("--epsilon 0.1", {"epsilon": 0.1}),
            ("--relative 0.1", {"relative": 0.1}),
            ("--rank 30 --delta 0.2 --seed 4", {"rank": 30, "delta": 0.2, "seed": 4}),
            ("--budget 20", {"budget": 20}),
        ],
    )
    def test_approximate_searches_are_those_of_the_library_with_their_gap(
        self, fastmks_, options, arguments
    ):
        fastmks_("build x.npy -o x.fmks --force --kernel cosine --algorithm tree")
        want = load("x.fmks").search(Q, 3, **arguments)
        chunk = 4096 if "rank" in arguments else 10  # each chunk has draws of its own
        text = fastmks_(f"search x.fmks q.npy -k 3 --chunk {chunk} {options}")
        assert rows_of(text) == rows_of_hits(want, range(23))
        gaps = [float(row["gap"]) for row in csv.DictReader(io.StringIO(text))]
        assert gaps == np.repeat(want.gap, 3).tolist()
        proven = [row["proven"] == "True" for row in csv.DictReader(io.StringIO(text))]
        assert proven == want.proven.ravel().tolist()

    def test_chunks_have_draws_of_their_own_and_the_same_each_time(self, fastmks_):
        np.save("same.npy", np.repeat(Q[:1], 40, axis=0))
        line = "search x.fmks same.npy -k 1 --rank 60 --seed {} --chunk 1 --algorithm tree"
        first, again, other = (fastmks_(line.format(seed)) for seed in (1, 1, 2))
        assert first == again != other
        assert len({row[2] for row in rows_of(first)}) > 5

    def test_seconds(self, folder, capfd):
        assert run(words("search x.fmks q.npy -k 2 --algorithm tree --seconds 5 -o h.csv")) == 0
        assert "exact" in capfd.readouterr().err  # time enough for all

    def test_only_some_objects(self, fastmks_):
        want = rows_of_hits(Index(X, "cosine").search(Q, 2, only=[3, 5, 8]), range(23))
        assert rows_of(fastmks_("search x.fmks q.npy -k 2 --only 3,5,8")) == want
        Path("only.txt").write_text("3\n5\n\n8\n")
        assert rows_of(fastmks_("search x.fmks q.npy -k 2 --only @only.txt")) == want
        assert len(rows_of(fastmks_("search x.fmks q.npy --only 3,5,3,8,8"))) == 3 * 23

    def test_each_object_among_the_others(self, fastmks_):
        want = rows_of_hits(Index(X, "cosine").search_self(2), range(300))
        assert rows_of(fastmks_("search x.fmks --self -k 2 --chunk 70")) == want

    def test_ids_of_queries_are_theirs(self, fastmks_):
        rows = rows_of(fastmks_("search x.fmks t.csv -k 1"))
        assert [row[:3] for row in rows] == [(f"n{i}", 1, str(i)) for i in range(300)]
        rows = rows_of(fastmks_("search x.fmks t.csv -k 1 --no-ids"))
        assert rows[7][0] == "7"

    def test_a_summary_on_standard_error(self, folder, capfd):
        assert run(words("search x.fmks q.npy -k 2 --algorithm scan -o h.csv")) == 0
        out, err = capfd.readouterr()
        assert out == ""
        assert "23 queries, 46 hits" in err
        assert "6900 kernel evaluations (100.00% of a scan), exact" in err
        assert err.startswith("q.npy: vectors of 5 columns, read as npy, no ids\n")

    def test_one_is_not_many(self, folder, capfd):
        np.save("one.npy", Q[:1])
        assert run(words("search x.fmks one.npy -k 1 --only 4 --algorithm scan -o h.csv")) == 0
        err = capfd.readouterr().err
        assert "1 query, 1 hit, " in err
        assert " 1 kernel evaluation (100.00%" in err

    @pytest.mark.parametrize(
        "kernel", ["spectrum:p=3", "normalized:spectrum:p=3", "mismatch:p=3,m=1"]
    )
    def test_strings_that_share_nothing_are_noted(self, folder, capfd, kernel):
        Path("t.fasta").write_text(">a\nMKVLAAG\n>b\nMKVLSAG\n")
        Path("some.fasta").write_text(">soft\nmkvlaag\n>known\nMKVLAAG\n>short\nMK\n")
        assert run(words(f"build t.fasta -o t.fmks --kernel {kernel}")) == 0
        capfd.readouterr()
        assert run(words("search t.fmks some.fasta -k 1 --chunk 1 -o h.csv")) == 0
        note = capfd.readouterr().err.splitlines()[-1]
        assert note.startswith("note: all values are 0 for 2 of 3 queries, which share nothing")
        assert run(words("search t.fmks t.fasta -k 2 -o h.csv")) == 0
        assert "note:" not in capfd.readouterr().err

    def test_values_of_vectors_may_be_0(self, fastmks_, capfd):
        np.save("zero.npy", 0.0 * Q)
        assert run(words("search x.fmks zero.npy -k 1 -o h.csv")) == 0
        assert "note:" not in capfd.readouterr().err

    def test_strings_molecules_and_series(self, fastmks_, monkeypatch):
        for file in ("p.fasta.gz", "m.smi", "w.txt", "s_TRAIN.tsv"):
            fastmks_(f"build {file} -o i.fmks --force")
            rows = rows_of(fastmks_(f"search i.fmks {file} -k 1 --chunk 3"))
            assert all(row[3] > 1.0 - 1e-12 for row in rows), file  # each finds itself
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"OCC\n")))
        fastmks_("build m.smi -o m.fmks --bits 512 --radius 1")
        rows = rows_of(fastmks_("search m.fmks - -k 1 --radius 1"))  # bits as in the index
        assert rows == [("0", 1, "ethanol", 1.0)]

    def test_a_few_objects_give_as_many_hits_by_default(self, fastmks_):
        fastmks_("build w.txt -o w.fmks")
        assert len(rows_of(fastmks_("search w.fmks w.txt"))) == 16

    def test_errors_in_a_later_chunk_name_the_query_of_the_file(self, failing):
        bad = Q.copy()
        bad[11, 2] = np.nan
        np.save("bad.npy", bad)
        failing("search x.fmks bad.npy --chunk 5 -o h.csv", 1, "queries[11, 2] is nan")
        assert not Path("h.csv").exists()

    def test_values_in_a_later_chunk_name_the_query_of_the_file(self, fastmks_, failing):
        fastmks_("build x.npy -o l.fmks")
        bad = Q.copy()
        bad[11] = 1e308 * np.sign(X[0])
        np.save("bad.npy", bad)
        code, line = failing("search l.fmks bad.npy --chunk 5 -o h.csv")
        assert code == 1
        assert "gives queries[11] and object" in line

    @pytest.mark.parametrize(
        ("line", "code", "words"),
        [
            ("search x.fmks", 2, "give a file of QUERIES, or --self"),
            ("search x.fmks q.npy --self", 2, "give a file of QUERIES, or --self"),
            ("search x.fmks q.npy -k 0", 2, "-k"),
            ("search x.fmks q.npy -k 301", 1, "k must be between 1 and the 300"),
            ("search x.fmks q.npy --threshold 1 --epsilon 0.1", 2, "--threshold is exact"),
            ("search x.fmks q.npy --threshold 1 -k 2", 2, "no -k"),
            ("search x.fmks --self --only 1", 2, "--self takes neither"),
            ("search x.fmks q.npy --rank 5 --epsilon 1", 1, "rank"),
            ("search x.fmks q.npy --algorithm kd", 2, "kd"),
            ("search x.fmks q.npy -o hits.xls", 2, "got 'hits.xls'"),
            ("search x.fmks q.npy -o none/hits.csv", 1, "No such file or directory"),
            ("search x.fmks nope.npy", 1, "No such file or directory: nope.npy"),
            ("search x.fmks w.txt", 1, "(w.txt was read as lines: strings; --form for another.)"),
            ("search x.fmks q.npy --only 3,x", 1, "whole numbers"),
            ("search x.fmks q.npy --only 3,999", 1, "999"),
            ("search x.npy q.npy", 1, "x.npy"),
            ("search nope.fmks q.npy", 1, "No such file or directory: nope.fmks"),
            ("search x.fmks q.npy --no-ids --id-column a", 2, "exclude each other"),
            ("search x.fmks q.npy --form xls", 2, "xls"),
        ],
        ids=range(19),
    )
    def test_wrong_usage_is_2_and_failed_work_is_1(self, failing, line, code, words):
        failing(line, code, words)
        assert not Path("hits.csv").exists()
