#include <cmath>

#include "fastmks/core/space.hpp"
#include "fastmks/spaces/score_search.hpp"

namespace fastmks {
ScoreError score_error(ScoreKind kind, const VectorStore& store) {
    // A sparse query may have more entries than any object, but only shared columns add up.
    const auto terms = static_cast<double>(store.longest_sum());
    const double share = share_lost(terms + 3) + roundoff;
    const double lost = terms * static_cast<double>(n_lanes) * underflow;
    switch (kind) {
        case ScoreKind::product:
            if (store.has_exact_products()) return {0.0, 0.0, 0.0};
            return {share, 0.0, lost};
        case ScoreKind::cosine:  // each norm is a sum of its own, as long as the longest row
            return {0.0, 0.0,
                    2 * share_lost(static_cast<double>(store.n_columns()) + 8) + 5 * roundoff};
        case ScoreKind::distance: {
            const auto columns = static_cast<double>(padded(store.n_columns()) / n_lanes);
            return {0.0, share_lost(columns + 16),
                    columns * static_cast<double>(n_lanes) * underflow};
        }
        case ScoreKind::none:
            break;
    }
    return {0.0, 0.0, HUGE_VAL};
}

double Space::value_above(double) const {
    return HUGE_VAL;
}

double Space::value_below(double) const {
    return -HUGE_VAL;
}

double Space::value_from(double score, double largest) const {
    const ScoreKind kind = score_kind();
    if (kind == ScoreKind::none || !is_increasing() || !std::isfinite(largest)) return -HUGE_VAL;
    const double canonical = score_error(kind, *score_vectors()).below(score, largest);
    return std::isfinite(canonical) ? value_below(canonical) : -HUGE_VAL;
}

double Space::value_beyond(double, double) const {
    return -HUGE_VAL;
}

bool Space::map_products(const Space&, std::size_t, Selection, double*) const {
    return false;
}

ScoreRange Space::scores_below(double value, double largest) const {
    const ScoreKind kind = score_kind();
    if (kind == ScoreKind::none || !is_increasing() || !std::isfinite(largest)) {
        return ScoreRange::empty();
    }
    const double reach = largest * (1 + 0x1p-20) + 0x1p-1000;
    const double t =
        greatest_below([this](double score) { return value_above(score); }, value, -reach,
                       kind == ScoreKind::distance ? 0.0 : reach, score_near(value));
    if (t == -HUGE_VAL) return ScoreRange::empty();
    if (t >= reach || (kind == ScoreKind::distance && t >= 0.0)) return ScoreRange::all();
    return {-HUGE_VAL, score_error(kind, *score_vectors()).below(t, largest)};
}

}  // namespace fastmks
