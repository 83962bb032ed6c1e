"""Files to try commands on, and how to read the hits that commands write."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np

RNG = np.random.default_rng(5)
X, Q = RNG.normal(size=(300, 5)), RNG.normal(size=(23, 5))
LETTERS = list("ACDEFGHIKLMNPQRSTVWY")


def write_files():
    """Write files of every kind into the folder where we are."""
    np.save("x.npy", X)
    np.save("q.npy", Q)
    sequences = ["".join(RNG.choice(LETTERS, 30)) for _ in range(20)]
    records = "".join(f">P{i} protein\n{text}\n" for i, text in enumerate(sequences))
    Path("p.fasta.gz").write_bytes(gzip.compress(records.encode()))
    Path("m.smi").write_text("CCO ethanol\nCCN ethylamine\nc1ccccc1 benzene\nCCCO propanol\n")
    Path("w.txt").write_text("search\nresearch\nmatch\ntree\n")
    series = RNG.normal(size=(12, 20)).cumsum(axis=1)
    lines = ["1\t" + "\t".join(map(repr, row)) for row in series.tolist()]
    Path("s_TRAIN.tsv").write_text("\n".join(lines))
    rows = [f"n{i}," + ",".join(map(repr, row)) for i, row in enumerate(X.tolist())]
    Path("t.csv").write_text("id,a,b,c,d,e\n" + "\n".join(rows) + "\n")


def words(line):
    return line.split()


def rows_of(text):
    return [
        (row["query"], int(row["rank"]), row["id"], float(row["value"]))
        for row in csv.DictReader(io.StringIO(text))
    ]


def rows_of_hits(hits, names):
    return [
        (str(names[i]), j + 1, str(hits.ids[i, j]), hits.values[i, j].item())
        for i in range(len(hits.values))
        for j in range(hits.values.shape[1])
    ]
