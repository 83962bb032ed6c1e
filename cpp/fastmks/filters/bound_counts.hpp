#pragma once

#include <cstddef>

namespace fastmks {

/// The cost of a search that bounds before it evaluates.
struct BoundCounts {
    std::size_t evaluations = 0;
    std::size_t projections = 0;       ///< evaluations that the coordinates of the queries took
    std::size_t self_evaluations = 0;  ///< of K(query, query)
    std::size_t bounds = 0;            ///< of objects, and of sets of them
    /// Of bounds and coordinates; docs/how-it-works/filter.md says what is counted.
    std::size_t operations = 0;

    BoundCounts& operator+=(const BoundCounts& other) noexcept {
        evaluations += other.evaluations;
        projections += other.projections;
        self_evaluations += other.self_evaluations;
        bounds += other.bounds;
        operations += other.operations;
        return *this;
    }
};

}  // namespace fastmks
