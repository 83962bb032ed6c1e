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
    Stated("Scales from 1e-320 to 1e300", "limits of the code, tested"),
)
