"""The site: pages are adapted as they should be, and the check of a built site can fail."""

import sys

import pytest

from support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))  # not installed

from check_site import faults
from site_hooks import adapted, origin, outside, place, shown, with_errors_as_output


def test_places_of_files():
    assert place("docs/guides/text.md") == "guides/text.md"
    assert place("benchmarks/results") == "repository/benchmarks/results/index.md"
    assert place("benchmarks/results/growth.json") == "repository/benchmarks/results/growth.json"
    assert place("examples/digits.py") == "repository/examples/digits.py.md"
    for path in ("docs/guides/text.md", "CHANGELOG.md"):
        assert origin(place(path)) == path


@pytest.mark.parametrize(
    ("page", "written", "led"),
    [
        ("docs/guides/changing.md", "(many-machines.md)", "(many-machines.md)"),
        ("docs/guides/changing.md", "(many-machines.md#a-folder)", "(many-machines.md#a-folder)"),
        (
            "docs/guides/text.md",
            "(../reference/kernels/sparse.md#layout)",
            "(../reference/kernels/sparse.md#layout)",
        ),
        ("docs/a.md", "(../examples/digits.py)", "(repository/examples/digits.py.md)"),
        (
            "docs/guides/text.md",
            "(../../examples/digits.py)",
            "(../repository/examples/digits.py.md)",
        ),
        (
            "docs/a.md",
            "(../benchmarks/results/growth_time.png)",
            "(repository/benchmarks/results/growth_time.png)",
        ),
        ("docs/a.md", "(../benchmarks/results)", "(repository/benchmarks/results/index.md)"),
        ("CHANGELOG.md", "(docs/guides/changing.md)", "(../guides/changing.md)"),
        ("docs/a.md", "(https://dask.org)", "(https://dask.org)"),
        ("docs/a.md", "(../../elsewhere.md)", "(../../elsewhere.md)"),
        ("docs/a.md", "(../no-such-file.py)", "(../no-such-file.py)"),
    ],
)
def test_links_lead_to_where_the_site_has_things(page, written, led):
    assert adapted(page, f"See [it]{written}.\n") == f"See [it]{led}.\n"


def test_code_is_left_alone():
    page = "```python\ntext\n- [x](../examples/digits.py)\n```\n"
    assert adapted("docs/a.md", page) == page
    assert list(outside("docs/a.md", page)) == []


def test_examples_with_prompts_are_told_apart():
    assert adapted("docs/a.md", "```python\n>>> 1\n1\n```\n") == "```pycon\n>>> 1\n1\n```\n"


def test_errors_in_examples_are_output():
    code = '<span class="gp">&gt;&gt;&gt; </span><span class="n">f</span>\n'
    error = '<span class="gt">Trace:</span>\n<span class="gr">E</span>: <span class="n">x</span>'
    page = f"<code>{code}{error}\n{code}{error}\n</code>"
    output = '<span class="go">Trace:\nE: x\n</span>'
    assert with_errors_as_output(page) == f"<code>{code}{output}{code}{output}</code>"
    style = (ROOT / "docs" / "site.css").read_text()
    assert "[data-md-copying] :is(.gp, .go) { display: none; }" in style


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("So:\n- one\n- two\n", "So:\n\n- one\n- two\n"),
        ("So:\n1. one\n2. two\n", "So:\n\n1. one\n2. two\n"),
        ("- one\n  more\n- two\n", "- one\n  more\n- two\n"),
        ("- one,\nlazily\n- two\n", "- one,\nlazily\n- two\n"),
        ("# Title\n- one\n", "# Title\n- one\n"),
        ("a\n-b\n", "a\n-b\n"),
    ],
)
def test_lists_get_the_empty_line_before_them(written, wanted):
    assert adapted("docs/a.md", written) == wanted


def test_files_outside_of_docs_are_found_and_shown():
    page = "[a](../examples/digits.py) [b](changing.md) [c](../benchmarks/results) [d](../no.py)"
    assert list(outside("docs/a.md", page)) == ["examples/digits.py", "benchmarks/results"]
    assert "````python\n" in shown("examples/digits.py")
    assert "- [growth.json](growth.json)" in shown("benchmarks/results")
    assert shown("CHANGELOG.md") == (ROOT / "CHANGELOG.md").read_text()


@pytest.fixture
def site(tmp_path):
    (tmp_path / "style.css").write_text("body { background: url(data:image/png;base64,AA) }")
    (tmp_path / "other.html").write_text('<h1 id="top">x</h1><a href="index.html">back</a>')
    (tmp_path / "index.html").write_text(
        '<link rel="stylesheet" href="style.css"><a href="other.html#top">a</a>'
        '<a href="https://dask.org">elsewhere</a><a href="#here" id="here">b</a>'
    )
    return tmp_path


def test_a_whole_site_has_no_fault(site):
    assert list(faults(site)) == []


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<script src="//cdn.example/x.js"></script>', "loads //cdn.example/x.js"),
        ('<link rel="stylesheet" href="https://fonts.example/a.css">', "loads https://fonts"),
        ('<img src="lost.png">', "loads lost.png, which is not there"),
        ('<a href="lost.html">x</a>', "links to lost.html, which is not there"),
        ('<a href="other.html#lost">x</a>', "no such place in that page"),
        ('<a href="#lost">x</a>', "no such place in that page"),
        ('<span class="gr">KeyError</span>', ".gr is copied as code"),
    ],
)
def test_faults_of_pages_are_told(site, added, told):
    page = site / "index.html"
    page.write_text(page.read_text() + added)
    (fault,) = faults(site)
    assert fault.startswith("index.html: ")
    assert told in fault


def test_faults_of_styles_and_of_nothing_are_told(site, tmp_path):
    (site / "style.css").write_text("@font-face { src: url('https://fonts.example/a.woff') }")
    assert list(faults(site)) == ["style.css: loads https://fonts.example/a.woff"]
    (tmp_path / "empty").mkdir()
    (fault,) = faults(tmp_path / "empty")
    assert "there are no pages" in fault
