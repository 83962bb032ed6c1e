#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fastmks/core/top_k.hpp"

namespace fastmks {

/// Where the answers of a top-k search go: row-major n_queries x k.
struct TopKAnswers {
    double* values;
    std::int64_t* positions;
    /// Missed values lie at most this far above the k-th value; 0 means that the answer is exact.
    /// One per query.
    double* gaps;
};

/// Writes one query's answer. `missed` is at least the value of anything pruned that might have
/// entered; the gap is 0 only when it lies below the k-th value.
inline void write_answer(TopKAnswers answers, std::size_t row, TopK& best, std::size_t k,
                         double missed) {
    const std::vector<Hit>& hits = best_of(best, k);
    for (std::size_t rank = 0; rank < k; ++rank) {
        answers.values[row * k + rank] = hits[rank].value;
        answers.positions[row * k + rank] = hits[rank].position;
    }
    const double kth = hits[k - 1].value;
    answers.gaps[row] = missed < kth ? 0.0 : std::nextafter(missed - kth, HUGE_VAL);
}

}  // namespace fastmks
