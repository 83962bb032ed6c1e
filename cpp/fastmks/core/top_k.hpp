#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fastmks/core/faults.hpp"

namespace fastmks {

struct Hit {
    double value;
    std::int64_t position;
};

/// The order of all answers: greater values first, equal ones by smaller position.
[[nodiscard]] constexpr bool ranks_before(const Hit& a, const Hit& b) noexcept {
    return a.value > b.value || (a.value == b.value && a.position < b.position);
}

/// Any other hit ranks before it.
inline constexpr Hit worst_of_all{-std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<std::int64_t>::max()};

/// A position of no object: after those of all objects, also when an offset is added to them.
inline constexpr std::int64_t nowhere = std::int64_t{1} << 62;

/// The k best of the hits offered so far, at O(1) per offer whatever k is: up to 2k are kept, and
/// the worse half is dropped when they are full. So the threshold may be below the k-th best value,
/// which costs a scan nothing.
class Reservoir {
public:
    explicit Reservoir(std::size_t k) : k_(k) { hits_.reserve(2 * k); }

    /// Begins with k hits of one value, nowhere: only hits that rank before them enter.
    Reservoir(std::size_t k, double floor) : Reservoir(k) {
        if (!(floor > worst_.value)) return;
        worst_ = {floor, nowhere};
        hits_.assign(k, worst_);
    }

    /// A hit with a smaller value cannot enter any more.
    [[nodiscard]] double threshold() const noexcept { return worst_.value; }

    void offer(Hit hit) {
        if (!ranks_before(hit, worst_)) return;
        hits_.push_back(hit);
        if (hits_.size() == 2 * k_) shrink();
    }

    /// The number of hits kept now: k or more once k were offered.
    [[nodiscard]] std::size_t size() const noexcept { return hits_.size(); }

    /// Raises the threshold to the k-th best value so far: worth its time after many offers.
    void settle() {
        const bool is_first = worst_.position == worst_of_all.position;
        if (hits_.size() > k_ || (hits_.size() == k_ && is_first)) shrink();
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
    Hit worst_ = worst_of_all;
};

/// The k best of the hits offered so far, with a threshold that is always the k-th best value, as
/// pruning needs it: a heap with the worst of them on top.
class TopK {
public:
    explicit TopK(std::size_t k) : k_(k) { hits_.reserve(k); }

    /// Begins with k hits of one value, nowhere: only hits that rank before them enter.
    TopK(std::size_t k, double floor) : TopK(k) { fill(floor); }

    /// A hit with a smaller value cannot enter any more: the k-th best value so far.
    [[nodiscard]] double threshold() const noexcept { return worst_.value; }

    [[nodiscard]] bool is_full() const noexcept { return hits_.size() == k_; }

    void offer(Hit hit) {
        if (!ranks_before(hit, worst_)) return;
        if (is_sorted_ && hits_.size() == k_) {
            std::make_heap(hits_.begin(), hits_.end(), ranks_before);
        }
        is_sorted_ = false;
        if (hits_.size() == k_) {
            replace_worst(hit);
        } else {
            hits_.push_back(hit);
            if (hits_.size() < k_) return;
            std::make_heap(hits_.begin(), hits_.end(), ranks_before);
        }
        worst_ = hits_.front();
    }

    /// The best k in no order; fewer when fewer were offered.
    [[nodiscard]] const std::vector<Hit>& hits() const noexcept { return hits_; }

    /// The best k, best first; fewer when fewer were offered.
    [[nodiscard]] const std::vector<Hit>& sorted() {
        std::sort(hits_.begin(), hits_.end(), ranks_before);
        is_sorted_ = true;
        return hits_;
    }

    /// Puts k hits of a value, nowhere, into one that is new; none where it is -infinity.
    void fill(double floor) {
        if (!(floor > worst_.value)) return;
        worst_ = {floor, nowhere};
        hits_.assign(k_, worst_);  // a heap, being all the same
    }

    /// As new, with its memory kept.
    void clear() noexcept {
        hits_.clear();
        worst_ = worst_of_all;
        is_sorted_ = false;
    }

private:
    // Moves the hole left by the worst hit down to where the new one belongs.
    void replace_worst(Hit hit) noexcept {
        std::size_t hole = 0;
        for (std::size_t child = 1; child < k_; child = 2 * hole + 1) {
            if (child + 1 < k_ && ranks_before(hits_[child], hits_[child + 1])) ++child;
            if (!ranks_before(hit, hits_[child])) break;
            hits_[hole] = hits_[child];
            hole = child;
        }
        hits_[hole] = hit;
    }

    std::size_t k_;
    std::vector<Hit> hits_;
    Hit worst_ = worst_of_all;
    bool is_sorted_ = false;  // and so no heap
};

/// The best k, best first. Throws DamageFault for fewer hits.
[[nodiscard]] inline const std::vector<Hit>& best_of(TopK& found, std::size_t k) {
    const std::vector<Hit>& hits = found.sorted();
    if (hits.size() < k) throw DamageFault{};
    return hits;
}

}  // namespace fastmks
