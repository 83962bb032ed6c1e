"""The frame of the benchmarks: what is kept, what goes on after a stop, and how programs end."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from benchmarks.report import Check
from benchmarks.suite import INTERRUPTED, Kept, Measured, Run, Suite


@dataclass(frozen=True, kw_only=True)
class Key:
    """A number."""

    number: int


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a cell, with a default."""

    seconds: tuple[float, ...]
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cell(Key, Measured):
    """A number and its square, with parts of all kinds."""

    square: int
    parts: tuple[Part, ...] = ()
    named: Mapping[str, Part] = field(default_factory=dict)


def work(run: Run[Cell]) -> None:
    keys = [Key(number=number) for number in run.sizes.numbers]
    run.expect(len(keys))
    for key in run.missing(keys):
        run.announce(key)
        if key.number == run.options.interrupt:
            raise KeyboardInterrupt
        run.keep(Cell(number=key.number, square=key.number**2 + run.options.fault))


SUITE = Suite(
    name="squares",
    about="Square numbers.",
    cell=Cell,
    full={"numbers": (1, 2, 3, 4), "rounds": 5},
    quick={"numbers": (1, 2, 3)},
    work=work,
    checks=lambda kept: [
        Check(claim="wrong", value=sum(c.square != c.number**2 for c in kept.cells))
    ],
    show=lambda options, kept: " ".join(str(cell.square) for cell in kept.cells),
    options={"--fault": {"type": int, "default": 0}, "--interrupt": {"type": int}},
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "squares.json"


def numbers_in(file) -> list[int]:
    return [cell["number"] for cell in json.loads(file.read_text())["cells"]]


def test_a_program_measures_shows_and_keeps(file, capsys):
    assert SUITE.main(["--out", str(file)]) == 0
    shown = capsys.readouterr()
    assert shown.out == "1 4 9 16\nholds: wrong: 0.00, limit 0\n"
    assert "Key(number=4)" in shown.err
    stored = json.loads(file.read_text())
    assert stored["notes"][0].startswith("no --data")
    assert stored["checks"][0]["claim"] == "wrong"
    assert [path.name for path in file.parent.iterdir()] == ["squares.json"]
    assert SUITE.main(["--quick"]) == 0  # without a file nothing is kept


def test_a_wrong_answer_is_an_exit_code(capsys):
    assert SUITE.main(["--quick", "--fault", "1"]) == 1
    assert "FAILS: wrong: 3.00" in capsys.readouterr().out


def test_a_run_that_was_stopped_goes_on(file, capsys):
    options = ["--quick", "--out", str(file)]
    assert SUITE.main([*options, "--minutes", "0.0000001"]) == 0
    assert "stopped by --minutes" in capsys.readouterr().err
    assert numbers_in(file) == [1]
    assert SUITE.main([*options, "--interrupt", "3"]) == INTERRUPTED == 130
    assert "interrupted: 2 cells are kept; the same command goes on" in capsys.readouterr().err
    assert SUITE.main(options) == 0
    assert numbers_in(file) == [1, 2, 3]
    nothing = [*options, "--interrupt", "1"]  # nothing is measured any more
    assert SUITE.main(nothing) == SUITE.main([*nothing, "--show"]) == 0


def test_nothing_to_show_is_an_error(file):
    with pytest.raises(SystemExit, match="--show needs what an earlier run has kept"):
        SUITE.main(["--show", "--out", str(file)])


def test_noisy_cells_are_measured_again(file):
    kept = Kept("squares", file, Cell)
    parts = Part(seconds=(1.0, 2.5), failure="no"), Part(seconds=())
    kept.add(Cell(number=2, square=5, others=0.25, parts=parts, named={"a": parts[0]}))
    kept.write(["a note"], ())
    assert Kept("squares", file, Cell).cells == kept.cells
    assert Key(number=2) in Kept("squares", file, Cell)
    again = Kept("squares", file, Cell, most_others=0.1)
    assert Key(number=2) not in again
    assert again.cells == kept.cells  # nothing is lost by a run that does not get that far
    assert SUITE.main(["--quick", "--out", str(file), "--quiet", "0.1"]) == 0
    assert numbers_in(file) == [2, 1, 3]


def test_floats_are_short_and_defaults_are_not_written(file):
    kept = Kept("squares", file, Cell)
    kept.add(Cell(number=1, square=1, seconds=1.23456789))
    kept.write([])
    (cell,) = json.loads(file.read_text())["cells"]
    assert cell == {"seconds": 1.2346, "number": 1, "square": 1, "named": {}}


def test_a_file_of_another_program_is_refused(tmp_path):
    file = tmp_path / "figures.json"
    file.write_text('{"name": "other"}')
    with pytest.raises(ValueError, match="must hold figures of benchmarks.squares"):
        SUITE.main(["--out", str(file)])


def test_sizes_and_options(capsys):
    options = SUITE.read_options(["--quick", "--rounds", "2"])
    assert SUITE.sizes_of(options) == {"numbers": (1, 2, 3), "rounds": 2}
    assert SUITE.sizes_of(SUITE.read_options([])) == {"numbers": (1, 2, 3, 4), "rounds": 5}
    for wrong in (["--data", "no such folder"], ["--rounds", "0"], ["--unknown"]):
        with pytest.raises(SystemExit):
            SUITE.read_options(wrong)
    assert "--data must be a folder; got no such folder" in capsys.readouterr().err
