"""Every command of docs/guides/command-line.md runs, one after the other, on small files."""

import gzip
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from fastmks.cli import run
from fastmks.cli.app import _COMMANDS
from support.paths import ROOT
from support.waiting import PATIENCE

PAGE = ROOT / "docs" / "guides" / "command-line.md"
RNG = np.random.default_rng(17)


def lines_of_page():
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def table(ids, array, header):
    lines = [
        ",".join([name, *map(repr, row)]) for name, row in zip(ids, array.tolist(), strict=True)
    ]
    return "\n".join([header, *lines]) + "\n"


def write_files(folder):
    """Small files of all names that the page and the help texts use."""
    names = [f"A{i}" for i in range(40)]
    for file, n in (("vectors", 200), ("queries", 12), ("more", 7)):
        np.save(folder / f"{file}.npy", RNG.normal(size=(n, 3)))
    (folder / "items.csv").write_text(table(names, RNG.normal(size=(40, 3)), "sku,x,y,z"))
    (folder / "users.csv").write_text(table(["u1", "u2"], RNG.normal(size=(2, 3)), "user,x,y,z"))
    (folder / "huge.csv.gz").write_bytes(
        gzip.compress(
            "\n".join(
                ",".join(map(repr, row)) for row in RNG.normal(size=(50, 3)).tolist()
            ).encode()
        )
    )
    records = "".join(f">P{i}\n{''.join(RNG.choice(list('ACDEFGHIK'), 40))}\n" for i in range(30))
    (folder / "proteins.fasta.gz").write_bytes(gzip.compress(records.encode()))
    (folder / "new.fasta").write_text(records[:400])
    (folder / "tonight.fasta").write_text(records[:45] + ">Q1 new\n" + "MKVLAAG\n" * 2)
    (folder / "molecules.smi").write_text("CCO ethanol\nCCCO propanol\nc1ccccc1 benzene\n")
    (folder / "query.smi").write_text("CCCCO\n")
    for file, n in (("Beats_TRAIN.tsv", 10), ("Beats_TEST.tsv", 3)):
        series = RNG.normal(size=(n, 25)).cumsum(axis=1).tolist()
        (folder / file).write_text(
            "".join("1\t" + "\t".join(map(repr, row)) + "\n" for row in series)
        )
    (folder / "ids.txt").write_text("".join(f"S{i}\n" for i in range(200)))
    (folder / "products.csv").write_text(
        "sku,price\n" + "".join(f"S{i},{i}.5\n" for i in range(200))
    )
    (folder / "names.txt").write_text("John Smith\nJane Doe\nJo Smit\nAnn Other\n")
    (folder / "gone.txt").write_text("A7\nA8\n")
    (folder / "some.txt").write_text("A1\nA2\n")
    (folder / "more.txt").write_text("".join(f"B{i}\n" for i in range(7)))


def test_the_page_runs(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    lines = lines_of_page()
    assert len(lines) > 20
    for line in lines:
        if line.startswith("fastmks serve"):  # which does not end
            continue
        if re.search("[|>]", line):
            script = f'fastmks() {{ {shlex.quote(sys.executable)} -m fastmks "$@"; }}; {line}'
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", script], timeout=PATIENCE, check=False
            )
            code = done.returncode
        else:
            code = run(shlex.split(line.removeprefix("fastmks ")))
        assert code == 0, f"{line}\n{capfd.readouterr().err}"
    assert (tmp_path / "hits.csv").read_text().count("\n") == 1 + 50 * 3
    assert (tmp_path / "added.fasta").read_text() == ">Q1 new\n" + "MKVLAAG\n" * 2
    assert (tmp_path / "known.txt").read_text().split()[-2:] == ["P29", "Q1"]
    assert (tmp_path / "similar.jsonl").read_text().count("propanol") == 1


def test_the_page_shows_every_command():
    shown = {word for line in lines_of_page() for word in re.findall(r"fastmks (\w+)", line)}
    assert shown == {command.__name__ for command in _COMMANDS}


@pytest.mark.parametrize("command", _COMMANDS, ids=lambda command: command.__name__)
def test_examples_of_help_texts_are_of_their_command(command):
    for line in _COMMANDS[command]:
        assert f"fastmks {command.__name__}" in line
