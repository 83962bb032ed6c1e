"""What README.md quotes: nothing that docs/results.md does not show."""

from benchmarks.quotes.pages import results
from benchmarks.quotes.quote import Quote, Stated

__all__ = ["QUOTES"]

QUOTES = (
    Quote(
        "takes {} times as long on MNIST, {} on GIST, {} on Gowalla, {} on GloVe, {} on MovieLens "
        "and {} on Covertype",
        *results.TIMES_LESS,
    ),
    Quote("has a wrong answer to {} of {} such queries", *results.WRONG_OF_FAISS),
    Quote("FPSim2 takes {} times as long as fastmks", results.TIMES_FPSIM2),
    Quote(
        "`auto` evaluates {} times fewer pairs than mlpack's tree",
        results.TIMES_MLPACK,
    ),
    Quote("takes {} times less time than numpy", results.TIMES_NUMPY),
    Quote("takes {} µs for MovieLens' 3706 items, we {}", *results.SINGLE_QUERY),
    Stated("Python 3.10 or later", "what the package needs"),
    Stated("This is version 0.1", "a version"),
)
