"""Pages show what is stored, and the check of that can fail."""

import json
import re
import shutil

import pytest
from benchmarks.quotes.__main__ import PROGRAMS, RESULTS, ROOT, check, write
from benchmarks.quotes.headlines import SENTENCES, figures
from benchmarks.quotes.tables import DECLARED, make_table, rows, show


@pytest.fixture
def copy(tmp_path):
    shutil.copy(ROOT / "README.md", tmp_path)
    for folder in (ROOT / "docs", RESULTS):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("*.png"))
    return tmp_path


def test_pages_show_what_is_stored():
    assert list(check()) == []


def test_every_headline_and_every_file_of_results_is_shown():
    assert set(re.findall(r"\{(\w+)\}", " ".join(SENTENCES))) == set(figures(RESULTS))
    assert len(figures(RESULTS)) <= 20
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    shown = {re.split("[;/]", found[2])[0] for found in DECLARED.finditer(pages)}
    shown.update(name for _, files in PROGRAMS.values() for name in files)
    assert shown == {file.stem for file in RESULTS.glob("*.json")}


def test_experiments_by_hand_say_what_they_were():
    entries = rows(RESULTS, "experiments")
    assert len({entry["experiment"] for entry in entries}) == len(entries)
    for entry in entries:
        assert all(entry[name] for name in ("what", "on", "date", "commit"))
        assert (ROOT / entry["page"]).exists()


@pytest.mark.parametrize(
    ("page", "old", "new", "told"),
    [
        ("README.md", "7.0 times as long on MNIST", "7.1 times as long on MNIST", "--write"),
        ("README.md", "FPSim2 takes 6.9", "FPSim2 needs 6.9", "must say so once, not 0 times"),
        ("docs/reference/kernels/graphs.md", "| 388.6 |", "| 388.7 |", "--write"),
        ("docs/reference/kernels/graphs.md", "<!-- graphs: begin -->", "", "must have the lines"),
        (
            "docs/reference/kernels/graphs.md",
            "<!-- graphs: objects",
            "<!-- ",
            "declare it once, not 0 times",
        ),
        ("docs/reference/kernels/graphs.md", "{k}", "{missing}", "'missing'"),
        ("docs/evidence/data/scale.md", "<!-- scale: end -->", "", "must have the lines"),
    ],
)
def test_a_changed_page_is_told(copy, page, old, new, told):
    text = (copy / page).read_text()
    (copy / page).write_text(text.replace(old, new, 1))
    (fault,) = check(copy)
    assert fault.startswith(page)
    assert told in fault
    write(copy)
    assert list(check(copy)) == ([] if told == "--write" else [fault])
    assert ((copy / page).read_text() == text) == (told == "--write")


def test_pages_follow_changed_results(copy):
    file = copy / "results" / "peers_bars.json"
    file.write_text(file.read_text().replace('"times_less": ', '"times_less": 1'))
    changed = {fault.split(":")[0] for fault in check(copy, copy / "results")}
    pages = ("comparison", "evidence/performance", "evidence/index", "reference/kernels/sparse")
    assert changed == {"README.md", *(f"docs/{page}.md" for page in pages)}
    write(copy, copy / "results")
    assert "17.0 times as long on MNIST" in (copy / "README.md").read_text()
    assert list(check(copy, copy / "results")) == []


def test_rows_that_agree_make_one_line(tmp_path):
    found = [{"set": "a", "k": 1, "s": 0.0123, "n": 2}, {"set": "a", "k": 10, "s": 9.0, "n": 2}]
    stored = json.dumps({"rows": [*found, {"set": "b", "k": 1, "s": None, "n": 1}]})
    (tmp_path / "some.json").write_text(stored)
    page = "<!-- x: some; by=set; across=k\n| set | ms |\n| {set} | {s 1/n:ms}, {k 1}× |\n-->"
    assert make_table(page, "x", tmp_path).splitlines()[2:] == ["| a | 6.2, 1× |", "| b | – |"]
    with pytest.raises(LookupError, match="two rows of a line have n=2"):
        make_table(page.replace("across=k", "across=n"), "x", tmp_path)


def test_how_values_are_shown():
    for value, form in ((42_589.0, "brief"), (42_600, ""), (42_600.2, ".0f")):
        assert show(value, form) == "42 600"
    assert [show(value, "brief") for value in (24.506, 9.94, 0.5)] == ["25", "9.9", "0.50"]
    assert show(0.643, ".1%") == "64.3 %"
    assert show("Normalized(kernel=Cosine())", "code") == "`Normalized(Cosine())`"
