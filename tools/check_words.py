"""Fail where a phrase stands that readers of English as a second language must decode.

    python tools/check_words.py [FILE ...]

CONTRIBUTING.md says how fastmks is written; this keeps the worst from coming back. Without files it
reads all that git tracks, tests and stored results apart.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
READ = ("src", "cpp", "docs", "examples", "tools", "benchmarks", "*.md", ":!*.json", ":!*.png")
INSTEAD = {
    r"\banew\b": "again",
    r"\bdear(er|est)?\b": "expensive",
    r"\bwhoever\b": "the caller, the writer, the thread that ...",
    r"\bpass(es|ed|ing)? over\b": "skip",
    r"\bso (many|much)\b(?! (that|as)\b)": "this many, n",
    r"\b(has|have|had) left\b": "was removed",
    r"\bleav(e|es|ing) out\b|\bleft out\b(?!\")": "prune, skip, omit, exclude",
    r"\blook(s|ed|ing)? at\b|\b(a|two) looks?\b": "examine, evaluate, scan, check",
    r"\bworked out\b": "computed",
    r"\bdoors?\b": "interface",
    r"\bthose that are there\b": "the remaining ones, the present ones",
    r"\bbehind (all|an?|any|each other|every|its?|the|their|them|these|those|what|which)\b"
    r"(?! (lock|proxy|guard|same guard))": "after",
    r'"""(That of|What|Whoever|Those|The same for all)\b': "a noun: what is returned or held",
}


def phrases(name: str, text: str) -> Iterator[str]:
    """Yield a line for each phrase found in a text."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in INSTEAD.items():
            if found := re.search(pattern, line, re.IGNORECASE):
                yield f"{name}:{number}: {found[0]!r}: say {instead!r}"


def main() -> None:
    """Check the files given, or those of the checkout."""
    tracked = ["git", "-C", str(ROOT), "ls-files", "--", *READ]
    names = sys.argv[1:] or subprocess.check_output(tracked, text=True).splitlines()
    files = [(name, ROOT / name) for name in names if name != "tools/check_words.py"]
    lines = [line for name, file in files for line in phrases(name, _read(file))]
    print("\n".join(lines) if lines else "words: nothing to decode")
    sys.exit(1 if lines else 0)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


if __name__ == "__main__":
    main()
