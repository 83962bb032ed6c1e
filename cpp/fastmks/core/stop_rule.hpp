#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fastmks {

/// The parts of a search that may be skipped. By default none: an exact search.
struct StopRule {
    double epsilon = 0.0;   ///< a returned value may be this much below the true one of its rank
    double relative = 0.0;  ///< ... or this share of the true one's magnitude
    std::size_t budget = SIZE_MAX;  ///< kernel evaluations per query
    /// For the whole search: each query gets its share of the rest.
    std::optional<std::chrono::duration<double>> time{};

    /// Objects whose values cannot exceed this need not be evaluated when `threshold` is the k-th
    /// best value so far. An exact search does evaluate those equal to it, since ties go to the
    /// smaller position.
    ///
    /// Let u bound what is pruned, b be the threshold, and t a true value that was missed, so
    /// b <= t <= u. For b > 0, u <= b + relative * b gives t - b <= relative * b <= relative * t.
    /// For b < 0, u <= b / (1 + relative) gives u < 0 and t - b <= u - b <= relative * |u|
    /// <= relative * |t|. For b = 0 nothing follows, and nothing is pruned.
    [[nodiscard]] double limit(double threshold) const noexcept {
        double limit = std::nextafter(threshold, -HUGE_VAL);
        if (epsilon > 0.0) {
            limit = std::max(limit, std::nextafter(threshold + epsilon, -HUGE_VAL));
        }
        if (relative > 0.0) {
            constexpr double roundings = 0x1p-50;
            constexpr double smallest = 0x1p-960;  // below, roundings are no share of the result
            const double relaxed = threshold > 0.0
                                       ? (threshold + relative * threshold) * (1.0 - roundings)
                                       : threshold / (1.0 + relative) * (1.0 + roundings);
            const bool is_sound = std::abs(threshold) > smallest && std::abs(relaxed) > smallest;
            if (is_sound) limit = std::max(limit, relaxed);
        }
        return limit;
    }
};

}  // namespace fastmks
