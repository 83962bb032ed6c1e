"""The pages: every code block runs, every page is in the navigation, and nothing is left out."""

import ast
import ctypes
import io
import itertools
import re
import subprocess
import sys
import tokenize
from code import InteractiveConsole
from codeop import compile_command
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import yaml
from test_package import PUBLIC

import fastmks
import fastmks.dask
import fastmks.inputs
import fastmks.outputs
import fastmks.service
import fastmks.sklearn
from fastmks.index import candidates, planner
from support.paths import ROOT
from support.waiting import PATIENCE

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FIGURES = {  # by the example that draws each, with what makes it quick
    "similar_digits": (),
    "growing_cost": ("--largest", "1000"),
    "gap_and_budget": (),
    "similar_molecules": (),
    "similar_proteins": (),
    "similar_heartbeats": (),
}
COMPILED_ONLY = {  # blocks that are not run, by a part of them, and why
    "SSHCluster(": "needs machines that can be reached by SSH",
    "KubeCluster(": "needs a Kubernetes cluster",
    "Security(": "needs a cluster with certificates",
}


def path_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page, language):
    """The code of a page in a language; examples with prompts are run by doctest."""
    found = FENCE.findall(page.read_text())
    return [code for name, code in found if name.strip() == language and ">>>" not in code]


PROMPTED = [ROOT / "docs/guides/many-machines.md"]  # its blocks start and end processes
PASTED = [
    page
    for page in PAGES
    if page in (ROOT / "README.md", ROOT / "docs/index.md", ROOT / "docs/start/tutorial.md")
    or page.parent in (ROOT / "docs/guides", ROOT / "docs/tasks")
    if page not in PROMPTED
]
PLAIN = [
    pytest.param(page, number, code, id=f"{path_of(page)}-{number}")
    for page in PAGES
    if page not in PASTED
    for number, code in enumerate(blocks(page, "python"))
]


def made_covertype(tmp_path):
    rows = np.random.default_rng(0).normal(size=(1500, 5))
    np.savez(tmp_path / "covertype.npz", X=rows)
    return {"folder": tmp_path}


def like_numba(_):
    """A stand-in for numba, whose functions are called back by ctypes."""
    pointer = ctypes.POINTER(ctypes.c_double)
    make = ctypes.CFUNCTYPE(ctypes.c_double, pointer, pointer, ctypes.c_ssize_t)

    class Float(str):
        def __call__(self, *arguments):
            return f"({', '.join(arguments)}) -> {self}"

    def cfunc(signature, *, fastmath):
        def compiled(function):
            kept = make(function)
            address = ctypes.cast(kept, ctypes.c_void_p).value
            return SimpleNamespace(address=address, _sig=signature, kept=kept)

        return compiled

    numba = ModuleType("numba")
    numba.cfunc = cfunc
    numba.types = SimpleNamespace(float64=Float("float64"), CPointer="{}*".format, intp="int64")
    rows = np.random.default_rng(0).normal(size=(30, 4))
    return {"numba": numba, "rows": rows, "fastmks": fastmks, "kernels": fastmks.kernels}


NEEDS = {
    "docs/evidence/hardness.md": made_covertype,
    "docs/reference/kernels/compiled.md": like_numba,
}


@pytest.mark.parametrize(("page", "number", "code"), PLAIN)
def test_blocks_without_prompts_run(page, number, code, tmp_path, monkeypatch, capsys):
    program = compile(code, f"{page.name}, block {number}", "exec")
    if any(part in code for part in COMPILED_ONLY):
        return
    if "__main__" in code:
        run_as_a_program(code, tmp_path)
        return
    names = NEEDS.get(path_of(page), lambda _: {})(tmp_path)
    if "numba" in names:
        monkeypatch.setitem(sys.modules, "numba", names["numba"])
    exec(program, names)
    if "numba" in names:
        hits = names["index"].search(names["rows"][:5], k=3)
        wanted = fastmks.Index(names["rows"]).search(names["rows"][:5], k=3)
        assert (hits.indices == wanted.indices).all()
    if path_of(page) == "docs/evidence/hardness.md":
        assert "Hardness of 500 of 500 objects" in capsys.readouterr().out


def paste(text, console, capsys):
    """Paste a block, line by line; what a line shows must stand in comments beside or below it."""
    lines = [*text.splitlines(), ""]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = {one.start[0]: one.string for one in tokens if one.type == tokenize.COMMENT}
    for number, line in enumerate(lines, 1):
        console.push(line)
        shown = capsys.readouterr()
        assert shown.err == ""
        if shown.out:
            said = [comments[number]] if number in comments else []
            said += itertools.takewhile(lambda after: after.startswith("#"), lines[number:])
            wanted = "".join(comment.removeprefix("# ") + "\n" for comment in said)
            assert OutputChecker().check_output(wanted, shown.out, ELLIPSIS), (wanted, shown.out)


@pytest.mark.parametrize("page", PASTED, ids=path_of)
def test_blocks_can_be_pasted_and_show_what_their_comments_say(page, tmp_path, monkeypatch, capsys):
    """All blocks of a page go into one console, as into plain Python."""
    monkeypatch.chdir(tmp_path)
    assert ">>>" not in page.read_text()
    console = InteractiveConsole()
    for block in blocks(page, "python"):
        paste(block, console, capsys)


def test_wrong_comments_and_errors_of_pasted_blocks_are_seen(capsys):
    paste("1 + 1  # 2\nprint('a\\nb')\n# a\n# b\n'# 5'  # '# 5'", InteractiveConsole(), capsys)
    wrong = ("1 + 1  # 3", "print('a\\nb')  # a", "1 + 1", "1 / 0", "def f():\n    0\nf()")
    for block in wrong:
        with pytest.raises(AssertionError):
            paste(block, InteractiveConsole(), capsys)


@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_blocks_with_prompts_can_be_pasted(page):
    """Without prompts and output, as the site copies them: an empty line ends a body."""
    lines = []
    for line in re.findall(r"^(?:>>>|\.\.\.)(?: (.*))?$", page.read_text(), re.MULTILINE):
        lines.append(line)
        if compile_command("\n".join(lines)) is not None:
            lines = []
    assert lines == []


def run_as_a_program(code, tmp_path):
    """Run a block that starts processes, with fewer objects."""
    small = code.replace("1_000_000", "2_000").replace("100_000", "500")
    assert small != code
    script = tmp_path / "block.py"
    script.write_text(small.replace("LocalCluster()", "LocalCluster(dashboard_address=':0')"))
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "<ShardedIndex: 2000 vectors of 50 columns in 4 shards" in run.stdout


def test_every_exception_is_still_there():
    for part in COMPILED_ONLY:
        assert sum(part in code for _, _, code in (case.values for case in PLAIN)) == 1
    assert all(any(path_of(case.values[0]) == page for case in PLAIN) for page in NEEDS)


@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_no_python_hides_in_other_blocks(page):
    """A block without a language, or indented, would not be run."""
    text = page.read_text()
    for name, code in FENCE.findall(text):
        if name.strip() != "python":
            assert not re.search(r"^(>>> |import |from \w+ import )", code, re.MULTILINE), code
    outside = FENCE.sub("", text)
    assert not re.search(r"^ {4}(>>> |import |from \w+ import )", outside, re.MULTILINE)


def test_every_make_target_of_the_pages_exists():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.search(r"\.PHONY: ((?:.*\\\n)*.*)", makefile).group(1).split())
    code = [
        piece
        for page in PAGES
        for found in re.findall(
            r"^```.*?^```|`[^`\n]+`", page.read_text(), re.DOTALL | re.MULTILINE
        )
        for piece in found.strip("`").splitlines()
    ]
    lines = (re.match(r"(?:.* && )?(?:\w+=\S+ )*make ([a-z][\w-]*)", piece) for piece in code)
    named = {line.group(1) for line in lines if line}
    assert {"demo", "test", "docs"} <= named
    assert named <= targets


def navigation(entries):
    for entry in entries:
        if isinstance(entry, str):
            yield entry
            continue
        (value,) = entry.values()
        yield from navigation([value] if isinstance(value, str) else value)


def test_every_page_is_in_the_navigation_once():
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    listed = [page for page in navigation(config["nav"]) if not page.startswith("repository/")]
    there = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(there)


def test_the_reference_has_every_public_name():
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "reference").rglob("*.md"))
    shown = set(re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE))
    wanted = {
        f"{module.__name__}.{name}"
        for module in PUBLIC
        for name in module.__all__
        if not name.isupper()
        and name not in {"__version__", "kernels", "BLOSUM62"}
        and name not in fastmks.errors.__all__
    }
    assert wanted <= shown
    assert shown - wanted == {"fastmks.errors"}


def reasons():
    """Every text that the planner gives as the reason of a plan."""
    sources = (Path(module.__file__).read_text() for module in (planner, candidates))
    tree = ast.parse("\n".join(sources))
    assigned = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and getattr(call.func, "id", "") == "plan"):
            continue
        reason = call.args[1]
        reason = assigned[reason.id] if isinstance(reason, ast.Name) else reason
        choices = [reason.body, reason.orelse] if isinstance(reason, ast.IfExp) else [reason]
        for choice in choices:
            yield eval(compile(ast.Expression(choice), "reason", "eval"), vars(planner))


def test_every_reason_of_the_planner_is_explained():
    page = (ROOT / "docs" / "guides" / "choosing.md").read_text()
    found = set(reasons())
    assert len(found) == 12
    explained = set(re.findall(r"^\| ([^|`]+) \| (?:scan|filter|filter, tree|any) \|", page, re.M))
    assert explained == found
    for name, reason in {**vars(planner), **vars(candidates)}.items():  # those of single engines
        if name.isupper() and name[0] != "_" and isinstance(reason, str) and reason not in found:
            assert f"| {reason} |" in page
    assert "smaller parts are planned apart)" in page


def test_the_figures_are_those_that_make_draws():
    makefile = (ROOT / "Makefile").read_text()
    listed = re.search(r"for example in ([^;]*); do", makefile).group(1)
    assert listed.replace("\\", " ").split() == list(FIGURES)
    shown = "\n".join(page.read_text() for page in PAGES)
    for name in FIGURES:
        assert f"images/{name}.png)" in shown
        assert (ROOT / "docs" / "images" / f"{name}.png").stat().st_size < 150_000


@pytest.mark.parametrize("name", FIGURES)
def test_examples_draw_their_figures(name, tmp_path):
    from matplotlib.image import imread

    script = [sys.executable, "-W", "error", ROOT / "examples" / f"{name}.py", *FIGURES[name]]
    subprocess.run([*script, "--figure", tmp_path / "figure.png"], check=True, capture_output=True)
    drawn, kept = imread(tmp_path / "figure.png"), imread(ROOT / "docs" / "images" / f"{name}.png")
    assert np.allclose(drawn.shape, kept.shape, rtol=0.05)  # versions of matplotlib differ a little
    assert np.unique(drawn).size > 20
