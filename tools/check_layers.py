"""Fail when a room imports from a room above it. ROOMS and CPP_ROOMS are the one list of layers.

A room is a package of src/fastmks, or a folder of cpp/fastmks. Each may import from itself and
from rooms on earlier lines. docs/developers/architecture.md describes each.

One exception, by name: `kernel(x, y)` and `kernel.matrix(A, B)` evaluate through the engines.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = (
    ("errors", "_core"),  # _core is the compiled extension
    ("_util",),
    ("files",),
    ("data",),
    ("kernels",),
    ("engines",),
    ("engines.tree", "engines.filters"),
    ("index",),
    ("analysis",),
    ("inputs", "outputs"),
    ("dask", "service", "sklearn"),
    ("cli",),
    ("__init__", "__main__"),
)
EXCEPTIONS = {("kernels.base", "engines.space")}
CPP_ROOMS = (("simd",), ("core",), ("stores",), ("spaces",), ("scan",), ("tree", "filters"))
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}
CPP_RANK = {room: rank for rank, rooms in enumerate(CPP_ROOMS) for room in rooms}
_INCLUDE = re.compile(r'^\s*#include "fastmks/(\w+)/[^"]+"', re.MULTILINE)


def imported_modules(tree: ast.AST) -> set[str]:
    """Return the fastmks modules a source imports, anywhere in it, without the package's name."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "fastmks":
            found |= {f"fastmks.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            raise SystemExit("relative imports hide the layer: write `from fastmks.x import y`")
    return {name.removeprefix("fastmks.") for name in found if name.startswith("fastmks.")}


def room_of(module: str) -> str:
    """Return the room of a module such as `engines.tree.single_search`."""
    two = ".".join(module.split(".")[:2])
    room = two if two in RANK else module.split(".")[0]
    if room not in RANK:
        raise SystemExit(f"{module} has no room yet: give it one in tools/check_layers.py")
    return room


def upward_imports(package: Path) -> Iterator[str]:
    """Yield a line for each import of the Python package that goes up or across."""
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        room = room_of(module)
        for target in sorted(imported_modules(ast.parse(path.read_text(encoding="utf-8")))):
            other = room_of(target)
            if not _may(RANK, room, other) and (module, target) not in EXCEPTIONS:
                yield f"{module} (room {room}) imports {target} (room {other})"


def upward_includes(core: Path) -> Iterator[str]:
    """Yield a line for each include of the C++ core that goes up or across."""
    for path in sorted(file for file in core.rglob("*") if file.suffix in {".hpp", ".cpp", ".inl"}):
        room = path.relative_to(core).parts[0]
        for other in sorted(set(_INCLUDE.findall(path.read_text(encoding="utf-8")))):
            if not _may(CPP_RANK, room, other):
                yield f"{path.relative_to(core)} includes from the room {other}"


def _may(ranks: dict[str, int], room: str, other: str) -> bool:
    return room == other or ranks[other] < ranks[room]


def main() -> None:
    """Check the sources of this checkout, or of the root given."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    lines = [*upward_imports(root / "src" / "fastmks"), *upward_includes(root / "cpp" / "fastmks")]
    print("\n".join(lines) if lines else "layers: nothing imports from above")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
