#pragma once

#include <cmath>

namespace fastmks {

/// What orders the values of many kernels between vectors, and is simpler than they are. A space
/// whose values are a function of a score can be searched through bounds on the scores, whether
/// its kernel is Mercer or not (docs/how-it-works/reductions.md).
enum class ScoreKind {
    none,
    product,   ///< <x, y>
    cosine,    ///< <x, y> / (|x| |y|), 0 for a zero vector
    distance,  ///< -|x - y|^2 / 2
};

/// The scores strictly between two numbers, which may be infinite.
struct ScoreRange {
    double low;
    double high;

    [[nodiscard]] static ScoreRange empty() noexcept { return {HUGE_VAL, -HUGE_VAL}; }
    [[nodiscard]] static ScoreRange all() noexcept { return {-HUGE_VAL, HUGE_VAL}; }
    [[nodiscard]] bool holds(double score) const noexcept { return low < score && score < high; }
};

}  // namespace fastmks
