#pragma once

#include <cmath>

namespace fastmks {

/// A number t from `least` to `greatest` with value(t) < `limit`, close to the greatest one; minus
/// infinity where value(least) is not less. `value` grows. A good guess at t saves most of the
/// halvings; a bad one, or NaN, costs a few evaluations more.
template <class Value>
[[nodiscard]] double greatest_below(Value value, double limit, double least, double greatest,
                                    double guess) {
    const double width = 0x1p-44 * greatest - 0x1p-44 * least;
    double low = least, high = greatest;
    bool is_below = false, is_above = false;  // whether value(low), value(high) are known to be
    const auto look = [&](double at) {
        const bool is_less = value(at) < limit;
        (is_less ? low : high) = at;
        (is_less ? is_below : is_above) = true;
    };
    if (guess > least && guess < greatest) {
        for (double step = width; !is_below && guess - step > least; step *= 64) look(guess - step);
        for (double step = width; !is_above && guess + step < greatest; step *= 64) {
            look(guess + step);
        }
    }
    if (!is_above && value(greatest) < limit) return greatest;
    if (!is_below && !(value(least) < limit)) return -HUGE_VAL;
    while (0.5 * high - 0.5 * low > width) look(0.5 * low + 0.5 * high);
    return low;
}

}  // namespace fastmks
