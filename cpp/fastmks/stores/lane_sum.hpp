#pragma once

#include <array>
#include <cstddef>

#include "fastmks/simd/vector_loops.hpp"

namespace fastmks {

/// The canonical sum, one term at a time: for loops that jump over columns.
class LaneSum {
public:
    void add(std::size_t column, double term) noexcept { lanes_[column % n_lanes] += term; }
    [[nodiscard]] double total() const noexcept {
        const auto& s = lanes_;
        return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }

private:
    std::array<double, n_lanes> lanes_{};
};

}  // namespace fastmks
