"""Pages show what is stored, and the check of that can fail."""

import json
import re
import shutil

import pytest
from benchmarks.quotes.__main__ import PROGRAMS, RESULTS, ROOT, check, write
from benchmarks.quotes.headlines import figures, unknown_figures
from benchmarks.quotes.tables import DECLARED, make_table, rows, show


@pytest.fixture
def copy(tmp_path):
    shutil.copy(ROOT / "README.md", tmp_path)
    for folder in (ROOT / "docs", RESULTS):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("*.png"))
    return tmp_path


@pytest.fixture(scope="module")
def known():
    return figures(RESULTS)


def test_pages_show_what_is_stored():
    assert list(check()) == []


def test_every_file_of_results_is_shown():
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    shown = {re.split("[;/]", found[2])[0] for found in DECLARED.finditer(pages)}
    shown.update(name for _, files in PROGRAMS.values() for name in files)
    assert shown == {file.stem for file in RESULTS.glob("*.json")}


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ("On MNIST it is 7.0 times faster, 4.8 on GIST", ""),
        ("7 times on MNIST, for 60 000 images of 784 columns", ""),
        ("On MNIST it is 7.1 times faster", "7.1"),
        ("It is 7.0 times faster", "7.0"),
        ("On GIST it is 7.0 times faster", "7.0"),
        ("7.0× on MNIST", ""),
        ("FAISS has a wrong answer to 11 737 of 56 211 queries", ""),
        ("FAISS has a wrong answer to 11 738 of 56 211 queries", "11 738"),
        ("27.3 µs on MovieLens", ""),
        ("27.4 µs on MovieLens", "27.4"),
        ("| 7.1 times |", ""),
        ("[Its authors](https://example.org) say 7.1 times", ""),
        ("Cited: 7.1 times", ""),
        ("```\n7.1 times\n```", ""),
        ("Python 3.10 and 100 threads", ""),
    ],
)
def test_measured_numbers_of_sentences_are_stored(known, line, unknown):
    told = list(unknown_figures(line, known))
    assert [fault.split("'")[1] for fault in told] == ([unknown] if unknown else [])


def test_experiments_by_hand_say_what_they_were():
    entries = rows(RESULTS, "experiments")
    assert len({entry["experiment"] for entry in entries}) == len(entries)
    for entry in entries:
        assert all(entry[name] for name in ("what", "on", "date", "commit"))
        assert (ROOT / entry["page"]).exists()


@pytest.mark.parametrize(
    ("page", "old", "new", "told"),
    [
        ("docs/evidence/index.md", "7.0 times faster", "7.1 times faster", "'7.1' is no stored"),
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
    file = copy / "results" / "growth.json"
    file.write_text(file.read_text().replace('"evaluations": ', '"evaluations": 1'))
    (fault,) = check(copy, copy / "results")
    assert fault.startswith("docs/evidence/data/growth.md: is not as stored")
    write(copy, copy / "results")
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
