"""The command line, in this process: commands that make, change and look at an index."""

import gzip
import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import fastmks
from fastmks import Hits, Index, kernels, load
from fastmks.cli import run
from fastmks.cli.digits import count_verified
from support.calling import Q, X


class TestBuild:
    def test_what_is_made_is_an_index_of_the_file(self, fastmks_):
        said = fastmks_("build x.npy -o x.fmks --kernel polynomial:degree=10 --algorithm tree")
        assert "300 vectors of 5 columns, Polynomial(degree=10" in said
        assert "kernel evaluations" in said
        assert f"{Path('x.fmks').stat().st_size:,} bytes" in said
        index = load("x.fmks")
        assert index.kernel == kernels.Polynomial(degree=10)
        want = Index(X, index.kernel).search(Q, 4)
        assert np.array_equal(index.search(Q, 4).values, want.values)

    @pytest.mark.parametrize(
        ("file", "kernel"),
        [
            ("x.npy", kernels.Linear()),
            ("p.fasta.gz", kernels.Normalized(kernels.Spectrum(3))),
            ("m.smi", kernels.Tanimoto()),
            ("w.txt", kernels.Normalized(kernels.Spectrum(3))),
        ],
    )
    def test_the_kernel_suits_the_objects_and_is_said(self, folder, capfd, file, kernel):
        assert run(["build", file, "-o", "i.fmks"]) == 0
        assert load("i.fmks").kernel == kernel
        assert f"kernel {kernel!r}" in capfd.readouterr().err

    def test_molecules_are_no_vectors(self, folder, capfd):
        """Their bits are packed into bytes, which would be taken for numbers."""
        np.save("v.npy", np.zeros((3, 256)))
        assert run(["build", "v.npy", "-o", "v.fmks"]) == 0
        for line in (
            "build m.smi -o m.fmks --kernel cosine",
            "hardness m.smi --kernel linear",
            "bench m.smi --kernel minmax",
            "search v.fmks m.smi",
            "add v.fmks m.smi",
        ):
            capfd.readouterr()
            assert run(line.split()) == 1
            assert "m.smi holds molecules, which are read as finger" in capfd.readouterr().err

    def test_series_get_a_bandwidth_from_the_data(self, fastmks_):
        fastmks_("build s_TRAIN.tsv -o s.fmks")
        kernel = load("s.fmks").kernel
        assert isinstance(kernel, kernels.Normalized)
        assert 1.0 < kernel.kernel.bandwidth < 200.0

    def test_ids_from_columns_and_files(self, fastmks_):
        fastmks_("build t.csv -o t.fmks")
        assert load("t.fmks").ids[:2].tolist() == ["n0", "n1"]
        fastmks_("build t.csv -o t.fmks --force --no-ids --columns a,b,c")
        index = load("t.fmks")
        assert index.ids[:2].tolist() == [0, 1]
        assert index.get([1]).tolist() == [X[1, :3].tolist()]
        Path("ids.txt").write_text("".join(f"{i}\n" for i in range(1000, 1300)))
        fastmks_("build x.npy -o x.fmks --ids ids.txt")
        assert load("x.fmks").ids[0] == 1000

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("build x.npy", "x.npy: vectors of 5 columns, read as npy, no ids; kernel Linear()"),
            ("build x.npy --kernel cosine", "x.npy: vectors of 5 columns, read as npy, no ids\n"),
            ("build x.npy --ids n.txt", "x.npy: vectors of 5 columns, read as npy, ids from n.txt"),
            (
                "build t.csv",
                "t.csv: vectors of 5 columns, read as csv with header, ids from column 1 'id'",
            ),
            (
                "build t.csv --no-ids --columns a",
                "t.csv: vectors of 1 column, read as csv with header, no ids",
            ),
            ("build plain.csv", "vectors of 2 columns, read as csv without header, no ids"),
            ("build p.fasta.gz", "p.fasta.gz: strings, read as fasta, ids from names"),
            ("build m.smi", "fingerprints, read as smiles, ids from names after SMILES"),
            ("build named.npz", "vectors of 5 columns, read as npz, ids from the array 'ids'"),
            ("build t.parquet", "vectors of 1 column, read as parquet, ids from column 'sku'"),
        ],
        ids=range(10),
    )
    def test_what_was_understood_is_said(self, folder, capfd, line, words):
        Path("n.txt").write_text("".join(f"n{i}\n" for i in range(300)))
        Path("plain.csv").write_text("1,2\n3,4\n")
        np.savez("named.npz", x=X, ids=np.arange(300))
        parquet.write_table(pyarrow.table({"sku": ["a", "b"], "x": [1.0, 2.0]}), "t.parquet")
        assert run([*line.split(), "-o", "i.fmks"]) == 0
        err = capfd.readouterr().err
        assert words in err
        assert err.count("\n") == 1

    @pytest.mark.parametrize(
        ("file", "column"),
        [("p.csv", "sku"), ("p.csv", "2"), ("p.tsv.gz", "sku"), ("one.txt", "sku")],
    )
    def test_ids_from_a_column_of_another_table(self, fastmks_, file, column):
        names = [f"S{i}" for i in range(300)]
        rows = [f"{i}.5,{name},a thing" for i, name in enumerate(names)]
        Path("p.csv").write_text("\n".join(["price,sku,what", *rows]))
        Path("p.tsv.gz").write_bytes(gzip.compress(Path("p.csv").read_bytes().replace(b",", b"\t")))
        Path("one.txt").write_text("\n".join(["sku", *names]))
        fastmks_(f"build x.npy -o x.fmks --ids {file} --id-column {column}")
        assert load("x.fmks").ids.tolist() == names

    def test_ids_from_a_column_of_parquet_and_of_what_is_added(self, fastmks_, capfd):
        table = pyarrow.table({"what": ["a"] * 300, "number": np.arange(300) + 7})
        parquet.write_table(table, "p.parquet")
        fastmks_("build x.npy -o x.fmks --ids p.parquet --id-column number")
        assert load("x.fmks").ids[:2].tolist() == [7, 8]
        Path("q.csv").write_text("".join(f"{1000 + i};thing\n" for i in range(23)))
        fastmks_("add x.fmks q.npy --ids q.csv --id-column 1")
        assert load("x.fmks").ids[-1] == 1022
        assert "no ids" not in capfd.readouterr().err

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("build x.npy --id-column sku", "x.npy was read as npy, which has no column 'sku'"),
            (
                "build x.npy --id-column sku",
                "omit --id-column, and take the ids of an index from another file (--ids).",
            ),
            ("bench w.txt --id-column 1", "w.txt was read as lines, which has no column '1'"),
            (
                "build x.npy --ids p.csv",
                "p.csv has 2 columns (sku, price): say which one holds the",
            ),
            ("build x.npy --ids one.txt", "got 301 ids. If its first line (sku) is a header, say"),
            ("build x.npy --ids one.txt", "which column holds the ids (--id-column)."),
            ("build x.npy --ids p.csv --id-column art", "it has sku, price; got 'art'"),
        ],
        ids=range(7),
    )
    def test_ids_that_cannot_be_read_so(self, failing, line, words):
        Path("p.csv").write_text("sku,price\n" + "".join(f"S{i},{i}\n" for i in range(300)))
        Path("one.txt").write_text("sku\n" + "".join(f"S{i}\n" for i in range(300)))
        failing(f"{line} -o i.fmks" if line.startswith("build") else line, 1, words)
        assert not Path("i.fmks").exists()

    @pytest.mark.parametrize("line", ["build x.npy -o x.npy", "build x.npy --ids w.txt -o ./w.txt"])
    def test_no_input_is_replaced(self, failing, line):
        content = Path("x.npy").read_bytes(), Path("w.txt").read_bytes()
        failing(f"{line} --force", 2, "which is read; choose another for -o")
        assert (Path("x.npy").read_bytes(), Path("w.txt").read_bytes()) == content

    def test_an_existing_file_is_kept_without_force(self, fastmks_, failing):
        fastmks_("build x.npy -o x.fmks")
        content = Path("x.fmks").read_bytes()
        assert failing("build w.txt -o x.fmks") == (
            2,
            "fastmks: error: x.fmks exists; pass --force to replace it.",
        )
        assert Path("x.fmks").read_bytes() == content
        assert "strings" in fastmks_("build w.txt -o x.fmks --force")

    def test_standard_input(self, fastmks_, monkeypatch):
        stdin = io.TextIOWrapper(io.BytesIO(Path("x.npy").read_bytes()))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert "300 vectors" in fastmks_("build - -o x.fmks")


class TestChanges:
    def test_adding_and_removing(self, fastmks_):
        fastmks_("build x.npy -o x.fmks")
        assert "23 added; <Index: 323 vectors" in fastmks_("add x.fmks q.npy")
        assert load("x.fmks").ids[-1] == 322
        assert "2 removed; <Index: 321 vectors" in fastmks_("remove x.fmks 5 322")
        Path("gone.txt").write_text("6\n7\n")
        assert "2 removed" in fastmks_("remove x.fmks --from gone.txt")
        index = load("x.fmks")
        assert [name in index for name in (4, 5, 6, 7, 322)] == [True, False, False, False, False]
        everything = np.concatenate([X, Q[:-1]])
        kept = [i for i in range(322) if i not in (5, 6, 7)]
        want = Index(everything[kept], ids=kept).search(Q, 3)
        assert np.array_equal(index.search(Q, 3).ids, want.ids)

    def test_ids_are_of_the_kind_of_the_index(self, fastmks_):
        fastmks_("build t.csv -o t.fmks")
        Path("more.csv").write_text("id,a,b,c,d,e\n77,1,2,3,4,5\n")
        fastmks_("add t.fmks more.csv")
        assert "77" in load("t.fmks")
        fastmks_("remove t.fmks 77 n3")
        assert len(load("t.fmks")) == 299

    def test_ids_of_what_is_added_may_come_from_a_file(self, fastmks_, failing):
        fastmks_("build t.csv -o t.fmks")
        fastmks_("build x.npy -o x.fmks")
        Path("ids.txt").write_text("".join(f"{i}\n" for i in range(1000, 1023)))
        for index, first in (("t.fmks", "1000"), ("x.fmks", 1000)):
            fastmks_(f"add {index} q.npy --ids ids.txt")
            assert load(index).get([first]).tolist() == [Q[0].tolist()]
        assert failing("add x.fmks q.npy --ids w.txt")[1].endswith(
            "w.txt must be whole numbers, as the ids of the index are; got 'search'."
        )
        assert "got 4 ids" in failing("add t.fmks q.npy --ids w.txt")[1]
        assert failing("add t.fmks - --ids -")[0] == 2

    def test_molecules_are_added_with_the_bits_of_the_index(self, fastmks_):
        fastmks_("build m.smi -o m.fmks --bits 256")
        Path("more.smi").write_text("CCCCO butanol\n")
        fastmks_("add m.fmks more.smi")
        assert load("m.fmks").get(["butanol"]).shape == (1, 256)

    @pytest.mark.parametrize(
        ("line", "code", "words"),
        [
            ("remove x.fmks", 2, "--from"),
            ("remove x.fmks 4 9999", 1, "9999"),
            ("remove x.fmks ann", 1, "whole numbers"),
            ("add x.fmks w.txt", 1, "(w.txt was read as lines: strings; --form for another.)"),
            ("add x.fmks t.csv", 1, "whole numbers"),
        ],
    )
    def test_what_fails_changes_nothing(self, fastmks_, failing, line, code, words):
        fastmks_("build x.npy -o x.fmks")
        content = Path("x.fmks").read_bytes()
        failing(line, code, words)
        assert Path("x.fmks").read_bytes() == content


class TestLooking:
    def test_info(self, fastmks_):
        fastmks_("build t.csv -o t.fmks --kernel gaussian:bandwidth=2 --algorithm tree")
        facts = json.loads(fastmks_("info t.fmks --json"))
        assert facts["n_objects"] == 300
        assert facts["kernel"] == "Gaussian(bandwidth=2.0)"
        assert (facts["ids"], facts["algorithm"]) == ("strings", "tree")
        assert (facts["has_tree"], facts["has_filter"], facts["parts"]) == (True, False, 1)
        assert facts["file_bytes"] == Path("t.fmks").stat().st_size
        text = fastmks_("info t.fmks")
        assert "Gaussian(bandwidth=2.0)" in text
        assert len(text.splitlines()) == len(facts)

    def test_explain(self, fastmks_):
        fastmks_("build x.npy -o x.fmks")
        assert "23 queries, k = 5, among 300 objects: scan" in fastmks_("explain x.fmks q.npy -k 5")
        assert json.loads(fastmks_("explain x.fmks q.npy --json"))["k"] == 10
        assert json.loads(fastmks_("explain x.fmks q.npy --json --only 1,2,2,3"))["k"] == 3

    def test_explain_shows_a_line_for_each_engine(self, fastmks_):
        fastmks_("build s_TRAIN.tsv -o s.fmks")
        first, _, *lines, last = fastmks_("explain s.fmks s_TRAIN.tsv").splitlines()
        assert first.endswith("scan, since fewer than 512 objects are scanned quickly.")
        assert [line.split()[0] for line in lines] == ["scan", "filter", "tree"]
        assert last.startswith("Decided in")

    def test_hardness(self, fastmks_):
        want = fastmks.hardness(X, "cosine", sample=100, seed=3)
        said = fastmks_("hardness x.npy --kernel cosine --sample 100 --seed 3")
        assert said.strip() == str(want)
        fastmks_("hardness x.npy --queries q.npy --sample 50 --figure h.png")
        assert Path("h.png").stat().st_size > 1000

    def test_hardness_of_a_kernel_that_is_not_mercer(self, failing):
        failing("hardness x.npy --kernel tanh", 1, "Mercer")

    def test_bench_compares_engines(self, fastmks_, capfd):
        said = fastmks_("bench x.npy q.npy -k 3 --rounds 2")
        assert "300 objects, 23 queries, k = 3, Linear()" in said
        engines = [line.split()[0] for line in said.splitlines()[2:]]
        assert engines == ["scan", "filter", "tree", "auto", "numpy"]
        assert said.count("all the same") == 5

    def test_bench_shows_time_and_evaluations_of_one_run(self, fastmks_, monkeypatch):
        taken = iter([0.3, 0.1, 0.2])  # seconds of searches that evaluate 23, 230 and 2300
        evaluated = iter([23, 230, 2300])
        now = [0.0]
        search = Index.search

        def slow(self, *arguments, **options):
            hits = search(self, *arguments, **options)
            now[0] += next(taken)
            stats = replace(hits.stats, kernel_evaluations=next(evaluated))
            return Hits(hits.values, hits.indices, hits.ids, stats, hits.gap)

        monkeypatch.setattr(Index, "search", slow)
        monkeypatch.setattr(
            "fastmks.cli.engine_comparison.time", SimpleNamespace(perf_counter=lambda: now[0])
        )
        row = fastmks_("bench x.npy q.npy --engines auto --rounds 3").splitlines()[2].split()
        assert row[2:5] == [f"{200 / 23:.4g}", "100", f"{100 / 300:.2%}"]

    def test_bench_takes_queries_out_of_the_objects(self, folder, capfd):
        assert run(["bench", "p.fasta.gz", "--engines", "scan,numpy", "--rounds", "1"]) == 0
        out = capfd.readouterr().out
        assert "18 objects, 2 queries, k = 10" in out
        assert "numpy cannot search: it is for a linear kernel of dense vectors only" in out

    def test_bench_goes_on_where_an_engine_cannot(self, fastmks_):
        said = fastmks_("bench x.npy q.npy -k 3 --rounds 2 --kernel tanh")
        *rows, tree, numpy = said.splitlines()[2:]
        assert [row.split()[0] for row in rows] == ["scan", "filter", "auto"]
        assert tree.startswith("tree cannot search: Tanh(scale=1.0, offset=0.0) is not Mercer on")
        assert numpy == "numpy cannot search: it is for a linear kernel of dense vectors only"

    def test_bench_compares_objects_whose_self_values_overflow(self, fastmks_):
        np.save("large.npy", 1e200 * X)
        rows = fastmks_("bench large.npy q.npy -k 3 --rounds 2").splitlines()[2:]
        assert [row.split()[0] for row in rows] == ["scan", "filter", "tree", "auto", "numpy"]
        assert all("all the same" in row for row in rows)

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("bench large.npy", "a ranking needs finite values"),
            ("bench x.npy q.npy -k 301", "k must be between 1 and the 300"),
            ("bench x.npy w.txt", "queries must be"),
            ("bench x.npy two.npy", "queries must have 5 columns"),
        ],
    )
    def test_bench_where_no_engine_can(self, failing, line, words):
        np.save("large.npy", 1e200 * X)
        np.save("two.npy", Q[:, :2])
        failing(line, 1, words)

    def test_bench_of_engines_that_are_none(self, failing):
        assert failing("bench x.npy --engines scan,kd")[0] == 2

    def test_demo(self, fastmks_):
        said = fastmks_("demo")
        assert said.count("200 of 200") == 2 * 5  # auto and the tree, for each kernel
        assert said.count("brute force  ") == 5
        assert "polynomial, degree 10" in said
        assert re.search("shared_ink, in Python +auto: filter", said)
        assert "Every answer equals brute force; auto was " in said.splitlines()[-1]

    def test_demo_counts_wrong_answers(self):
        rows = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
        hits = fastmks.Index(rows).search(rows, k=1)
        assert count_verified(hits, rows @ rows.T) == 3
        for wrong in ([[8, 0, 3], [0, 4, 2], [3, 2, 2]], [[9, 0, 9.1], [0, 4, 2], [3, 2, 2]]):
            assert count_verified(hits, np.array(wrong, dtype=float)) == 2
