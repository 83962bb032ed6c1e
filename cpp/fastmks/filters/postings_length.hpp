// Lengths of vectors, and the power of two that brings one into the range of float32.

#pragma once

#include <algorithm>
#include <cmath>

#include "fastmks/stores/vector_store.hpp"

namespace fastmks {

/// The length of a vector is scaled * 2^exponent, off by less than a share of 2^-21. Lengths
/// between 2^-30 and 2^50 have no exponent, others are scaled to between 1/2 and 2.
struct Length {
    double scaled = 0.0;
    int exponent = 0;
};

[[nodiscard]] inline Length length_of(const VectorEntries& entries) {
    constexpr int least = -30, greatest = 50;
    double square = 0.0;
    for (const double x : entries.values) square += x * x;
    if (square > 0x1p-60 && square < 0x1p100) return {std::sqrt(square), 0};
    double largest = 0.0;
    for (const double x : entries.values) largest = std::max(largest, std::abs(x));
    if (largest == 0.0) return {};
    const int shift = std::ilogb(largest);
    square = 0.0;
    for (const double x : entries.values) {
        const double moved = std::ldexp(x, -shift);
        square += moved * moved;
    }
    const double scaled = std::sqrt(square);
    const int exponent = shift + std::ilogb(scaled);
    if (exponent >= least && exponent < greatest) return {std::ldexp(scaled, shift), 0};
    return {std::ldexp(scaled, -std::ilogb(scaled)), exponent};
}

}  // namespace fastmks
