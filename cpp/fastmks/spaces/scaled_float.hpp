#pragma once

#include <cmath>
#include <cstdint>

namespace fastmks {

/// A number >= 0 of any size: mantissa * 2^exponent, with 1 <= mantissa < 2 or mantissa = 0.
///
/// Sums of positive terms need no logarithms: powers of two are exact, so a sum or a product of two
/// wide numbers is off by one rounding, a share of at most 2^-53, whatever their sizes. Only where
/// one term of a sum is below 2^-1022 of the other is it dropped, which is a share of 2^-1021 and
/// part of that rounding. N such operations in a row, on terms of one sign, are off by a share of
/// at most N * 2^-53 / (1 - N * 2^-53).
struct Wide {
    double mantissa = 0.0;
    std::int64_t exponent = 0;

    bool operator==(const Wide&) const = default;
};

/// A finite number >= 0, times 2^shift.
[[nodiscard]] inline Wide make_wide(double value, std::int64_t shift = 0) noexcept {
    if (value == 0.0) return {};
    const int exponent = std::ilogb(value);
    return {std::ldexp(value, -exponent), exponent + shift};
}

/// 2^exponent; 0 where that would be below the normal range.
[[nodiscard]] inline double power_of_two(std::int64_t exponent) noexcept {
    return exponent < -1022 ? 0.0 : std::ldexp(1.0, static_cast<int>(exponent));
}

[[nodiscard]] inline Wide operator+(const Wide& a, const Wide& b) noexcept {
    if (a.mantissa == 0.0) return b;
    if (b.mantissa == 0.0) return a;
    const Wide& greater = a.exponent < b.exponent ? b : a;
    const Wide& less = a.exponent < b.exponent ? a : b;
    return make_wide(
        greater.mantissa + less.mantissa * power_of_two(less.exponent - greater.exponent),
        greater.exponent);
}

[[nodiscard]] inline Wide operator*(const Wide& a, const Wide& b) noexcept {
    return make_wide(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

/// mantissa * 2^exponent, rounded once where it is subnormal; infinity where it is too large.
[[nodiscard]] inline double to_double(double mantissa, std::int64_t exponent) noexcept {
    if (mantissa == 0.0 || exponent < -1100) return 0.0;
    return exponent > 1100 ? HUGE_VAL : std::ldexp(mantissa, static_cast<int>(exponent));
}

[[nodiscard]] inline double to_double(const Wide& value) noexcept {
    return to_double(value.mantissa, value.exponent);
}

/// The root of a wide number, kept so that quotients by two of them are exact where they should be.
struct WideRoot {
    double square = 1.0;  ///< 1 <= square < 4: the root is sqrt(square) * 2^exponent
    std::int64_t exponent = 0;
};

/// Of a number > 0.
[[nodiscard]] inline WideRoot make_root(const Wide& value) noexcept {
    const bool is_odd = (value.exponent & 1) != 0;
    return {is_odd ? 2.0 * value.mantissa : value.mantissa, (value.exponent - is_odd) / 2};
}

/// value / (sqrt(K(x, x)) * sqrt(K(y, y))), off by three roundings: of the product, of its root,
/// which halves what it takes over, and of the quotient. Exactly 1 where all three values are
/// equal, since sqrt(square * square) = square. Overflows nowhere on the way.
[[nodiscard]] inline double quotient(const Wide& value, const WideRoot& x,
                                     const WideRoot& y) noexcept {
    const double ratio = value.mantissa / std::sqrt(x.square * y.square);
    return to_double(ratio, value.exponent - (x.exponent + y.exponent));
}

}  // namespace fastmks
