#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fastmks/scan/scan.hpp"
#include "tests/support/numbers.hpp"

namespace fastmks::test {

inline const Watch ignore = [](std::size_t) {};

inline bool same_hit(const Hit& a, const Hit& b) {
    return a.position == b.position && same_bits(a.value, b.value);
}

inline bool same_hits(const std::vector<Hit>& a, const std::vector<Hit>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_hit);
}

/// The k best of every query, one after the other.
struct Answer {
    Answer(const Space& queries, std::size_t k)
        : values(queries.size() * k), positions(queries.size() * k) {}
    bool operator==(const Answer& other) const {
        return same_bits(values, other.values) && positions == other.positions;
    }
    std::vector<double> values;
    std::vector<std::int64_t> positions;
};

inline Answer scanned(const ScanProblem& problem, std::size_t k) {
    Answer answer(problem.queries, k);
    scan_top_k(problem, k, 1, ignore, answer.values.data(), answer.positions.data());
    return answer;
}

/// n positions in an order of their own, as names of objects.
inline std::vector<std::int64_t> mixed_names(std::size_t n, std::size_t shift) {
    std::vector<std::int64_t> names(n);
    for (std::size_t i = 0; i < n; ++i) names[i] = static_cast<std::int64_t>((i * 7 + shift) % n);
    return names;
}

/// The positions from `begin` to n, `step` apart.
inline std::vector<std::int64_t> positions_from(std::size_t begin, std::size_t n,
                                                std::size_t step) {
    std::vector<std::int64_t> positions;
    for (std::size_t i = begin; i < n; i += step) positions.push_back(static_cast<std::int64_t>(i));
    return positions;
}

}  // namespace fastmks::test
