#pragma once

#include <optional>

#include "arrays.hpp"
#include "fastmks/scan.hpp"

namespace fastmks::bindings {

/// What an engine is asked, checked; throws std::invalid_argument for what would break memory.
[[nodiscard]] ScanProblem scan_problem(const Space& objects, const Space& queries,
                                       const std::optional<Positions>& among,
                                       bool skip_self = false,
                                       const std::optional<Positions>& names = std::nullopt);

void check_k(const ScanProblem& problem, std::size_t k);

}  // namespace fastmks::bindings
