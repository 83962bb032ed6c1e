#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fastmks/simd/isa.hpp"

/// Random numbers and reference values of the tests. Shares no arithmetic with the library.
namespace fastmks::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Where long double is no wider than double (some arm64 systems) it is no reference.
inline constexpr bool has_reference = LDBL_MANT_DIG >= 64 && LDBL_MAX_EXP > 2048;

/// Numbers from a 64-bit linear congruential generator, the same on every platform.
class Draw {
public:
    explicit Draw(std::uint64_t seed) : state_(seed) { next(); }

    std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() >> 33) % n; }
    /// In [-1, 1), a multiple of 2^-52.
    double unit() {
        return static_cast<double>(static_cast<std::int64_t>(next() >> 11) - (1LL << 52)) * 0x1p-52;
    }
    /// In [-1, 1), a float32 number.
    double short_unit() {
        return static_cast<double>(static_cast<std::int64_t>(next() >> 40) - (1LL << 23)) * 0x1p-23;
    }
    int exponent(int largest) {
        return static_cast<int>(below(2 * static_cast<std::size_t>(largest) + 1)) - largest;
    }
    /// Of any size between 2^-largest and 2^largest, about. One draw a statement: the order in
    /// which arguments are evaluated differs between compilers.
    double wide(int largest) {
        const double value = unit();
        return std::ldexp(value, exponent(largest));
    }
    double short_wide(int largest) {
        const double value = short_unit();
        return std::ldexp(value, exponent(largest));
    }

private:
    std::uint64_t next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return state_;
    }
    std::uint64_t state_;
};

/// The bits of a number; every NaN counts as the same one.
inline std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x == x ? x : not_a_number);
}

inline bool same_bits(double a, double b) {
    return bits(a) == bits(b);
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return same_bits(x, y); });
}

/// The canonical sum of term(0), ..., term(n - 1), written from its definition.
template <class Term>
double canonical_sum(std::size_t n, Term term) {
    double s[8] = {};
    for (std::size_t lane = 0; lane < 8; ++lane) {
        for (std::size_t c = lane; c < n; c += 8) s[lane] += term(c);
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

template <class X, class Y>
double canonical_product(const X* x, const Y* y, std::size_t n) {
    return canonical_sum(
        n, [&](std::size_t c) { return static_cast<double>(x[c]) * static_cast<double>(y[c]); });
}

template <class X, class Y>
double canonical_squared_distance(const X* x, const Y* y, std::size_t n, double before = 1.0,
                                  double after = 1.0) {
    return canonical_sum(n, [&](std::size_t c) {
        const double difference =
            (static_cast<double>(x[c]) * before - static_cast<double>(y[c]) * before) * after;
        return difference * difference;
    });
}

/// How far a finite value lies from the exact one, in units of the last place of the exact one.
inline double ulps_off(double value, long double exact) {
    const int exponent = exact == 0.0L ? -1074 : std::max(std::ilogb(exact) - 52, -1074);
    return static_cast<double>(
        std::ldexp(std::fabs(static_cast<long double>(value) - exact), -exponent));
}

inline std::string text(const char* name, std::size_t value) {
    return std::string(name) + " " + std::to_string(value);
}

}  // namespace fastmks::test
