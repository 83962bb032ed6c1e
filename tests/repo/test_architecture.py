"""The page about the architecture: every room has its heading, and every file it names exists."""

import re
import runpy

from support.paths import ROOT

LAYERS = runpy.run_path(str(ROOT / "tools" / "check_layers.py"))
ROOMS, CPP_ROOMS = LAYERS["ROOMS"], LAYERS["CPP_ROOMS"]
PAGE = (ROOT / "docs" / "developers" / "architecture.md").read_text()
FILE = re.compile(r"`((?:\w+/)*\w+\.(?:py|cpp|hpp|inl))`")
ROOTS = [ROOT, ROOT / "src" / "fastmks", ROOT / "cpp" / "fastmks"]


def sections():
    """The text below each heading that names a room."""
    parts = re.split(r"^##+ (.*)$", PAGE, flags=re.MULTILINE)
    return {head.strip("`"): text for head, text in zip(parts[1::2], parts[2::2], strict=True)}


def test_every_room_has_a_heading():
    python = {room for rooms in ROOMS for room in rooms}
    without = {"errors", "_core", "__init__", "__main__"}  # files, not rooms
    cpp = {room for rooms in CPP_ROOMS for room in rooms}
    assert python - without | cpp <= sections().keys()


def test_every_file_it_names_exists():
    for head, text in sections().items():
        room = head.replace(".", "/")
        folders = [*ROOTS, *(root / room for root in ROOTS if (root / room).is_dir())]
        for name in FILE.findall(text):
            assert any((folder / name).exists() for folder in folders), (head, name)
