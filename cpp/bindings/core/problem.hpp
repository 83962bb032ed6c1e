#pragma once

#include "bindings/core/arrays.hpp"
#include "fastmks/scan/scan.hpp"

namespace fastmks::bindings {

/// The problem for an engine, checked; throws std::invalid_argument for anything that would break
/// memory.
[[nodiscard]] ScanProblem scan_problem(const Space& objects, const Space& queries,
                                       const std::optional<Positions>& among,
                                       bool skip_self = false,
                                       const std::optional<Positions>& names = std::nullopt,
                                       const std::optional<Thresholds>& floors = std::nullopt);

/// The floors of n_queries queries, checked; null for none.
[[nodiscard]] const double* check_floors(const std::optional<Thresholds>& floors,
                                         std::size_t n_queries);

/// Throws std::invalid_argument where `queries` are not for a search of `objects`.
void check_queries(const Space& objects, const Space& queries);

/// Throws std::invalid_argument where fewer than k of n_objects are searched.
void check_k(std::size_t n_objects, bool skip_self, std::size_t k);

}  // namespace fastmks::bindings
