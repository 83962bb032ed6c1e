// exp in pieces, for vector_loops.inl and alignment_loops.inl; see loops.inl.

#pragma once

#include <cstdint>

namespace fastmks::FASTMKS_ISA {
namespace {

inline std::uint64_t bits_of(double x) {
    return __builtin_bit_cast(std::uint64_t, x);
}
inline double from_bits(std::uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}

// exp(x) - 1 = 2^k * p + (2^k - 1), x = k * ln 2 + r, |r| <= ln(2) / 2, p = exp(r) - 1 by its
// Taylor series to r^13 (the rest is below 2^-57). k is read from the low bits of x * log2(e) + 1.5
// * 2^52.
struct Reduced {
    std::uint64_t k;  // two's complement
    double p;
};

inline Reduced reduce(double x) {
    constexpr double round = 0x1.8p52;
    constexpr double log2_e = 0x1.71547652b82fep+0;
    constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // 42 bits: k * ln2_high is exact
    constexpr double ln2_low = 0x1.ef35793c76730p-45;
    const double shifted = x * log2_e + round;
    const double k = shifted - round;
    const double r = (x - k * ln2_high) - k * ln2_low;
    double s = 1.0 / 6227020800.0;
    s = s * r + 1.0 / 479001600.0;
    s = s * r + 1.0 / 39916800.0;
    s = s * r + 1.0 / 3628800.0;
    s = s * r + 1.0 / 362880.0;
    s = s * r + 1.0 / 40320.0;
    s = s * r + 1.0 / 5040.0;
    s = s * r + 1.0 / 720.0;
    s = s * r + 1.0 / 120.0;
    s = s * r + 1.0 / 24.0;
    s = s * r + 1.0 / 6.0;
    s = s * r + 0.5;
    return {bits_of(shifted) - bits_of(round), r + (r * r) * s};
}

}  // namespace
}  // namespace fastmks::FASTMKS_ISA
