"""The command line as a whole, in this process: kernels by text, help, errors and exit codes."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import fastmks
from fastmks import Index, kernels
from fastmks.cli import run
from fastmks.cli.options import Form, OutputForm
from fastmks.inputs import FORMS
from fastmks.outputs import OUTPUT_FORMS
from fastmks.service import Limits
from support.calling import X


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
        assert "  demo      Search digits with four kernels and a Python function.\n" in said
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
        failing(line, 2, words)

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
        failing(line, 1, words)
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

        monkeypatch.setattr("fastmks.cli.object_files.load", broken)
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
        failing("build m.smi -o m.fmks", 1, "reading SMILES needs rdkit, of the extra 'chem'")

    @pytest.mark.parametrize(
        ("line", "code", "words"),
        [
            (
                "build two.npz -o i.fmks",
                1,
                "holds the arrays a, b: choose the one with the objects, as in --columns a.",
            ),
            ("build bytes -o i.fmks", 1, "and no text. Say its format with --form."),
            ("build n.csv -o i.fmks", 1, "choose other columns (--columns), or say which one"),
            ("search x.fmks q.npy -o h.xls", 2, "got 'h.xls'. Say the format with --output-form."),
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
            ("seconds", f"{limits.seconds:g}"),
            ("most-k", limits.k),
            ("most-queries", limits.queries),
            ("most-bytes", limits.body_bytes),
            ("most-letters", limits.letters),
            ("most-members", limits.members),
            ("most-nodes", limits.nodes),
            ("most-edges", limits.edges),
            ("most-steps", limits.steps),
            ("waiting", limits.waiting),
            ("threads", limits.threads),
            ("journal-bytes", limits.journal_bytes),
        ):
            # Older versions of typer write INTEGER, newer ones <int>.
            found = re.split(rf"--{option} (?:<|FLOAT|INT)", said)[1].partition(" --")[0]
            assert f"[default: ({limit})]" in found, option

    def test_choices_are_those_of_the_library(self):
        assert tuple(one.value for one in Form) == FORMS
        assert tuple(one.value for one in OutputForm) == OUTPUT_FORMS
