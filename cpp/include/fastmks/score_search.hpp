#pragma once

#include <cmath>

#include "fastmks/score.hpp"
#include "fastmks/vector_store.hpp"

namespace fastmks {

/// How far a canonical score may lie from the exact one.
struct ScoreError {
    double share_of_largest;  ///< of the greatest magnitude any score in question has
    double share_of_score;    ///< of its own magnitude
    double lost;              ///< whatever it is

    [[nodiscard]] double at(double largest) const noexcept {
        return share_of_largest * largest + lost;
    }
    /// An exact score less than this has a canonical one less than `score`.
    [[nodiscard]] double below(double score, double largest) const noexcept {
        const double off = at(largest) + share_of_score * std::abs(score);
        return score - off - 0x1p-52 * (std::abs(score) + off);
    }
};

/// That of the scores between objects of a store and queries like them.
[[nodiscard]] ScoreError score_error(ScoreKind kind, const VectorStore& store);

/// A number t from `least` to `greatest` with value(t) < `limit`, close to the greatest one; minus
/// infinity where value(least) is not less. `value` grows.
template <class Value>
[[nodiscard]] double greatest_below(Value value, double limit, double least, double greatest) {
    constexpr int n_halvings = 44;
    if (value(greatest) < limit) return greatest;
    if (!(value(least) < limit)) return -HUGE_VAL;
    for (int i = 0; i < n_halvings; ++i) {
        const double middle = 0.5 * least + 0.5 * greatest;
        (value(middle) < limit ? least : greatest) = middle;
    }
    return least;
}

}  // namespace fastmks
