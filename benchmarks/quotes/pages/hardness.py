"""What docs/hardness.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, Value, by_hand

__all__ = ["QUOTES"]


def _of(problem: str, kernel: str, figure: str) -> Value:
    """Return what finds a figure of the page's table."""
    return lambda stored: (
        stored.row("experiments", experiment="hardness")
        .one("rows", set=problem, kernel=kernel)
        .number(figure)
    )


_GOWALLA = "Gowalla factors"

QUOTES = (
    Quote(
        "the tree was {} to {} times as fast as the scan at {} % of its evaluations, {} to {} at "
        "{} %, {} to {} at {} %, and below {} beyond {} %",
        by_hand("tree and scan", "least_a"),
        by_hand("tree and scan", "greatest_a"),
        by_hand("tree and scan", "share_a_percent"),
        by_hand("tree and scan", "least_b"),
        by_hand("tree and scan", "greatest_b"),
        by_hand("tree and scan", "share_b_percent"),
        by_hand("tree and scan", "least_c"),
        by_hand("tree and scan", "greatest_c"),
        by_hand("tree and scan", "share_c_percent"),
        by_hand("tree and scan", "greatest_d"),
        by_hand("tree and scan", "share_d_percent"),
    ),
    Stated("a tree pays up to 3 %, and that a scan is as good beyond 50 %", "limits of the code"),
    Quote(
        "a factor of {} (Gowalla under cosine",
        lambda stored: (
            _of(_GOWALLA, "cosine", "forecast_percent")(stored)
            / stored.by_hand("items for queries", "items_percent")
        ),
    ),
    Quote(
        "{} % with items for queries, {} % with users, {} % measured)",
        by_hand("items for queries", "items_percent"),
        _of(_GOWALLA, "cosine", "forecast_percent"),
        _of(_GOWALLA, "cosine", "measured_percent"),
    ),
    Stated("On 1.2 million galaxies", "the size of the set"),
    Quote(
        "the truth was {} %, and the forecasts from samples of 1000, 4000 and 16 000 were {}, {} "
        "and {} %",
        by_hand("galaxies from samples", "measured_percent"),
        by_hand("galaxies from samples", "from_1000_percent"),
        by_hand("galaxies from samples", "from_4000_percent"),
        by_hand("galaxies from samples", "from_16000_percent"),
    ),
    Stated("within a factor of 2 in", "what is counted"),
    Quote(
        "in {} % of the runs, {} in the median and {} at worst, more often above the truth than "
        "below ({} %)",
        by_hand("forecasts", "within_percent"),
        by_hand("forecasts", "median_factor"),
        by_hand("forecasts", "greatest_factor"),
        by_hand("forecasts", "above_percent"),
    ),
    Quote(
        "With 250: {} %, {} and {}.",
        by_hand("forecasts", "within_percent_250"),
        by_hand("forecasts", "median_factor_250"),
        by_hand("forecasts", "greatest_factor_250"),
    ),
    Quote(
        "With 4000 (one seed): {} %, {} and {}.",
        by_hand("forecasts", "within_percent_4000"),
        by_hand("forecasts", "median_factor_4000"),
        by_hand("forecasts", "greatest_factor_4000"),
    ),
    Quote(
        "under cosine: {} for the median of c, {} for that of γ",
        by_hand("rank correlations", "c_cosine"),
        by_hand("rank correlations", "gamma_cosine"),
    ),
    Quote(
        "they say little**: {} and {} over eight sets",
        by_hand("rank correlations", "c_linear"),
        by_hand("rank correlations", "gamma_linear"),
    ),
    Quote(
        "bio needs {} % with c up to {}, Gowalla {} % with γ at its ceiling of {}",
        _of("bio", "linear", "measured_percent"),
        _of("bio", "linear", "c_greatest"),
        _of(_GOWALLA, "linear", "measured_percent"),
        _of(_GOWALLA, "linear", "gamma_greatest"),
    ),
    Quote(
        "the median of γ grew from {} to {} for the galaxies in three dimensions and from {} to {} "
        "for bio",
        by_hand("constants of samples", "gamma_galaxies_250"),
        _of("galaxies", "linear", "gamma_median"),
        by_hand("constants of samples", "gamma_bio_250"),
        _of("bio", "linear", "gamma_median"),
    ),
    Quote(
        "the greatest c of bio grew from {} to {} to {}, and that of the galaxies only from {} to "
        "{} to {}.",
        by_hand("constants of samples", "c_bio_250"),
        _of("bio", "linear", "c_greatest"),
        by_hand("constants of samples", "c_bio_4000"),
        by_hand("constants of samples", "c_galaxies_250"),
        _of("galaxies", "linear", "c_greatest"),
        by_hand("constants of samples", "c_galaxies_4000"),
    ),
)
