"""Files that earlier versions saved still load, and answer as they did.

`python tests/files/test_saved_files.py` saves those of this version:
once for each version of the format.
"""

import json
import sys

import numpy as np
import pytest

import fastmks
from fastmks import kernels
from support.functions import overlap
from support.inside import data_of
from support.paths import DATA

FOLDER = DATA
SAVED = sorted(FOLDER.glob("version*/*.fmks"))


def given(path):
    """What the file does not hold."""
    if path.stem != "function":
        return {}
    return {"kernel": overlap, "decode": bytes.decode}


def queries_of(facts):
    """Queries as the kernel wants them, from JSON."""
    return [set(one) for one in facts["queries"]] if facts["are_sets"] else facts["queries"]


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.parametrize("mmap", [True, False])
def test_files_of_every_version_answer_as_they_did(path, mmap):
    facts = json.loads(path.with_suffix(".json").read_text())
    index = fastmks.load(path, mmap=mmap, **given(path))
    assert repr(index) == facts["repr"]
    assert index.ids.tolist() == facts["ids"]
    assert list(data_of(index).has_built) == facts["has_built"]
    hits = index.search(queries_of(facts), 3)
    assert hits.ids.tolist() == facts["hits"]
    assert [[value.hex() for value in row] for row in hits.values.tolist()] == facts["values"]
    scanned = index.search(queries_of(facts), 3, algorithm="scan")
    assert scanned.ids.tolist() == facts["hits"]
    index.remove(index.ids[:1])
    assert len(index) == len(facts["ids"]) - 1


def test_there_is_a_file_of_this_version():
    from fastmks.files.header import VERSION

    assert (FOLDER / f"version{VERSION}" / "tree.fmks") in SAVED


def indexes():
    """An index of each kind of thing that a file can hold, and queries for it."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 5)).round(3)
    words = ["".join(rng.choice(list("MKVLAG"), size=n)) for n in rng.integers(3, 12, size=80)]
    living = fastmks.Index(rows, algorithm="tree", ids=[f"row {i}" for i in range(300)])
    living.add(rows[:9] + 1, ids=list("abcdefghi"))
    living.remove(["b", "row 7", "row 200"])
    asked = rows[:4].tolist()
    bits = rng.random((60, 70)) < 0.2
    sets = [frozenset(rng.integers(0, 30, size=6).tolist()) for _ in range(40)]
    graphs = [([(i, i + 1) for i in range(n)], list("CNO" * 4)[: n + 1]) for n in range(1, 9)]
    series = [rng.normal(size=n).round(2) for n in rng.integers(3, 9, size=40)]
    gram = rows[:40] @ rows[:40].T
    yield "tree", living, asked
    yield "filter", fastmks.Index(rows, "cosine", algorithm="filter"), asked
    yield "gaussian", fastmks.Index(rows.astype(np.float32), "gaussian", algorithm="filter"), asked
    yield "sparse", fastmks.Index(csr_array(rows * (rows > 0)), algorithm="filter"), asked
    yield "grams", fastmks.Index(words, kernels.Spectrum((2, 3)), algorithm="tree"), words[:4]
    yield "mismatch", fastmks.Index(words, kernels.Mismatch(2, 1), algorithm="filter"), words[:4]
    yield "letters", fastmks.Index(words, kernels.SmithWaterman(), algorithm="filter"), words[:4]
    yield "bits", fastmks.Index(bits, kernels.Tanimoto()), bits[:4].tolist()
    yield "sets", fastmks.Index([set(one) for one in sets], kernels.Jaccard()), sets[:4]
    yield "graphs", fastmks.Index(graphs, kernels.WeisfeilerLehman(2)), graphs[:4]
    yield (
        "series",
        fastmks.Index(series, kernels.Normalized(kernels.GlobalAlignment(1.0)), algorithm="filter"),
        [one.tolist() for one in series[:4]],
    )
    yield (
        "gram matrix",
        fastmks.Index(gram, kernels.Precomputed(), algorithm="tree"),
        np.column_stack([gram[:4], gram.diagonal()[:4]]).tolist(),  # K(q, q) is last
    )
    yield "function", fastmks.Index(words, overlap, algorithm="tree"), words[:4]


def save_all():
    from fastmks.files.header import VERSION

    folder = FOLDER / f"version{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, index, queries in indexes():
        are_sets = isinstance(queries[0], frozenset)
        plain = [sorted(one) for one in queries] if are_sets else queries
        hits = index.search([set(one) for one in queries] if are_sets else queries, 3)
        path = folder / f"{name}.fmks"
        index.save(path, encode=str.encode if name == "function" else None)
        facts = {
            "fastmks": fastmks.__version__,
            "repr": repr(index),
            "ids": index.ids.tolist(),
            "has_built": list(data_of(index).has_built),
            "are_sets": are_sets,
            "queries": plain,
            "hits": hits.ids.tolist(),
            "values": [[value.hex() for value in row] for row in hits.values.tolist()],
        }
        path.with_suffix(".json").write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    sys.exit(save_all())
