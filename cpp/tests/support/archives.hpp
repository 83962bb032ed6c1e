#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fastmks/core/archive.hpp"

namespace fastmks::test {

inline std::size_t n_bytes(const ArrayView& view) {
    constexpr std::size_t sizes[] = {1, 4, 4, 8, 8, 4, 8};
    std::size_t n = sizes[static_cast<std::size_t>(view.element)];
    for (const std::size_t length : view.shape) n *= length;
    return n;
}

inline bool same_bytes(const Arrays& a, const Arrays& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.element == y.second.element &&
               x.second.shape == y.second.shape &&
               (n_bytes(x.second) == 0 ||
                std::memcmp(x.second.data, y.second.data, n_bytes(x.second)) == 0);
    });
}

/// An array in memory of its own, `shift` bytes after an address that is a multiple of 64.
inline ArrayView moved(const ArrayView& view, std::size_t shift = 0) {
    const std::size_t n = n_bytes(view);
    auto room = std::make_shared<std::vector<std::uint8_t>>(n + 128);
    const std::size_t off = reinterpret_cast<std::uintptr_t>(room->data()) % 64;
    std::uint8_t* const begin = room->data() + (64 - off) + shift;
    if (n > 0) std::memcpy(begin, view.data, n);
    return {view.element, view.shape, begin, room};
}

inline Arrays moved(const Arrays& arrays, std::size_t shift = 0) {
    Arrays others;
    for (const auto& [name, view] : arrays) others.emplace(name, moved(view, shift));
    return others;
}

/// The same arrays with one number of one of them changed, in a copy.
template <class T>
Arrays forged(const Arrays& arrays, const std::string& name, std::size_t offset, T number) {
    Arrays others = arrays;
    others[name] = moved(others.at(name));
    std::memcpy(static_cast<std::uint8_t*>(const_cast<void*>(others[name].data)) + offset, &number,
                sizeof(T));
    return others;
}

}  // namespace fastmks::test
