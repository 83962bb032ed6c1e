"""Names and files with characters that control a terminal: people see escapes, data is exact."""

import ast
import csv
import io
import json
import logging
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from fastmks.cli import run
from fastmks.cli.messages import printable, printable_lines, shown_logs
from fastmks.cli.terminal import show_table, show_texts
from support.older import index_with_odd_ids
from support.paths import ROOT

RED = "\x1b[31m"
SIGNS = [chr(i) for i in (*range(32), *range(127, 160))]
SIGNS += [*"\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ud800"]


@pytest.fixture
def odd(folder):
    """A folder in which the index, its ids, the queries and their columns have such characters."""
    index_with_odd_ids(np.eye(3), ids=[f"a{RED}", "b\u202e\n:smile:[red]", "c\x9b2J"]).save(
        f"i{RED}.fmks"
    )
    header = f"id,x{RED},y\u202e,z"
    Path(f"q{RED}.csv").write_text(f"{header}\nq\x1b]0;t\x07,1,2,3\nr\x7f,3,2,1\n")
    return folder


@pytest.fixture
def on_terminal(odd, monkeypatch, capfd):
    """Run a command as on a terminal; return its exit code and what it wrote."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")

    def call(words):
        with (
            mock.patch.object(sys.stdout, "isatty", return_value=True),
            mock.patch.object(sys.stderr, "isatty", return_value=True),
        ):
            code = run(words)
        captured = capfd.readouterr()
        return code, captured.out + captured.err

    return call


def check_harmless(text):
    for line in text.split("\n"):
        assert printable(line) == line


@pytest.mark.parametrize("sign", SIGNS, ids=ascii)
def test_each_sign_is_an_escape(sign):
    assert printable(f"a{sign}b") == f"a{sign.encode('unicode_escape').decode()}b"
    assert printable_lines(f"a{sign}b") == ("a\nb" if sign == "\n" else printable(f"a{sign}b"))


def test_what_people_write_stays():
    for text in ("É 東京 שלום می\u200cخواهم 👩\u200d🔬", r"C:\x1b", "one two"):
        assert printable(text) == text


@pytest.mark.parametrize(
    "words",
    [
        ("build", f"q{RED}.csv", "-o", f"new{RED}.fmks"),
        ("build", f"q{RED}.csv", "-o", f"i{RED}.fmks"),
        ("build", f"q{RED}.csv", "-o", "new.fmks", "--id-column", f"n{RED}"),
        ("build", f"q{RED}.csv", "-o", "new.fmks", "--columns", f"x{RED},n{RED}"),
        ("build", "q.npy", "-o", "new.fmks", "--kernel", f"linear{RED}"),
        ("build", f"no{RED}.npy", "-o", "new.fmks"),
        ("add", f"i{RED}.fmks", f"q{RED}.csv"),
        ("remove", f"i{RED}.fmks", f"a{RED}"),
        ("remove", f"i{RED}.fmks", f"n{RED}"),
        ("info", f"i{RED}.fmks"),
        ("info", f"q{RED}.csv"),
        ("info", f"q{RED}.csv", "--debug"),
        ("info", f"i{RED}.fmks", "--json"),
        ("explain", f"i{RED}.fmks", f"q{RED}.csv"),
        ("hardness", f"q{RED}.csv"),
        ("bench", f"q{RED}.csv", "--engines", "scan"),
        ("bench", f"q{RED}.csv", "--engines", f"scan{RED}"),
        ("search", f"i{RED}.fmks", f"q{RED}.csv"),
        ("search", f"i{RED}.fmks", f"q{RED}.csv", "-o", "-"),
        ("search", f"i{RED}.fmks", f"q{RED}.csv", "--output-form", "jsonl"),
        ("search", f"i{RED}.fmks", f"q{RED}.csv", "--only", f"n{RED}"),
        ("search", f"i{RED}.fmks", f"q{RED}.csv", "-o", f"h.{RED}"),
        (f"see{RED}k",),
        ("search", f"--{RED}"),
    ],
    ids=ascii,
)
def test_no_command_writes_such_signs_to_a_terminal(on_terminal, words):
    code, said = on_terminal(words)
    check_harmless(said.replace("\r", ""))  # with which a bar begins again
    assert code == 0 or "fastmks: error: " in said
    assert "\\x1b[31m" in said or "--json" in words


def test_the_table_of_hits_shows_names_as_they_are(on_terminal):
    code, said = on_terminal(["search", f"i{RED}.fmks", f"q{RED}.csv", "-k", "3"])
    assert code == 0
    for shown in (r"a\x1b[31m ", r"b\u202e\n:smile:[red] ", r"c\x9b2J ", r"q\x1b]0;t\x07 "):
        assert shown in said


def test_tables_show_escapes(capfd):
    show_table(["a", "b"], [[RED, "1"]])
    show_texts(["a", "b"], [[RED, ":smile:"]])
    said = capfd.readouterr().out
    assert said.count(r"\x1b[31m") == 2
    assert ":smile:" in said


def test_data_in_files_and_pipes_is_exact(odd, capfd):
    for words in ((), ("-o", "-"), ("-o", "h.csv")):
        assert run(["search", f"i{RED}.fmks", f"q{RED}.csv", "-k", "3", *words]) == 0
        out = capfd.readouterr().out
        text = Path("h.csv").read_text() if "h.csv" in words else out
        rows = [*csv.reader(io.StringIO(text))]
        assert {row[2] for row in rows[1:]} == {f"a{RED}", "b\u202e\n:smile:[red]", "c\x9b2J"}
    assert run(["search", f"i{RED}.fmks", f"q{RED}.csv", "-k", "3", "--output-form", "jsonl"]) == 0
    assert "b\u202e\n:smile:[red]" in [
        json.loads(line)["id"] for line in capfd.readouterr().out.split("\n")[:-1]
    ]
    assert run(["info", f"i{RED}.fmks", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["file"] == f"i{RED}.fmks"


@pytest.mark.parametrize("form", ["npz", "parquet"])
def test_a_terminal_gets_no_binary_data(on_terminal, form):
    words = ["search", f"i{RED}.fmks", f"q{RED}.csv", "--output-form", form]
    line = f"fastmks: error: a terminal does not show {form}: give a file with -o.\n"
    assert on_terminal(words) == on_terminal([*words, "-o", "-"]) == (2, line)


def test_logs_of_a_service_show_escapes(capfd):
    log = logging.getLogger("fastmks.service")
    with shown_logs():
        try:
            raise ValueError(f"{RED}\n\x07")
        except ValueError:
            log.exception("%s cannot be saved", f"i{RED}")
        log.info("nothing")
    err = capfd.readouterr().err
    assert err.startswith("i\\x1b[31m cannot be saved\nTraceback")
    assert err.endswith("ValueError: \\x1b[31m\n\\x07\n")
    check_harmless(err)
    assert log.parent.handlers == []


def test_commands_write_in_one_place():
    """What is written elsewhere would reach the terminal raw."""
    for path in (ROOT / "src/fastmks/cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert path.name == "messages.py" or not called.startswith(
                ("typer.echo", "print(", "sys.stdout.write", "sys.stdout.buffer.write")
            ), (path, called)
