"""Fail when a module imports from a layer above its own.

The layers, from the ground up; a module may import from its own layer and from those below:

    0  errors, _core
    1  arithmetic, _validate, progress, approximation, traversal, lines, wording, fasta, record,
       locks; files: file_locks, container with layout and replacing, plain; changing, with journal
    2  stores, kernels
    3  objects (stores for a kernel), spaces
    4  engines (engine: what they share; scan, filter and its kinds core_filter, own_bounds, pivots,
       postings, and sketch with axes, tree, tree_view, walked_tree, dual_tree, estimates)
    5  engines (those of one index)
    6  planner
    7  ids, hits, merge (best of several answers), parts, forest (all parts of an index)
    8  searchable, storage (an index as a record), index, loading
    9  forecast, hardness
    10 inputs, outputs: files of objects and of hits
    11 doors: cli, dask, service, sklearn
    12 the package itself

One exception, by name: a kernel's own `__call__` and `matrix` are doors on the kernel, and enter
through `spaces` when they are called.
"""

import ast
import sys
from pathlib import Path

LAYERS = (
    {"errors", "_core"},
    {
        "arithmetic",
        "_validate",
        "progress",
        "approximation",
        "traversal",
        "lines",
        "fasta",
        "record",
        "locks",
    }
    | {"file_locks", "layout", "replacing", "container", "plain", "journal", "changing"}
    | {"wording"},
    {"stores", "kernels"},
    {"objects", "spaces"},
    {
        "engine",
        "scan",
        "filter",
        "core_filter",
        "own_bounds",
        "pivots",
        "postings",
        "sketch",
        "axes",
    }
    | {"tree", "tree_view", "walked_tree", "dual_tree", "estimates"},
    {"engines"},
    {"planner"},
    {"ids", "hits", "merge", "parts", "forest"},
    {"searchable", "storage", "index", "loading"},
    {"forecast", "hardness"},
    {"inputs", "outputs"},
    {"cli", "dask", "service", "sklearn"},
    {"__init__", "__main__"},
)
EXCEPTIONS = {("kernels.base", "spaces")}
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


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


def rank_of(module: str) -> int:
    """Return the layer of a module such as `kernels.base`."""
    top = module.split(".")[0]
    if top not in RANK:
        raise SystemExit(f"{module} has no layer yet: give it one in tools/check_layers.py")
    return RANK[top]


def upward_imports(package: Path) -> list[str]:
    """Return a line for each import that goes up."""
    lines = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        for target in sorted(imported_modules(ast.parse(path.read_text()))):
            if rank_of(target) > rank_of(module) and (module, target) not in EXCEPTIONS:
                lines.append(
                    f"{module} (layer {rank_of(module)}) imports {target} (layer {rank_of(target)})"
                )
    return lines


def main() -> None:
    """Check src/fastmks, or the package given."""
    default = Path(__file__).parent.parent / "src" / "fastmks"
    lines = upward_imports(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    print("\n".join(lines) if lines else "layers: no upward import")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
