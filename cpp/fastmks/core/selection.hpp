#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fastmks {

/// Which objects of a space: the positions begin, begin + 1, ..., or an explicit list. Searches
/// need the list to increase: the tie rule relies on it.
struct Selection {
    std::size_t begin = 0;
    std::size_t size = 0;
    const std::int64_t* positions = nullptr;

    [[nodiscard]] static Selection range(std::size_t begin, std::size_t end) noexcept {
        return {begin, end - begin, nullptr};
    }
    [[nodiscard]] static Selection list(const std::int64_t* positions, std::size_t size) noexcept {
        return {0, size, positions};
    }
    /// Position of the i-th selected object.
    [[nodiscard]] std::size_t operator[](std::size_t i) const noexcept {
        return positions ? static_cast<std::size_t>(positions[i]) : begin + i;
    }
    /// Which of them has a position; `size` where none has.
    [[nodiscard]] std::size_t find(std::size_t position) const noexcept {
        if (!positions) return position - begin < size ? position - begin : size;
        const auto* const end = positions + size;
        return static_cast<std::size_t>(
            std::find(positions, end, static_cast<std::int64_t>(position)) - positions);
    }
    [[nodiscard]] Selection part(std::size_t from, std::size_t to) const noexcept {
        return positions ? list(positions + from, to - from) : range(begin + from, begin + to);
    }
};

}  // namespace fastmks
