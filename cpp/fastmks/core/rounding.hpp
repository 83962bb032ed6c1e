#pragma once

#include <cmath>

namespace fastmks {

/// Rounding to nearest is off by at most this share of the result,
inline constexpr double roundoff = 0x1p-53;
/// and, where results underflow, by less than this.
inline constexpr double underflow = 0x1p-1074;
/// The greatest change by n roundings in a row, as a share.
[[nodiscard]] constexpr double share_lost(double n) noexcept {
    return n * roundoff / (1.0 - n * roundoff);
}

/// Rounding to float32 is off by at most this share of the result.
inline constexpr double float32_roundoff = 0x1p-24;
/// A length times this is at least the exact one, whatever it lost on the way to float32.
inline constexpr double float32_up = 1 + 0x1p-20;

/// The float32 number next to x that is not less,
[[nodiscard]] inline float float32_above(double x) noexcept {
    const auto rounded = static_cast<float>(x);
    return rounded < x ? std::nextafter(rounded, HUGE_VALF) : rounded;
}
/// or not greater.
[[nodiscard]] inline float float32_below(double x) noexcept {
    return -float32_above(-x);
}

/// How far a canonical value may lie from the exact one:
///     |K^(x, y) - K(x, y)| <= relative * sqrt(K(x, x) * K(y, y)) + absolute
/// for objects x and y of one space; for a query of another, the greater of the two spaces' figures
/// holds (a long sparse query has a longer sum in its norm than any object). `absolute` is what
/// underflow can lose. Infinity means that no such bound holds, so nothing may be pruned on the
/// strength of one.
struct Rounding {
    double relative;
    double absolute;
};

/// The rounding of a kernel whose author states a share of it, infinite where it is not Mercer.
[[nodiscard]] inline Rounding stated_rounding(double relative) noexcept {
    return {relative, std::isfinite(relative) ? 0.0 : HUGE_VAL};
}

}  // namespace fastmks
