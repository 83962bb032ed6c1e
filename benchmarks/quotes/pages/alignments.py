"""What docs/alignments.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand

__all__ = ["QUOTES"]

_BETA = "a parameter of the kernel"

QUOTES = (
    Stated("| letters of BLOSUM62 | β = 0.1 | β = 0.2 | β = 0.5 | β = 1 |", _BETA),
    Stated("spoils β = 0.1:", _BETA),
    Stated("near 10³⁵⁰ at β = 0.5", _BETA),
    Stated("at β = 0.5 two random strings", _BETA),
    Stated("smaller β (0.1 or 0.2, with 20 letters)", _BETA),
    Quote(
        "{} Swiss-Prot proteins of 60 to 200 residues, {} queries, k = {}, two threads",
        lambda stored: stored.common("objects_alignments", "n_objects"),
        lambda stored: stored.common("objects_alignments", "n_queries"),
        lambda stored: stored.common("objects_alignments", "k"),
    ),
    Quote(
        "at {} to {} ns a cell and thread",
        by_hand("alignment cells", "least_ns"),
        by_hand("alignment cells", "greatest_ns"),
    ),
)
