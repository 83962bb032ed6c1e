"""The hooks of `mkdocs.yml` for pages of the site; the files in docs/ stay as they are.

Pages are written for readers of the repository: they link to files outside of docs/, and lists
follow their paragraph without an empty line. On the site

- a file outside of docs/ that some page links to is copied to `repository/`: pictures and
  data as they are, Markdown as a page, other text as a page that shows it, a folder as a list;
- links lead to these places;
- a list gets the empty line that Python-Markdown needs before it;
- examples with prompts are coloured as such, and all that they show is output, errors too.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File, Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = "repository"  # the folder of the site for files outside of docs/
COPIED = (".png", ".json")
WRAPPED = ("CHANGELOG.md", "CONTRIBUTING.md")  # are in the navigation, so links reach them

_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_ITEM = re.compile(r"(?:[-*+]|\d+\.) ")
_PROMPTS = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
_TRACE = re.compile(r'<span class="gt">.*?(?=<span class="gp">|</code>)', re.DOTALL)
_LANGUAGES = {".py": "python", ".sh": "sh", ".toml": "toml", ".yml": "yaml"}


def place(path: str) -> str:
    """Return the path on the site of a file of the repository, as the source of a page or a copy.

    >>> place("docs/guides/changing.md"), place("benchmarks/results/growth_time.png")
    ('guides/changing.md', 'repository/benchmarks/results/growth_time.png')
    >>> place("examples/digits.py"), place("CHANGELOG.md")
    ('repository/examples/digits.py.md', 'repository/CHANGELOG.md')
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"{OUTSIDE}/{path}/index.md"
    suffix = posixpath.splitext(path)[1]
    return f"{OUTSIDE}/{path}" + ("" if suffix in (*COPIED, ".md") else ".md")


def origin(place: str) -> str:
    """Return the file of the repository that a page of the site shows.

    >>> origin("guides/changing.md"), origin("repository/CHANGELOG.md")
    ('docs/guides/changing.md', 'CHANGELOG.md')
    """
    if place.startswith(f"{OUTSIDE}/"):
        return place.removeprefix(f"{OUTSIDE}/")
    return f"docs/{place}"


def outside(page: str, text: str) -> Iterator[str]:
    """Yield the files and folders outside of docs/ that a page of the repository links to."""
    for _, target, _ in _LINK.findall(_without_code(text)):
        path = _target(page, target)
        if path and not path.startswith("docs/") and (ROOT / path).exists():
            yield path


def adapted(page: str, text: str) -> str:
    """Return a page of the repository as the site needs it."""
    start = posixpath.dirname(place(page))

    def led(match: re.Match[str]) -> str:
        path = _target(page, match.group(2))
        if not path or not (ROOT / path).exists():
            return match.group()
        return match.group(1) + posixpath.relpath(place(path), start or ".") + match.group(3)

    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith("```")
        if not is_code and not is_fence:
            line = _LINK.sub(led, line)
            if _starts_list(lines, line):
                lines.append("")
        is_code ^= is_fence
        lines.append(line)
    return _PROMPTS.sub("```pycon\n", "\n".join(lines) + "\n")


def with_errors_as_output(html: str) -> str:
    """Return a page where the errors of examples are output, which the copy button skips.

    >>> error = '<span class="gt">Traceback:</span>\\n<span class="gr">KeyError</span>: 1\\n'
    >>> with_errors_as_output(f'{error}<span class="gp">&gt;&gt;&gt; </span>')
    '<span class="go">Traceback:\\nKeyError: 1\\n</span><span class="gp">&gt;&gt;&gt; </span>'
    """
    return _TRACE.sub(lambda found: _output(found[0]), html)


def _output(html: str) -> str:
    return f'<span class="go">{re.sub("<[^>]*>", "", html)}</span>'


def shown(path: str) -> str:
    """Return the page that shows a file or a folder of the repository."""
    if (ROOT / path).is_dir():
        names = sorted(child.name for child in (ROOT / path).iterdir() if child.is_file())
        listed = (f"- [{name}]({posixpath.basename(place(f'{path}/{name}'))})" for name in names)
        return f"# {path}\n\n" + "\n".join(listed) + "\n"
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    language = _LANGUAGES.get(posixpath.splitext(path)[1], "text")
    return f"# {path}\n\n````{language}\n{text}````\n"


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the files outside of docs/ that pages link to."""
    waiting = list(WRAPPED)
    for file in files.documentation_pages():
        waiting += outside(origin(file.src_uri), file.content_string)
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        if (ROOT / path).is_dir():
            waiting += [
                os.path.relpath(child, ROOT) for child in (ROOT / path).iterdir() if child.is_file()
            ]
        elif path.endswith(".md"):
            waiting += outside(path, shown(path))
        files.append(_made(path, config))
    return files


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Return the text of a page as the site needs it."""
    path = origin(page.file.src_uri)
    return adapted(path, markdown) if (ROOT / path).exists() else markdown


def on_page_content(html: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Return the HTML of a page as the copy button needs it."""
    return with_errors_as_output(html)


def _made(path: str, config: "MkDocsConfig") -> "File":
    from mkdocs.structure.files import File, InclusionLevel

    if place(path).endswith(COPIED):
        return File.generated(config, place(path), abs_src_path=str(ROOT / path))
    return File.generated(
        config, place(path), content=shown(path), inclusion=InclusionLevel.NOT_IN_NAV
    )


def _target(page: str, target: str) -> str:
    """Return the path in the repository that a link leads to, or nothing for one elsewhere."""
    if re.match(r"[a-z]+:", target) or target.startswith("/"):
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    return "" if path.startswith("..") else path


def _starts_list(lines: list[str], line: str) -> bool:
    """Whether a line is the first item of a list that follows a paragraph."""
    if not _ITEM.match(line) or not lines:
        return False
    last = lines[-1]
    if not last.strip() or last.startswith((" ", "|", "#", "<")) or _ITEM.match(last):
        return False
    for earlier in reversed(lines):  # is it the second line of an item?
        if not earlier.strip():
            return True
        if _ITEM.match(earlier):
            return False
    return True


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```[^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
