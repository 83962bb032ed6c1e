#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include "fastmks/core/parallel.hpp"
#include "fastmks/filters/bound_counts.hpp"
#include "fastmks/scan/scan.hpp"

namespace fastmks {

/// Which objects a search is about, by position; empty where it is about all of them.
inline std::vector<char> allowed_objects(const ScanProblem& problem) {
    std::vector<char> allowed;
    if (problem.among.size == problem.objects.size()) return allowed;
    allowed.assign(problem.objects.size(), 0);
    for (std::size_t i = 0; i < problem.among.size; ++i) allowed[problem.among[i]] = 1;
    return allowed;
}

/// Calls run(begin, end, worker) for groups of `size` of n queries on up to `threads` threads, and
/// adds up what it returns.
template <class Run>
BoundCounts for_each_group(std::size_t n, std::size_t size, std::size_t threads, const Watch& watch,
                           Run run) {
    BoundCounts total;
    std::mutex mutex;
    parallel_for((n + size - 1) / size, threads, watch, [&](std::size_t task, Worker& worker) {
        const std::size_t begin = task * size, end = std::min(n, begin + size);
        const BoundCounts counts = run(begin, end, worker);
        const std::lock_guard lock(mutex);
        total += counts;
    });
    return total;
}

}  // namespace fastmks
