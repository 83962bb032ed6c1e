#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "fastmks/core/stop_rule.hpp"

namespace fastmks {

/// How much one query may cost.
struct Allowance {
    std::size_t evaluations = SIZE_MAX;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

    /// Whether the deadline, if there is one, is over.
    [[nodiscard]] bool is_late() const {
        return deadline != std::chrono::steady_clock::time_point::max() &&
               std::chrono::steady_clock::now() > deadline;
    }
};

/// The allowances of the queries of a search: of its time, each gets its share of the rest.
class Allowances {
public:
    Allowances(const StopRule& stop, std::size_t n_queries, std::size_t threads)
        : budget_(stop.budget), n_left_(n_queries), threads_(threads) {
        if (stop.time) {
            has_end_ = true;
            end_ = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(*stop.time);
        }
    }

    /// The allowance of a query that begins now.
    [[nodiscard]] Allowance next() {
        if (!has_end_) return {budget_};
        const std::size_t left = n_left_.fetch_sub(1);
        const auto now = std::chrono::steady_clock::now();
        const auto rounds =
            static_cast<std::chrono::steady_clock::rep>((left + threads_ - 1) / threads_);
        return {budget_, now + (end_ - now) / std::max<std::chrono::steady_clock::rep>(1, rounds)};
    }

private:
    std::size_t budget_;
    bool has_end_ = false;
    std::chrono::steady_clock::time_point end_;
    std::atomic<std::size_t> n_left_;
    std::size_t threads_;
};

}  // namespace fastmks
