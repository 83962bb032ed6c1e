#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fastmks/core/parallel.hpp"
#include "fastmks/core/space.hpp"
#include "fastmks/core/top_k.hpp"

namespace fastmks {

/// Every query of one space against the selected objects of another with the same kernel.
struct ScanProblem {
    const Space& objects;
    const Space& queries;
    Selection among;         ///< the objects to search, positions increasing
    bool skip_self = false;  ///< query i is object i, and not an answer to itself
    /// The id in answers of the object at each position, and of query i when it is object i; its
    /// position when null.
    const std::int64_t* names = nullptr;
    /// A value per row of the answers below which hits do not matter: where there are fewer than k
    /// others, the answer is filled up with it, `nowhere`. Null for none.
    const double* floors = nullptr;

    [[nodiscard]] std::int64_t name(std::size_t position) const noexcept {
        return names ? names[position] : static_cast<std::int64_t>(position);
    }
    /// The row of the answers that belongs to a query.
    [[nodiscard]] std::size_t row(std::size_t query) const noexcept {
        return skip_self ? static_cast<std::size_t>(name(query)) : query;
    }
    [[nodiscard]] double floor(std::size_t query) const noexcept {
        return floors ? floors[row(query)] : -std::numeric_limits<double>::infinity();
    }
};

/// The k best objects for each query, into row-major n_queries x k arrays. `among` must hold at
/// least k objects besides a skipped one. Work is counted in kernel evaluations.
void scan_top_k(const ScanProblem& problem, std::size_t k, std::size_t threads, const Watch& watch,
                double* values, std::int64_t* positions);

/// What scan_top_k gives for all objects as queries of their own space, where K(x, y) and K(y, x)
/// are the same float64: each pair is evaluated once, and offered to both. Where the symmetry is
/// declared, one pair of each object but the last is evaluated both ways; throws AsymmetryFault
/// where the values differ. `names` as in ScanProblem. Memory of n * k hits.
void scan_self(const Space& objects, const std::int64_t* names, std::size_t k, std::size_t threads,
               const Watch& watch, double* values, std::int64_t* positions);

/// How many values scan_self evaluates.
[[nodiscard]] std::size_t self_scan_evaluations(const Space& objects) noexcept;

/// For each query, every object with K >= its threshold, in the order of answers.
[[nodiscard]] std::vector<std::vector<Hit>> scan_above(const ScanProblem& problem,
                                                       const double* thresholds,
                                                       std::size_t threads, const Watch& watch);

/// Every value: row-major n_queries x among.size.
void scan_matrix(const ScanProblem& problem, std::size_t threads, const Watch& watch, double* out);

}  // namespace fastmks
