"""What pages say was measured is what is stored; and the check of that can fail."""

import json
import shutil
from functools import partial

import pytest
from benchmarks.kept import plain
from benchmarks.pages import put_into
from benchmarks.quotes.cells import rank_correlation
from benchmarks.quotes.check import (
    ROOT,
    check,
    check_blocks,
    check_quotes,
    check_source,
    renewed,
    write,
)
from benchmarks.quotes.figures import figures_in
from benchmarks.quotes.quote import Quote, Stated, percent
from benchmarks.quotes.shown import Shown
from benchmarks.quotes.stored import RESULTS, SelectionError, Stored
from benchmarks.quotes.tables.peers import sparse
from benchmarks.race.cell import Cell, Figure

ROWS = [
    {"set": "digits", "k": 1, "ms": 7.41, "share": 0.123, "pairs": 42_589, "is_new": True},
    {"set": "digits", "k": 10, "ms": 9.0, "share": 0.5, "pairs": 1_000_000},
]
CELL = {"case": "warm", "figures": [{"contestant": "ours", "measures": {"ms": {"median": 3.5}}}]}
NOTES = ["others took 3% of the machine", "seed 0"]
PAGE = "A search takes **7.4 ms**, 12 % of\nthe scan, for 42 600 pairs. Nodes have 64 bytes.\n"
TIME = Quote("takes **{} ms**", lambda stored: one(stored).number("ms"))
SHARE = Quote("{} % of the scan", lambda stored: percent(one(stored).number("share")))
PAIRS = Quote("for {3} pairs", lambda stored: one(stored).number("pairs"))
SIZE = Stated("64 bytes", "the layout of a node")
QUOTES = (TIME, SHARE, PAIRS, SIZE)


@pytest.fixture
def stored(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "times.json").write_text(json.dumps({"rows": ROWS, "cells": [CELL], "notes": NOTES}))
    return Stored(folder)


def one(stored: Stored):
    return stored.row("times", set="digits", k=1)


def table(stored: Stored) -> str:
    return "\n".join(f"| {row.number('ms')} |" for row in stored.rows("times"))


def faults(page: str, stored: Stored, quotes=QUOTES) -> list[str]:
    return list(map(str, check_quotes("page.md", page, quotes, stored)))


def figures(page: str) -> list[str]:
    return [figure.text for figure in figures_in(page)]


def test_every_page_quotes_what_is_stored():
    assert list(map(str, check(Stored()))) == []


def test_experiments_by_hand_say_what_they_were():
    entries = Stored().rows("experiments")
    names = [entry.text("experiment") for entry in entries]
    assert len(set(names)) == len(names)
    for entry in entries:
        assert all(entry.text(name) for name in ("what", "on", "date", "commit"))
        assert (ROOT / entry.text("page")).exists()


def test_a_page_that_agrees_has_no_fault(stored):
    assert faults(PAGE, stored) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "7.4",
            "7.3",
            "page.md:1: 7.3 in 'takes **{} ms**' is 7.41 in the stored results; write 7.4",
        ),
        ("12 %", "13 %", "page.md:1: 13 in "),
        ("42 600", "42 700", "write 42 600"),
        ("42 600", "42 589", "write 42 600"),
    ],
)
def test_a_changed_number_is_told_and_written_again(stored, old, new, told):
    changed = PAGE.replace(old, new)
    (fault,) = faults(changed, stored)
    assert told in fault
    assert renewed(changed, QUOTES, {}, stored) == PAGE


def test_writing_changes_nothing_else(stored):
    page = f"{PAGE}\n7.3 ms elsewhere `7.3 ms`\n"
    assert renewed(page, QUOTES, {}, stored) == page


def test_a_number_without_a_quote_is_told_with_its_line(stored):
    (fault,) = faults(PAGE + "\nAnd it took 5 s.\n", stored)
    assert fault.startswith("page.md:4: '5' is quoted from nowhere")
    (fault,) = faults(PAGE, stored, QUOTES[:3])
    assert fault.startswith("page.md:2: '64' is quoted from nowhere")


def test_the_words_of_a_quote_cover_no_figure(stored):
    quote = Quote("takes **{} ms**, 12 % of", lambda stored: one(stored).number("ms"))
    (fault,) = faults(PAGE, stored, (quote, PAIRS, SIZE))
    assert "'12' is quoted from nowhere" in fault


def test_a_text_that_is_gone_is_told(stored):
    found = faults(PAGE.replace("takes", "needs"), stored)
    assert "the quoted text 'takes **{} ms**' is not in the page" in found[0]
    assert "'7.4' is quoted from nowhere" in found[1]
    assert "the stated text" in faults("", stored, (SIZE,))[0]


def test_a_text_that_occurs_twice_is_told(stored):
    found = faults(PAGE + "\nAnother takes **7.4 ms**.\n", stored)
    told = "page.md:4: the quoted text 'takes **{} ms**' occurs 2 times"
    assert any(fault.startswith(told) for fault in found)
    assert "occurs 2 times" in faults("64 bytes, 64 bytes", stored, (SIZE,))[0]


def test_a_text_is_not_found_within_other_words(stored):
    assert "is not in the page" in faults("164 bytes", stored, (SIZE,))[0]


@pytest.mark.parametrize(
    ("select", "told"),
    [
        (lambda stored: stored.row("times", set="mnist"), "times.json.rows(set='mnist') matches 0"),
        (lambda stored: stored.row("times", set="digits"), "matches 2 rows, not one"),
        (lambda stored: stored.row("times", colour=1), "matches 0 rows"),
        (lambda stored: stored.rows("times", k=3), "times.json.rows(k=3) matches no row"),
        (lambda stored: stored.row("other"), "other.json is not among"),
        (lambda stored: stored.race("times"), "times.json.races does not exist"),
        (lambda stored: one(stored).number("seconds"), "seconds does not exist"),
        (lambda stored: one(stored).number("set"), "must be a number; it is 'digits'"),
        (lambda stored: one(stored).number("is_new"), "must be a number; it is True"),
        (lambda stored: one(stored).text("k"), "must be a string; it is 1"),
        (lambda stored: stored.cell("times", case="warm").measure("theirs", "ms"), "matches 0"),
        (lambda stored: stored.by_hand("speed", "ms"), "experiments.json is not among"),
        (lambda stored: stored.common("times", "k"), "rows with k of [1.0, 10.0], not one"),
        (lambda stored: stored.note("times", "no"), "has 0 notes, not one, from 'no' on"),
        (lambda stored: stored.file("times").texts("rows"), "must be a list of strings"),
        (lambda stored: stored.file("times").one("name"), "times.json.name does not exist"),
    ],
)
def test_a_selection_says_what_was_asked(stored, select, told):
    with pytest.raises(SelectionError) as caught:
        select(stored)
    assert told in str(caught.value)
    (fault,) = faults("7.4 ms", stored, (Quote("{} ms", select),))
    assert "has no value" in fault
    assert told in fault


def test_selections_find_what_is_there(stored):
    assert stored.cell("times", case="warm").measure("ours", "ms") == 3.5
    assert [row.number("k") for row in stored.rows("times", set="digits")] == [1, 10]
    assert one(stored).text("set") == "digits"
    assert stored.common("times", "k", set="digits", ms=9.0) == 10
    assert stored.note("times", "others took ") == "3% of the machine"
    assert one(stored).has("share")
    assert not one(stored).has("colour")


def test_quotes_need_as_many_values_as_figures():
    with pytest.raises(ValueError, match="has 2 of them and 1 values"):
        Quote("{} to {} ms", lambda stored: 1.0)
    with pytest.raises(ValueError, match="has 0 of them"):
        Quote("fast")


def test_stated_needs_a_reason():
    with pytest.raises(ValueError, match="must have a text and a reason"):
        Stated("64 bytes", " ")


def test_an_edited_table_is_told_and_made_again(stored, tmp_path):
    file = tmp_path / "page.md"
    file.write_text("before\n<!-- times: begin -->\n<!-- times: end -->\nafter 1.5\n")
    put_into(file, "times", table(stored))
    page = file.read_text()
    makers = {"times": table}
    assert check_blocks("page.md", page, makers, stored) == []
    assert figures(page) == ["1.5"]
    edited = page.replace("7.41", "7.40")
    (fault,) = check_blocks("page.md", edited, makers, stored)
    assert str(fault).startswith("page.md:2: the block 'times' is not what is made")
    assert renewed(edited, (), makers, stored) == page
    (fault,) = check_blocks("page.md", page, {}, stored)
    assert "is made by no program" in str(fault)
    for broken in ("no markers", page.replace("end", "END"), page + page):
        (fault,) = check_blocks("page.md", broken, makers, stored)
        assert "must have the lines" in str(fault)
        assert renewed(broken, (), makers, stored) == broken
        assert "1.5" in figures(broken) or broken == "no markers"
    (fault,) = check_blocks(
        "page.md", page, {"times": lambda stored: str(stored.row("no"))}, stored
    )
    assert "cannot be made: no.json" in str(fault)


def test_a_page_quotes_only_what_its_source_shows():
    quotes = (Quote("takes {} ms, {} times less", lambda stored: 7.4, lambda stored: 2.0),)
    page = "It takes 7.4 ms, two times less.\n"
    assert check_source("README.md", page, quotes, "| 7.4 | 2 |") == []
    told = list(map(str, check_source("README.md", page, quotes, "| 7.40 | 17.4 | 3 |")))
    assert told == ["README.md:1: two is not in docs/results.md; say it there first."]


def sparse_cell(
    batch: int, us: float, times_less: float | None, *, k: int = 10, threads: int = 1
) -> Cell:
    figure = partial(Figure, in_bar=True, is_brute=False)
    return Cell(
        problem="blog posts",
        n_objects=9,
        n_queries=1000,
        kernel="cosine",
        k=k,
        batch=batch,
        threads=threads,
        n_columns=5,
        origin="",
        commit="",
        seconds=1.0,
        figures=(
            figure(name="fastmks scan", is_ours=True, median_us=9e3, times_less=0.1),
            figure(name="fastmks filter", is_ours=True, median_us=us, times_less=times_less),
            figure(name="scipy", is_ours=False, median_us=1.0),
        ),
    )


def test_the_table_of_sparse_sets_waits_for_its_cells(tmp_path):
    def shown(*cells) -> str:
        whole = {"name": "peers_bars", "cells": list(map(plain, cells))}
        (tmp_path / "peers_bars.json").write_text(json.dumps(whole))
        return sparse(Stored(tmp_path))

    nothing = "These sets are not measured yet."
    assert sparse(Stored(tmp_path)) == nothing
    assert shown() == nothing
    assert shown(sparse_cell(1, 50.0, 5.0, threads=2), sparse_cell(1, 50.0, 5.0, k=1)) == nothing
    assert shown(sparse_cell(1, 134.2, 5.26), sparse_cell(1000, 53.4, 13.1)).splitlines()[2:] == [
        "| blog posts, cosine | 134, 5.3× |  | 53, 13× |"
    ]
    assert "| 50 |  |  |" in shown(sparse_cell(1, 50.0, None))


def test_quotes_are_not_looked_for_in_generated_blocks(stored):
    page = f"{PAGE}<!-- times: begin -->\ntakes **7.4 ms**\n<!-- times: end -->\n"
    assert faults(page, stored) == []


def test_the_pages_follow_new_results(tmp_path):
    """A page with figures of other results becomes that of the repository."""
    for page in ["README.md", "docs/living.md"]:
        (tmp_path / page).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / page, tmp_path / page)
    file = tmp_path / "docs/living.md"
    page = file.read_text()
    file.write_text(page.replace("takes 14 ms, of which", "takes 13 ms, of which"))
    assert file.read_text() != page
    write(Stored(RESULTS), root=tmp_path)
    assert file.read_text() == page


@pytest.mark.parametrize(
    ("shown", "low", "high"),
    [
        ("7.4", 7.35, 7.45),
        ("0.84", 0.835, 0.845),
        ("12", 11.5, 12.5),
        ("13 951", 13950.5, 13951.5),
        ("six", 5.5, 6.5),
        ("6066", 6065.5, 6066.5),
        ("1.20", 1.195, 1.205),
    ],
)
def test_numbers_agree_at_the_digits_shown(shown, low, high):
    number = Shown(shown)
    assert number.agrees(low)
    assert number.agrees(high)
    assert not number.agrees(low - 1e-3 * number.value)
    assert not number.agrees(high + 1e-3 * number.value)
    assert not number.agrees(float("nan"))


@pytest.mark.parametrize(
    ("shown", "significant", "value", "written"),
    [
        ("7.4", None, 12.349, "12.3"),
        ("13 951", None, 1_234_567.0, "1 234 567"),
        ("13 951", None, 951.2, "951"),
        ("2300", None, 2400.4, "2400"),
        ("2300", None, 23_000.0, "23 000"),
        ("10000", None, 20_000.0, "20000"),
        ("six", None, 7.4, "seven"),
        ("six", None, 14.0, "14"),
        ("42 600", 3, 38_951.0, "39 000"),
        ("9.41", 3, 12.345, "12.3"),
        ("0.0096", 2, 0.01234, "0.012"),
    ],
)
def test_numbers_are_written_at_the_digits_shown(shown, significant, value, written):
    number = Shown(shown, significant)
    assert not number.agrees(value)
    assert number.rewritten(value) == written
    assert Shown(written, significant).agrees(value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in 12 ms, 5 µs, 3 s or 2 minutes", ["12", "5", "3", "2"]),
        ("5 to 15 evaluations, 20 and 30 %", ["5", "15", "20", "30"]),
        ("12% and 7× and 3x, 6 066 MB", ["12", "7", "3", "6 066"]),
        ("six times faster, 40 times", ["six", "40"]),
        ("within\na factor of 2", ["2"]),
        ("**12** times, 12\nms", ["12", "12"]),
        ("200 changes a second", ["200"]),
        ("1.23 million, base 1.3.", ["1.23", "1.3"]),
        (
            "| GloVe | 12 | 25; 4 (2×) | k = 1 | ~5 % | 3 → 2 |",
            ["12", "25", "4", "2", "5", "3", "2"],
        ),
        ("| 0.5 | 1 thread | - |\n| --- | --- |", ["0.5"]),
        ("100 000 × 64, a 4 × 4 block, version 1.17.1, k = 10", []),
        ("Theorem 4.2, Definition\n2.1, arXiv 2208.09447", []),
        ("10⁵ times, n²/2 evaluations, √(2s), 1e-10, 64 objects", []),
        ("`12 ms` [a](b-1.5.md) <!-- 3 ms -->", []),
        ("a\n\n    12 ms\n\nb 1.5", ["1.5"]),
        ("```\n12 ms\n```\n3 ms", ["3"]),
    ],
)
def test_what_counts_as_a_figure(text, found):
    assert figures(text) == found


def test_ranks_that_agree_are_correlated():
    assert rank_correlation([1.0, 5.0, 9.0], [2.0, 3.0, 70.0]) == pytest.approx(1.0)
    assert rank_correlation([1.0, 5.0, 9.0], [3.0, 2.0, 1.0]) == pytest.approx(-1.0)
    assert rank_correlation([1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]) == pytest.approx(0.9486833)
