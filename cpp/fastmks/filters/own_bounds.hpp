#pragma once

#include <cstddef>
#include <vector>

#include "fastmks/core/answers.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/stop_rule.hpp"
#include "fastmks/core/top_k.hpp"
#include "fastmks/filters/bound_counts.hpp"
#include "fastmks/scan/scan.hpp"

namespace fastmks {

/// The k best objects for each query, as `scan_top_k` gives them, in a space that has bounds:
/// objects are evaluated in the order of their bounds, until the k-th best value exceeds the next
/// one. Progress is counted in queries. Throws BoundFault for a value that exceeds its bound.
BoundCounts own_bounds_top_k(const ScanProblem& problem, std::size_t k, std::size_t threads,
                             const Watch& watch, double* values, std::int64_t* positions);

/// The same as far as a rule allows, with what may have been missed.
BoundCounts own_bounds_approximate_top_k(const ScanProblem& problem, std::size_t k,
                                         const StopRule& stop, std::size_t threads,
                                         const Watch& watch, TopKAnswers answers);

/// For each query, every object with K >= its threshold, in the order of answers: only objects
/// whose bounds allow it are evaluated.
BoundCounts own_bounds_above(const ScanProblem& problem, const double* thresholds,
                             std::size_t threads, const Watch& watch,
                             std::vector<std::vector<Hit>>& answers);

}  // namespace fastmks
