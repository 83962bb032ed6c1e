#pragma once

#include <algorithm>
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

/// Objects of different lengths, one after the other, over an array of offsets that is not copied.
class Runs {
public:
    [[nodiscard]] std::size_t size() const noexcept { return n_; }
    [[nodiscard]] std::size_t length(std::size_t i) const noexcept {
        return static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]);
    }
    [[nodiscard]] std::size_t longest() const noexcept { return longest_; }

protected:
    Runs(const std::int64_t* offsets, std::size_t n, std::size_t n_all, const char* things)
        : offsets_(offsets), n_(n) {
        check_runs(offsets, n, n_all, things);
        for (std::size_t i = 0; i < n; ++i) longest_ = std::max(longest_, length(i));
    }

    const std::int64_t* offsets_;
    std::size_t n_;

private:
    std::size_t longest_ = 0;
};

}  // namespace fastmks
