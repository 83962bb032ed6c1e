#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fastmks/core/geometry.hpp"

namespace fastmks {

/// Which bounds a search may use. Switching one off never changes an answer, only the cost.
struct BoundKinds {
    bool ball = true;    ///< Theorem 4.1: the distance to the furthest object below
    bool cap = true;     ///< Cauchy-Schwarz: the greatest norm below
    bool shell = true;   ///< ball and norms at once; Theorem 4.2 where all norms are 1
    bool parent = true;  ///< all of these with the parent's point, before a child is evaluated
};

enum class BoundKind { ball, cap, shell };
inline constexpr std::size_t n_bound_kinds = 3;

/// Known limits of some objects: they lie in a ball around a point p, and their norms within a
/// range. Each figure errs on the safe side.
struct Region {
    double point_norm;     ///< at least |p|
    double radius;         ///< at least |p - x|
    double least_norm;     ///< at most |x|
    double greatest_norm;  ///< at least |x|
};

/// Upper bounds on canonical values K^(q, x) of one query q. docs/how-it-works/proofs/tree.md
/// derives them and the slack of each. `share` covers every rounding as a share of the norms
/// involved, `lost` what underflow can take. A bound that is not a number bounds nothing: callers
/// compare so that it keeps.
class QueryBounds {
public:
    QueryBounds(const Geometry& geometry, double self_value)
        : norm_(geometry.norm_above(self_value)),
          share_(geometry.bound_share()),
          lost_(geometry.bound_lost()),
          has_direction_(self_value > Geometry::tiny &&
                         geometry.absolute() <= share_ * Geometry::tiny) {}

    [[nodiscard]] double norm() const noexcept { return norm_; }

    /// At most |x|, where `norm` is at least that and close.
    [[nodiscard]] double norm_below(double norm) const noexcept {
        return norm * norm > Geometry::tiny ? norm * (1.0 - share_) : 0.0;
    }

    /// K(q, x) = K(q, p) + K(q, x - p) <= K(q, p) + |q| radius.
    [[nodiscard]] double ball(const Region& region, double value) const noexcept {
        const double rounding = share_ * (region.radius + region.point_norm + region.greatest_norm);
        return value + norm_ * (region.radius + rounding) + lost_;
    }

    /// K(q, x) <= |q| |x|.
    [[nodiscard]] double cap(const Region& region) const noexcept {
        return norm_ * (region.greatest_norm * (1.0 + share_)) + lost_;
    }

    /// The greatest K(q, x) over the ball and the norms at once, where it is less than `ball` and
    /// `cap`. With all lengths as shares of |p|, c the cosine between q and p, and r the norm
    /// nearest to where the ball reaches furthest along q:
    ///     |q| |p| (A c + sqrt(4 r^2 - A^2) sqrt(1 - c^2)) / 2    with A = 1 + r^2 - radius^2.
    [[nodiscard]] double shell(const Region& region, double value) const noexcept {
        const double norms = norm_ * region.point_norm;
        const double scale = 1.0 / region.point_norm;
        const double radius = region.radius * scale;
        const double greatest = region.greatest_norm * scale;
        const bool has_directions = has_direction_ &&
                                    region.point_norm * region.point_norm > Geometry::tiny &&
                                    norms < 1e300 && radius < 1e50 && greatest < 1e50;
        if (!has_directions) return HUGE_VAL;
        const double cosine = value / norms;
        const double square = radius * radius;
        const double furthest = 1.0 + square + 2.0 * radius * cosine;
        const double margin = share_ * (1.0 + square + 2.0 * radius);
        double norm = greatest;
        if (furthest - margin > norm * norm) {
            // Does the ball reach this norm straight along q? Then the cap says it all.
            const double along = 1.0 + norm * norm - square;
            const double sum = 1.0 + norm * norm + square;
            if (!(along - 8.0 * share_ * sum > 2.0 * norm * cosine)) return HUGE_VAL;
        } else {
            norm = region.least_norm * scale;
            if (!(furthest + margin < norm * norm)) return HUGE_VAL;  // the ball says it all
        }
        const double along = 1.0 + norm * norm - square;
        const double sum = 1.0 + norm * norm + square;
        const double across =
            std::max(0.0, 4.0 * norm * norm - along * along) + 6.0 * share_ * sum * sum;
        const double sine = std::max(0.0, 1.0 - cosine * cosine) + 6.0 * share_;
        const double bound = along * cosine + std::sqrt(across * sine) + 12.0 * share_ * sum;
        return norms * (0.5 * bound + share_ * greatest) + lost_;
    }

private:
    double norm_;
    double share_;
    double lost_;
    bool has_direction_;
};

/// At least K^(q, x) for every query q within `query_radius` of a point p of norm `query_norm`, and
/// every x of a region whose point has the value `value` with p:
///     K(p, p_r) + r_q |p_r| + r_r |p| + r_q r_r,  and at most  |q| |x|.
[[nodiscard]] inline double pair_bound(const Geometry& geometry, double query_norm,
                                       double query_radius, const Region& region,
                                       double value) noexcept {
    const double queries = query_norm + query_radius;
    const double ball = value + query_radius * region.point_norm + region.radius * queries;
    const double rounding = geometry.bound_share() * queries *
                            (region.point_norm + region.radius + region.greatest_norm);
    const double bound =
        std::min(ball, queries * region.greatest_norm) + rounding + geometry.bound_lost();
    return std::isnan(bound) ? HUGE_VAL : bound;
}

}  // namespace fastmks
