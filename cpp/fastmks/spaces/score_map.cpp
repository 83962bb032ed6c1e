#include "fastmks/spaces/score_map.hpp"

#include <cmath>
#include <stdexcept>

#include "fastmks/spaces/score_search.hpp"

namespace fastmks {

ScoreError score_error(ScoreKind kind, const VectorStore& store) {
    // A sparse query may have more entries than any object, but only shared columns add up.
    const auto terms = static_cast<double>(store.longest_sum());
    switch (kind) {
        case ScoreKind::product:
            if (store.has_exact_products()) return {0.0, 0.0, 0.0};
            return {share_lost(terms + 3) + roundoff, 0.0,
                    terms * static_cast<double>(n_lanes) * underflow};
        case ScoreKind::cosine:  // each norm is a sum of its own, as long as the longest row
            return {0.0, 0.0,
                    2 * share_lost(static_cast<double>(store.n_columns()) + 8) + 5 * roundoff};
        case ScoreKind::distance:
            break;
    }
    const auto columns = static_cast<double>(padded(store.n_columns()) / n_lanes);
    return {0.0, share_lost(columns + 16), columns * static_cast<double>(n_lanes) * underflow};
}

double ScoreMap::value_from(double score, double largest) const {
    if (!is_increasing || !std::isfinite(largest)) return -HUGE_VAL;
    const double canonical = score_error(kind, *vectors).below(score, largest);
    return std::isfinite(canonical) ? value_below(canonical) : -HUGE_VAL;
}

ScoreRange ScoreMap::scores_below(double value, double largest) const {
    if (!is_increasing || !std::isfinite(largest)) return ScoreRange::empty();
    const double reach = largest * (1 + 0x1p-20) + 0x1p-1000;
    const double t =
        greatest_below([this](double score) { return value_above(score); }, value, -reach,
                       kind == ScoreKind::distance ? 0.0 : reach, score_near(value));
    if (t == -HUGE_VAL) return ScoreRange::empty();
    if (t >= reach || (kind == ScoreKind::distance && t >= 0.0)) return ScoreRange::all();
    return {-HUGE_VAL, score_error(kind, *vectors).below(t, largest)};
}

const ScoreMap& scores_of(const Space& space) {
    const ScoreMap* const scores = space.scores();
    if (!scores) throw std::invalid_argument("the space has no scores");
    return *scores;
}

}  // namespace fastmks
