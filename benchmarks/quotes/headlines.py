"""The figures in the sentences of the main pages, and the check that results are their source.

A line with a measured number, as "7.0 times", "27.3 µs" or "3 of 40", must have a word of a stored
figure that agrees: 6.98 for MNIST allows "7.0 times" and "7 times" where a line names MNIST. All
else is free, and so is a line that cites: one with "Cited" or a link to another site.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean

from benchmarks.evidence.overview import race_in, wrong_of
from benchmarks.quotes.tables import Row, rows, show
from benchmarks.race.names import AUTO, MLPACK, MLPACK_DUAL, NUMPY

PAGES = ("README.md", "docs/index.md", "docs/comparison.md", "docs/evidence/index.md")
_WORDS = {  # of sets of the peers; others go by their own names
    "cifar10_gist384": "gist", "glove100_50k": "glove", "lcdm": "galaxies",
    "fingerprints": "molecules", "20 newsgroups": "newsgroups",
}  # fmt: skip
_K = 10
_NUMBER = r"(?<![\w.])(\d+(?: \d{3})*(?:\.\d+)?)"
_MEASURED = re.compile(rf"{_NUMBER}(?= ?×| times| µs| ms| million| of \d)|(?<=\d of ){_NUMBER}")


def unknown_figures(page: str, known: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Yield the measured numbers of a page that agree with no figure of a word in their line."""
    is_code = False
    for number, line in enumerate(page.splitlines(), 1):
        is_code ^= line.startswith("```")
        if is_code or line.startswith(("|", "<", "!", "Cited")) or "](http" in line:
            continue
        found = [text for pair in _MEASURED.findall(line) for text in pair if text]
        if found:  # then every decimal number is one
            found += [text for text in re.findall(_NUMBER, line) if "." in text]
        values = [value for word in known if word in line.lower() for value in known[word]]
        for text in dict.fromkeys(found):
            if text not in (show(one, f".{len(text.partition('.')[2])}f") for one in values):
                yield f"line {number}: {text!r} is no stored figure of what the line names"


def figures(folder: Path) -> dict[str, list[float]]:
    """Return the figures that pages may say, by a word that their line must have."""
    found: dict[str, list[float]] = {}
    peers = rows(folder, "peers_bars")
    for problem in dict.fromkeys(row["problem"] for row in peers):
        mine = [row for row in peers if row["problem"] == problem]
        found[_WORDS.get(problem, problem)] = list(_of_set(mine))
    is_faiss = {"name": "faiss flat, tuned", "kernel": "linear", "k": _K}
    faiss = rows(folder, "peers_bars", **is_faiss)
    found["aloi"] += wrong_of([row for row in faiss if row["problem"] == "aloi"], faiss[0]["name"])
    dual = rows(folder, "paper", name=MLPACK_DUAL, kernel="polynomial 10", section="vectors")
    place = {"section": "vectors", "k": _K}
    numpy = _ratios(folder, "median_us", NUMPY, **place)
    (load,) = rows(
        folder,
        "living",
        section="files",
        case="warm",
        problem="decaying",
        dtype="float32",
        contestant="fastmks filter: load",
    )
    answers = [
        row
        for name in ("paper", "growth", "peers_bars")
        for row in rows(folder, name, is_ours=True)
    ]
    return found | {
        "faiss": [*wrong_of(faiss, faiss[0]["name"])],
        "mlpack": [
            geometric_mean(_ratios(folder, "evaluations", MLPACK)),
            *wrong_of(dual, MLPACK_DUAL),
        ],
        "numpy": [geometric_mean(numpy), min(numpy), max(numpy)],
        "music": _ratios(folder, "median_us", NUMPY, problem="yahoo", kernel="linear", **place),
        "load": [load["load_ms"]],
        "million answers": [sum(row.get("checked") or 0 for row in answers) / 1e6],
    }


def _of_set(found: Sequence[Row]) -> Iterator[float]:
    """Yield times and wrong answers of `auto` and the fastest other: single queries, batches."""
    cells: dict[int, list[Row]] = {}
    kernel = found[0]["kernel"]  # the inner product of vectors
    for row in found:
        place = row["kernel"], row["k"], row["threads"]
        if place == (kernel, _K, 1) and row["batch"] in (1, row["n_queries"]):
            cells.setdefault(row["cell"], []).append(row)
    for cell in cells.values():
        race = race_in(cell)
        yield from (race.ours, race.others, race.times, *wrong_of(found, race.name))


def _ratios(folder: Path, field: str, upper: str, **wanted: object) -> list[float]:
    """Return a field of an entrant over that of `auto`, in each cell that has both."""
    below = {row["cell"]: row.get(field) for row in rows(folder, "paper", name=AUTO, **wanted)}
    above = (row for row in rows(folder, "paper", name=upper, **wanted) if below.get(row["cell"]))
    return [row[field] / below[row["cell"]] for row in above if field in row]
