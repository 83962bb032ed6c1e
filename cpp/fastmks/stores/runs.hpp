#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fastmks {

/// Throws std::invalid_argument unless offsets[i] ... offsets[i + 1] are n runs that follow each
/// other, of n_all `things` together.
inline void check_runs(const std::int64_t* offsets, std::size_t n, std::size_t n_all,
                       const char* things) {
    if (offsets[0] != 0 || static_cast<std::size_t>(offsets[n]) != n_all) {
        throw std::invalid_argument(std::string("offsets must run from 0 to the number of ") +
                                    things);
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (offsets[i + 1] < offsets[i] || static_cast<std::size_t>(offsets[i + 1]) > n_all) {
            throw std::invalid_argument("offsets must not decrease");
        }
    }
}

/// Whether n numbers increase, from 0 at least to less than `end`.
[[nodiscard]] inline bool is_increasing(const std::int32_t* numbers, std::size_t n,
                                        std::size_t end) noexcept {
    std::int64_t previous = -1;
    for (std::size_t e = 0; e < n; ++e) {
        if (numbers[e] <= previous || numbers[e] >= static_cast<std::int64_t>(end)) return false;
        previous = numbers[e];
    }
    return true;
}

}  // namespace fastmks
