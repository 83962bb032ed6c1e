"""Print the requirements of extras of pyproject.toml, one a line, without building the package.

python tools/requirements.py test build
python tools/requirements.py --oldest test build  # the oldest versions that are allowed
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

_OWN = re.compile(r"fastmks\[(.+)\]")
_FLOOR = re.compile(r">=([^,;\s]+)[^;]*")


def requirements(extras: list[str], project: dict[str, object]) -> Iterator[str]:
    """Yield the requirements of extras; an extra may include others as `fastmks[one,two]`."""
    offered = project["optional-dependencies"]
    assert isinstance(offered, dict)
    for extra in extras:
        for requirement in offered[extra]:
            own = _OWN.fullmatch(requirement)
            if own:
                yield from requirements(own[1].split(","), project)
            else:
                yield requirement


def oldest(requirement: str) -> str:
    """Return the requirement of the oldest version that another allows: `numpy==1.24`."""
    return _FLOOR.sub(r"==\1", requirement)


def main() -> None:
    """Print the requirements of the package itself and of the extras given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*")
    parser.add_argument("--oldest", action="store_true", help="the oldest versions allowed")
    options = parser.parse_args()
    file = Path(__file__).parent.parent / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    for requirement in [*project["dependencies"], *requirements(options.extras, project)]:
        print(oldest(requirement) if options.oldest else requirement)


if __name__ == "__main__":
    main()
