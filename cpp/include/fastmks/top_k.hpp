#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace fastmks {

struct Hit {
    double value;
    std::int64_t position;
};

/// The order of all answers: greater values first, equal ones by smaller position.
[[nodiscard]] constexpr bool ranks_before(const Hit& a, const Hit& b) noexcept {
    return a.value > b.value || (a.value == b.value && a.position < b.position);
}

/// The k best of the hits offered so far. Keeps up to 2k and throws the worse half away when they
/// are full, so an offer costs O(1) on average whatever k is.
class TopK {
public:
    explicit TopK(std::size_t k) : k_(k) { hits_.reserve(2 * k); }

    /// A hit with a smaller value cannot enter any more.
    [[nodiscard]] double threshold() const noexcept { return worst_.value; }

    void offer(Hit hit) {
        if (!ranks_before(hit, worst_)) return;
        hits_.push_back(hit);
        if (hits_.size() == 2 * k_) shrink();
    }

    /// The best k, best first; fewer when fewer were offered.
    [[nodiscard]] const std::vector<Hit>& sorted() {
        if (hits_.size() > k_) shrink();
        std::sort(hits_.begin(), hits_.end(), ranks_before);
        return hits_;
    }

private:
    void shrink() {
        const auto kth = hits_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
        std::nth_element(hits_.begin(), kth, hits_.end(), ranks_before);
        worst_ = *kth;
        hits_.resize(k_);
    }

    std::size_t k_;
    std::vector<Hit> hits_;
    Hit worst_{-std::numeric_limits<double>::infinity(), std::numeric_limits<std::int64_t>::max()};
};

}  // namespace fastmks
