#pragma once

#include <algorithm>
#include <cmath>

#include "fastmks/core/stop_rule.hpp"
#include "fastmks/core/top_k.hpp"

namespace fastmks {

/// When an approximate search of a filter may end, and what it has missed then.
/// `reach_below(value)` says what objects promise at least if their values may be `value` or more;
/// it grows with the value, and is minus infinity where nothing is known.
template <class ReachBelow>
class EarlyEnd {
public:
    EarlyEnd(const StopRule& stop, ReachBelow reach_below)
        : stop_(stop), reach_below_(reach_below) {}

    /// Whether the search may end with these hits, where no object that was not evaluated promises
    /// more than `left`. It must end where its allowance is spent.
    [[nodiscard]] bool is_reached(const TopK& best, double left, bool is_spent) {
        if (!best.is_full()) return false;
        if (best.threshold() > kth_) {
            kth_ = best.threshold();
            limit_ = stop_.limit(kth_);
            enough_ = reach_below_(std::nextafter(limit_, HUGE_VAL));
        }
        return left < enough_ || is_spent;
    }

    /// At least the values of all objects that were not evaluated, once the end is reached: at most
    /// what the rule allows where the search ended for that; minus infinity where they are all
    /// less than the k-th value; infinity where the bounds say nothing.
    [[nodiscard]] double missed(double left) const {
        const auto are_less = [&](double value) { return left < reach_below_(value); };
        if (are_less(kth_)) return -HUGE_VAL;
        double low = kth_, high = std::nextafter(limit_, HUGE_VAL);
        if (!(high > kth_ && are_less(high))) {
            double step = std::max(0x1p-40 * std::abs(kth_), 0x1p-1000);
            for (high = kth_ + step; !(high > low && are_less(high)); high = kth_ + step) {
                if (!std::isfinite(high)) return HUGE_VAL;
                low = std::max(low, high);
                step *= 1024;
            }
        }
        // Nearer than a thousandth of the gap is near enough.
        while (high - low > 0x1p-10 * (high - kth_)) {
            const double middle = 0.5 * low + 0.5 * high;
            if (!(low < middle && middle < high)) break;
            (are_less(middle) ? high : low) = middle;
        }
        return std::nextafter(high, -HUGE_VAL);
    }

private:
    const StopRule& stop_;
    ReachBelow reach_below_;
    double kth_ = -HUGE_VAL;
    double limit_ = -HUGE_VAL;
    double enough_ = -HUGE_VAL;
};

}  // namespace fastmks
