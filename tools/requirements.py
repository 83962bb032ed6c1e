"""Print what an extra of pyproject.toml needs, a requirement a line, without building the package.

python tools/requirements.py test build
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

_OWN = re.compile(r"fastmks\[(.+)\]")


def requirements(extras: list[str], project: dict[str, object]) -> Iterator[str]:
    """Yield the requirements of extras; an extra may name others as `fastmks[one,two]`."""
    offered = project["optional-dependencies"]
    assert isinstance(offered, dict)
    for extra in extras:
        for requirement in offered[extra]:
            own = _OWN.fullmatch(requirement)
            if own:
                yield from requirements(own[1].split(","), project)
            else:
                yield requirement


def main() -> None:
    """Print the requirements of the package itself and of the extras given."""
    file = Path(__file__).parent.parent / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    print("\n".join([*project["dependencies"], *requirements(sys.argv[1:], project)]))


if __name__ == "__main__":
    main()
