"""The package as a whole: import cost, public names, examples in docstrings, guards in tools/."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import files

import pytest

import fastmks
import fastmks.dask
import fastmks.inputs
import fastmks.outputs
import fastmks.service
import fastmks.sklearn
from support.counting import count_calls
from support.paths import ROOT

PUBLIC = (
    fastmks,
    fastmks.kernels,
    fastmks.dask,
    fastmks.inputs,
    fastmks.outputs,
    fastmks.service,
    fastmks.sklearn,
)
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(fastmks.__path__, "fastmks.")
    if not name.endswith("._core")
]


def test_import_does_little_more_than_that_of_numpy():
    assert count_calls("import fastmks", before="import numpy") < 40_000


def test_import_brings_nothing_heavy():
    code = (
        "import sys, fastmks; "
        "print({m.split('.')[0] for m in sys.modules} "
        "& {'scipy', 'sklearn', 'dask', 'matplotlib', 'pandas', 'tqdm', 'torch'})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("name", ["fastmks", *MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def public_objects():
    for module in PUBLIC:
        for name in module.__all__:
            if name.islower() or name.isupper():
                continue
            cls = getattr(module, name)
            yield f"{module.__name__}.{name}", cls
            for attribute, value in vars(cls).items():
                if callable(value) and not attribute.startswith("_"):
                    yield f"{module.__name__}.{name}.{attribute}", value


@pytest.mark.parametrize(
    ("name", "thing"), list(public_objects()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_every_public_name_has_a_docstring_with_an_example(name, thing):
    assert thing.__doc__, name
    if not (isinstance(thing, type) and issubclass(thing, Exception)):
        assert ">>>" in thing.__doc__, name


def test_public_names_are_sorted_and_exist():
    for module in PUBLIC:
        assert set(module.__all__) <= set(dir(module))


def test_no_room_imports_from_above():
    subprocess.run([sys.executable, ROOT / "tools" / "check_layers.py"], check=True)


def test_the_guard_of_layers_sees_what_goes_up_or_across(tmp_path):
    package, core = tmp_path / "src" / "fastmks", tmp_path / "cpp" / "fastmks"
    for folder in (package / "data", package / "engines" / "tree", core / "stores"):
        folder.mkdir(parents=True)
    (package / "data" / "a.py").write_text("def f():\n    from fastmks.index.ids import Ids\n")
    (package / "engines" / "tree" / "b.py").write_text("import fastmks.engines.filters.codes\n")
    (core / "stores" / "c.hpp").write_text('#include "fastmks/spaces/algebra.hpp"\n')
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "check_layers.py", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stdout.splitlines() == [
        "data.a (room data) imports index.ids (room index)",
        "engines.tree.b (room engines.tree) imports engines.filters.codes (room engines.filters)",
        "stores/c.hpp includes from the room spaces",
    ]


def test_the_stub_is_that_of_the_extension():
    subprocess.run([sys.executable, ROOT / "tools" / "check_stub.py"], check=True)


def test_make_quick_has_tests_of_every_room():
    files = [ROOT / line for line in (ROOT / "tests" / "quick.txt").read_text().splitlines()]
    assert [file for file in files if not file.exists()] == []
    rooms = {file.parent for file in (ROOT / "tests").rglob("test_*.py")}
    assert rooms - {file.parent for file in files} == set()


def test_a_package_has_the_same_floor_wherever_pyproject_names_it():
    text = (ROOT / "pyproject.toml").read_text()
    floors = {}
    for name, floor in re.findall(r'"([\w-]+)(?:\[\w+\])?([>=]=[^"]+)"', text):
        floors.setdefault(name, set()).add(floor)
    assert {name: found for name, found in floors.items() if len(found) > 1} == {}


def test_the_oldest_versions_are_exact():
    command = [sys.executable, ROOT / "tools" / "requirements.py", "--oldest", "build", "test"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert "numpy==1.24" in lines
    assert [line for line in lines if not re.fullmatch(r"[\w-]+(\[\w+\])?==[\d.]+", line)] == []


def test_the_notices_are_those_of_what_is_compiled_in():
    licence = next(file for file in files("nanobind") if file.name == "LICENSE")
    assert (ROOT / "LICENSE.nanobind").read_text() == licence.read_text()
    header = next(file for file in files("nanobind") if file.name == "robin_hash.h")
    notice = re.sub(r"^ \* ?", "", header.read_text(), flags=re.MULTILINE)
    assert (ROOT / "LICENSE.robin-map").read_text() in notice


def links():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#]+)\)", prose):
            if not target.startswith("http"):
                yield page, target


def test_links_between_pages_lead_somewhere():
    found = list(links())
    assert found
    missing = [(page.name, target) for page, target in found if not (page.parent / target).exists()]
    assert missing == []
