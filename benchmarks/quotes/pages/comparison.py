"""What docs/comparison.md quotes: figures that docs/results.md shows too."""

from benchmarks.quotes.pages import results
from benchmarks.quotes.quote import Quote

__all__ = ["QUOTES"]

QUOTES = (
    Quote("takes {} µs for MovieLens' 3706 items, and fastmks {}", *results.SINGLE_QUERY),
    Quote("has a wrong answer to {} of {} such queries", *results.WRONG_OF_FAISS),
    Quote(
        "takes {} times as long on MNIST, {} on GIST, {} on Gowalla, {} on GloVe, {} on MovieLens "
        "and {} on Covertype",
        *results.TIMES_LESS,
    ),
    Quote("`auto` evaluates {} times fewer pairs than mlpack's single tree", results.TIMES_MLPACK),
    Quote("has a wrong answer to {} of {} queries under a polynomial", *results.WRONG_OF_DUAL_TREE),
    Quote("FPSim2 takes {} times as long as fastmks", results.TIMES_FPSIM2),
    Quote("`auto` takes {} times less time than numpy", results.TIMES_NUMPY),
    Quote("numpy takes {} times as long", results.TIMES_YAHOO),
)
