#pragma once

#include <vector>

#include "fastmks/core/top_k.hpp"

namespace fastmks {

/// Collects every hit at or above a threshold.
class AllAbove {
public:
    explicit AllAbove(double threshold) : threshold_(threshold) {}
    [[nodiscard]] double threshold() const noexcept { return threshold_; }
    [[nodiscard]] bool is_full() const noexcept { return true; }
    void offer(Hit hit) {
        if (hit.value >= threshold_) hits.push_back(hit);
    }
    std::vector<Hit> hits;

private:
    double threshold_;
};

}  // namespace fastmks
