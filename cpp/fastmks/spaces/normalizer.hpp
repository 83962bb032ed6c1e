#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "fastmks/core/selection.hpp"
#include "fastmks/simd/vector_loops.hpp"

namespace fastmks {

/// Divides values by sqrt(K(x, x) * K(y, y)) such that nothing overflows on the way and an object
/// compared with itself gives exactly 1. Each self value is kept as m * 4^e with 1 <= m < 4;
/// then s / sqrt(a * b) is ((s * 2^-e_a) * 2^-e_b) / sqrt(m_a * m_b), the greater power first,
/// where the powers of two are exact and sqrt(m * m) = m. An object with K(x, x) = 0 gets 0 with
/// everything.
class Normalizer {
public:
    explicit Normalizer(std::size_t n) : mantissas_(n), scales_(n) {}

    /// Self values are finite and not negative.
    void set(std::size_t position, double self_value);

    [[nodiscard]] bool is_zero(std::size_t position) const noexcept {
        return std::isinf(mantissas_[position]);
    }

    /// values[j] becomes the normalised value of `query` and selected object j, cut at +-limit.
    void apply(const Normalizer& queries, std::size_t query, Selection objects, double limit,
               const VectorLoops& loops, double* values) const;

private:
    std::vector<double> mantissas_;  // infinity where the self value is 0: value / infinity = 0
    std::vector<double> scales_;     // 2^-e
};

}  // namespace fastmks
