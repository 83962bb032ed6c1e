#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fastmks/core/rounding.hpp"

namespace fastmks {

/// Lengths and distances in the kernel's Hilbert space, from canonical values, each with the side
/// on which it errs. Where the rounding of the values has no bound, `above` is infinite and nothing
/// can be pruned.
class Geometry {
public:
    explicit Geometry(Rounding rounding)
        : relative_(rounding.relative < 0.1 ? rounding.relative : HUGE_VAL),
          absolute_(rounding.absolute) {}

    /// Two sets of objects at once: the greater error of both holds.
    Geometry(Rounding a, Rounding b)
        : Geometry({std::max(a.relative, b.relative), std::max(a.absolute, b.absolute)}) {}

    [[nodiscard]] double relative() const noexcept { return relative_; }
    [[nodiscard]] double absolute() const noexcept { return absolute_; }

    /// At least sqrt(K(x, x)).
    [[nodiscard]] double norm_above(double self_value) const noexcept {
        if (!std::isfinite(relative_)) return HUGE_VAL;
        return std::sqrt((self_value + absolute_) / (1.0 - relative_)) * up;
    }
    /// At most sqrt(K(x, x)).
    [[nodiscard]] double norm_below(double self_value) const noexcept {
        if (!std::isfinite(relative_)) return 0.0;
        return std::sqrt(std::max(0.0, self_value - absolute_) / (1.0 + relative_)) * down;
    }

    /// How far |x - y|^2 as computed may lie from the true one. The three values are off by
    /// relative * (K(x,x) + K(y,y) + 2 |x||y|) + 4 * absolute, the sum by 3 roundings.
    [[nodiscard]] double square_slack(double self_x, double self_y) const noexcept {
        return slack_share() * (self_x + self_y) + slack_lost();
    }
    /// The share of K(x,x) + K(y,y) in square_slack: 2 * relative for the values, the rest for
    /// their sum and for self values that are themselves rounded.
    [[nodiscard]] double slack_share() const noexcept {
        return 2.0 * relative_ * (1.0 + 4.0 * relative_) + 32.0 * roundoff;
    }

    [[nodiscard]] double slack_lost() const noexcept { return 8.0 * absolute_; }

    /// At least |x - y|^2, where `distance` is its computed root, or 0 for a square that could not
    /// be told from 0, which may then have been as great as its slack.
    [[nodiscard]] double square_above(double self_x, double self_y,
                                      double distance) const noexcept {
        const double slack = square_slack(self_x, self_y);
        return distance > 0.0 ? distance * distance + slack : 2.0 * slack;
    }

    /// Self values above this may be too far apart for their distance to be computed.
    static constexpr double largest_self_value = 0x1p1021;

    /// K(x, y)^2 as computed is at most this share of K(x, x) K(y, y), underflow aside: each of the
    /// three is off by `relative`, and the products round.
    [[nodiscard]] double largest_square_share() const noexcept {
        return 1.0 + 8.0 * relative_ + 16.0 * roundoff;
    }

    /// At least |K(x, y)|, from norms that err above.
    [[nodiscard]] double largest_value(double norm_x, double norm_y) const noexcept {
        return norm_x * norm_y * (1.0 + relative_ + 4.0 * roundoff) + absolute_;
    }

    /// Self values below this are too close to underflow for shares of them to mean anything.
    static constexpr double tiny = 0x1p-900;
    /// Margins that a bound computed from a few values and norms must add for all roundings, its
    /// own and that of the value it bounds: this share of the norms involved, and this for
    /// underflow.
    [[nodiscard]] double bound_share() const noexcept { return 8.0 * relative_ + 64.0 * roundoff; }
    [[nodiscard]] double bound_lost() const noexcept { return 4.0 * absolute_; }

    static constexpr double up = 1.0 + 4 * 0x1p-52;    ///< more than a few roundings take away
    static constexpr double down = 1.0 - 4 * 0x1p-52;  ///< less than a few roundings add

private:
    double relative_;
    double absolute_;
};

}  // namespace fastmks
