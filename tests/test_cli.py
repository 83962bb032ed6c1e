"""The command line, in this process: commands, options, errors and exit codes."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import fastmks
from calling import Q, X
from fastmks import Hits, Index, kernels, load
from fastmks.cli import run
from fastmks.cli.options import Form, OutputForm
from fastmks.inputs import FORMS
from fastmks.outputs import OUTPUT_FORMS
from fastmks.service import Limits


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
            ("build m.smi", "fingerprints, read as smiles, ids from names behind SMILES"),
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

    @pytest.mark.parametrize("line", ["build x.npy -o x.npy", "build x.npy --ids w.txt -o ./w.txt"])
    def test_no_input_is_replaced(self, failing, line):
        content = Path("x.npy").read_bytes(), Path("w.txt").read_bytes()
        code, said = failing(f"{line} --force")
        assert code == 2
        assert "which is read; choose another for -o" in said
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
            ("add x.fmks w.txt", 1, "(w.txt was read as lines: strings; --form overrules.)"),
            ("add x.fmks t.csv", 1, "whole numbers"),
        ],
    )
    def test_what_fails_changes_nothing(self, fastmks_, failing, line, code, words):
        fastmks_("build x.npy -o x.fmks")
        content = Path("x.fmks").read_bytes()
        got, said = failing(line)
        assert got == code
        assert words in said
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

    def test_explain_shows_no_table_where_nothing_was_forecast(self, fastmks_):
        fastmks_("build s_TRAIN.tsv -o s.fmks")
        first, last = fastmks_("explain s.fmks s_TRAIN.tsv").splitlines()
        assert first.endswith("scan, since nothing cheap bounds the values of this kernel.")
        assert last.startswith("Decided in")

    def test_hardness(self, fastmks_):
        want = fastmks.hardness(X, "cosine", sample=100, seed=3)
        said = fastmks_("hardness x.npy --kernel cosine --sample 100 --seed 3")
        assert said.strip() == str(want)
        fastmks_("hardness x.npy --queries q.npy --sample 50 --figure h.png")
        assert Path("h.png").stat().st_size > 1000

    def test_hardness_of_a_kernel_that_is_not_mercer(self, failing):
        code, line = failing("hardness x.npy --kernel tanh")
        assert code == 1
        assert "Mercer" in line

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
            "fastmks.cli.comparing.time", SimpleNamespace(perf_counter=lambda: now[0])
        )
        row = fastmks_("bench x.npy q.npy --engines auto --rounds 3").splitlines()[2].split()
        assert row[2:5] == [f"{200 / 23:.4g}", "100", f"{100 / 300:.2%}"]

    def test_bench_takes_queries_out_of_the_objects(self, folder, capfd):
        assert run(["bench", "p.fasta.gz", "--engines", "scan,numpy", "--rounds", "1"]) == 0
        out = capfd.readouterr().out
        assert "18 objects, 2 queries, k = 10" in out
        assert "numpy cannot: it is for a linear kernel of dense vectors only" in out

    def test_bench_goes_on_where_an_engine_cannot(self, fastmks_):
        np.save("large.npy", 1e200 * X)
        said = fastmks_("bench large.npy q.npy -k 3 --rounds 2")
        *rows, last = said.splitlines()[2:]
        assert [row.split()[0] for row in rows] == ["scan", "filter", "auto", "numpy"]
        assert last.startswith("tree cannot: Linear() gives object 0 and object 0 the value inf;")

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
        code, said = failing(line)
        assert code == 1
        assert words in said

    def test_bench_of_engines_that_are_none(self, failing):
        assert failing("bench x.npy --engines scan,kd")[0] == 2

    def test_demo(self, fastmks_):
        said = fastmks_("demo")
        assert said.count("450 of 450") == 4
        assert "Polynomial(degree=10)" in said


class TestKernels:
    def test_every_kernel_that_text_makes_is_listed(self, fastmks_):
        said = fastmks_("kernels")
        found = json.loads(fastmks_("kernels --json"))
        assert {form["name"] for form in found} >= {*kernels.KERNEL_NAMES, "spectrum", "mismatch"}
        for form in found:
            assert kernels.as_kernel(form["example"])
            line = next(line for line in said.splitlines() if line.startswith(form["name"] + " "))
            assert line.rstrip().endswith(form["example"])
            assert form["objects"] in line
            assert form["objects"] != "any objects"
            assert all(name in line for name in form["parameters"])

    def test_defaults_are_those_of_the_classes(self, fastmks_):
        found = {form["name"]: form for form in json.loads(fastmks_("kernels --json"))}
        assert found["polynomial"]["parameters"] == {"degree": "2", "offset": "0.0", "scale": "1.0"}
        assert found["spectrum"]["parameters"] == {"p": None, "weights": "none"}
        assert found["linear"] == {
            "name": "linear",
            "parameters": {},
            "objects": "vectors",
            "example": "linear",
        }
        for form in found.values():
            given = {name: text for name, text in form["parameters"].items() if text is not None}
            if len(given) == len(form["parameters"]):
                text = ",".join(f"{name}={value}" for name, value in given.items())
                made = kernels.as_kernel(f"{form['name']}:{text}")
                assert made == kernels.as_kernel(form["name"])


class TestProgram:
    @pytest.mark.parametrize("width", ["80", "200", ""])
    def test_no_line_of_the_help_is_cut(self, fastmks_, monkeypatch, width):
        monkeypatch.setenv("COLUMNS", width)
        said = fastmks_("--help")
        usage, *lines = said.splitlines()
        assert usage.endswith("[ARGS]...")  # which is not cut
        assert not [line for line in lines if line.rstrip().endswith(("...", "…"))]
        assert "  demo      Search handwritten digits with four kernels.\n" in said
        assert max(map(len, said.splitlines())) <= 80

    def test_version_and_help(self, fastmks_):
        assert fastmks_("--version").split() == ["fastmks", fastmks.__version__]
        assert "Examples:" in fastmks_("--help")
        assert fastmks_("") == fastmks_("--help")

    @pytest.mark.parametrize(
        "command",
        [
            "build",
            "search",
            "add",
            "remove",
            "info",
            "explain",
            "hardness",
            "bench",
            "kernels",
            "demo",
        ],
    )
    def test_every_command_has_help_with_examples(self, fastmks_, command):
        said = fastmks_(f"{command} --help")
        assert f"Usage: fastmks {command}" in said
        assert f"\n    fastmks {command}" in said

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("finds", "finds"),
            ("build", "argument"),
            ("build x.npy", "--output"),
            ("build x.npy -o i.fmks --kernel gausian", "Did you mean 'gaussian'"),
            ("build x.npy -o i.fmks --kernel polynomial:degree=x", "degree"),
            ("build x.npy -o i.fmks --kernel os:system", "kernel must be"),
            ("build x.npy -o i.fmks --speed 3", "--speed"),
        ],
    )
    def test_wrong_usage(self, failing, line, words):
        code, said = failing(line)
        assert code == 2
        assert words in said

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("build nope.npy -o i.fmks", "No such file or directory: nope.npy"),
            ("build . -o i.fmks", "Is a directory: ."),
            ("build w.txt -o i.fmks --kernel linear", "strings"),
            ("build x.npy -o i.fmks --base 0.5", "base must be"),
            ("build x.npy -o no/i.fmks", "No such file or directory: no/i.fmks"),
            ("build x.npy -o i.fmks --kernel tanh --algorithm tree", "Mercer"),
            ("info w.txt", "w.txt"),
            ("serve w.txt --port 99999", "port must be a whole number from 1 to 65535, or 0 for"),
        ],
    )
    def test_failed_work(self, failing, line, words):
        code, said = failing(line)
        assert code == 1
        assert words in said
        assert not Path("i.fmks").exists()

    @pytest.mark.parametrize("line", ["--debug info w.txt", "info w.txt --debug"])
    def test_debug_shows_the_trace(self, folder, capfd, line):
        assert run(line.split()) == 1
        err = capfd.readouterr().err
        assert "Traceback" in err
        assert err.splitlines()[-1].startswith("fastmks: error: ")

    def test_what_nobody_thought_of_is_one_line_too(self, failing, monkeypatch):
        def broken(*_, **__):
            raise RuntimeError("over\nthere")

        monkeypatch.setattr("fastmks.cli.objects.load", broken)
        code, said = failing("info x.npy")
        assert (code, said) == (
            1,
            "fastmks: error: RuntimeError: over there (--debug shows where)",
        )

    def test_an_interrupt_is_130_and_leaves_nothing(self, folder, monkeypatch):
        assert run(["build", "x.npy", "-o", "x.fmks"]) == 0
        before = sorted(folder.iterdir())

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(Index, "search", interrupted)
        assert run(["search", "x.fmks", "q.npy", "-o", "h.csv"]) == 130
        assert sorted(folder.iterdir()) == before

    def test_without_its_extra_it_says_so(self, monkeypatch, capfd):
        monkeypatch.setitem(sys.modules, "typer", None)
        assert run(["info", "x"]) == 2
        assert capfd.readouterr().err == (
            "fastmks: error: the command line needs typer, of the extra 'cli' of fastmks: "
            'pip install ".[cli]" in the folder of its sources\n'
        )

    def test_a_form_without_its_extra_says_so(self, failing, monkeypatch):
        monkeypatch.setitem(sys.modules, "rdkit", None)
        code, said = failing("build m.smi -o m.fmks")
        assert code == 1
        assert "reading SMILES needs rdkit, of the extra 'chem'" in said

    @pytest.mark.parametrize(
        ("line", "code", "words"),
        [
            (
                "build two.npz -o i.fmks",
                1,
                "holds the arrays a, b: choose the one with the objects, as in --columns a.",
            ),
            ("build bytes -o i.fmks", 1, "and no text. Say what it is with --form."),
            ("build n.csv -o i.fmks", 1, "choose other columns (--columns), or say which one"),
            ("search x.fmks q.npy -o h.xls", 2, "got 'h.xls'. Say the form with --output-form."),
            ("search x.fmks q.npy --budget 50", 1, "budget needs --algorithm tree"),
            ("build radius=2.csv -o i.fmks", 1, "No such file or directory: radius=2.csv"),
            ("build x.npy -o i.fmks --kernel foo:rank=3", 2, "'foo:rank=3'"),
            ("build array.npy -o i.fmks", 1, "save numbers, with array.astype(float)."),
        ],
        ids=range(8),
    )
    def test_errors_name_options(self, fastmks_, failing, line, code, words):
        fastmks_("build x.npy -o x.fmks --algorithm scan")
        np.savez("two.npz", a=X, b=X)
        np.save("array.npy", np.array([1, "a"], dtype=object), allow_pickle=True)
        Path("bytes").write_bytes(b"\0\1\2")
        Path("n.csv").write_text("x,y\n1,2\n3,\n")
        got, said = failing(line)
        assert got == code
        assert words in said
        assert "=." not in said
        assert "reshape" not in said

    @pytest.mark.parametrize(
        "line", ["search e.fmks q.npy", "search e.fmks --self", "explain e.fmks q.npy"]
    )
    def test_an_empty_index_is_called_so(self, fastmks_, failing, line):
        index = Index(X[:2])
        index.remove([0, 1])
        index.save("e.fmks")
        assert failing(line) == (
            1,
            "fastmks: error: e.fmks is an empty index: fastmks add puts objects into it.",
        )
        assert fastmks_("search e.fmks q.npy --threshold 0") == "query,rank,id,value\n"

    def test_one_object_has_no_others(self, failing):
        Index(X[:1]).save("one.fmks")
        assert "--self needs at least two objects" in failing("search one.fmks --self")[1]

    def test_limits_of_a_service_are_shown_in_the_help(self, fastmks_):
        said = " ".join(fastmks_("serve --help").split())
        limits = Limits()
        for option, limit in (
            ("seconds <float>", f"{limits.seconds:g}"),
            ("most-k <int>", limits.k),
            ("most-queries <int>", limits.queries),
            ("most-bytes <int>", limits.body_bytes),
            ("waiting <int>", limits.waiting),
            ("threads <int>", limits.threads),
            ("journal-bytes <int>", limits.journal_bytes),
        ):
            found = said.partition(f"--{option} ")[2].partition(" --")[0]
            assert f"[default: ({limit})]" in found, option

    def test_choices_are_those_of_the_library(self):
        assert tuple(one.value for one in Form) == FORMS
        assert tuple(one.value for one in OutputForm) == OUTPUT_FORMS
