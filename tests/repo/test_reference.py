"""The reference of the command line and of HTTP names everything that the code has."""

import re

import pytest
import typer

import fastmks
import fastmks.cli.app
from fastmks.inputs import FORMS
from fastmks.outputs import OUTPUT_FORMS
from fastmks.service import Limits, make_app, open_served
from fastmks.service.metrics import _ABOUT
from support.paths import ROOT

COMMANDS = typer.main.get_command(fastmks.cli.app.app).commands


def code_of(page):
    """All words in code of a page of the reference."""
    text = (ROOT / "docs" / "reference" / page).read_text()
    return {word for code in re.findall(r"`([^`\n]+)`", text) for word in code.split()}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_their_options_are_named(name):
    options = {
        text
        for parameter in COMMANDS[name].params
        if parameter.param_type_name == "option"
        for text in (*parameter.opts, *parameter.secondary_opts)
    }
    assert {name, *options - {"--help"}} <= code_of("command-line.md")


def test_formats_of_files_are_named():
    suffixes = {f".{form}" for form in OUTPUT_FORMS}
    assert {*FORMS, *suffixes} <= {word.strip(",") for word in code_of("command-line.md")}


def test_paths_limits_and_metrics_are_named(tmp_path):
    fastmks.Index([[1.0]]).save(tmp_path / "one.fmks")
    app = make_app(open_served(tmp_path / "one.fmks"))
    paths = {route.path.replace(":path", "") for route in app.routes}
    assert {*paths, *vars(Limits()), *_ABOUT} <= code_of("http.md")
