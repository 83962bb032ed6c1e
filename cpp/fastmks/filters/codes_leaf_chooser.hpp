#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fastmks/filters/codes.hpp"
#include "fastmks/filters/codes_query.hpp"

namespace fastmks::coded {

// The promises of the leaves of a table to some queries: of all leaves at once; or, where they are
// many, of groups of them, and of a group's leaves when a query opens it.
class LeafChooser {
public:
    LeafChooser(const CodeTable& table, const CodeLoops& loops)
        : table_(table),
          loops_(loops),
          bound_(table.projection().is_distance() ? loops.bound_distances : loops.bound_products),
          n_leaves_(table.n_leaf_groups() * group_size),
          n_groups_(table.group_boxes().radii.size()) {}

    // Bounds for these queries from now on; is_finite[i] says whether those of query i mean
    // anything.
    void start(std::vector<LeafQuery> queries, std::vector<char> is_finite) {
        queries_ = std::move(queries);
        is_finite_ = std::move(is_finite);
        opened_.clear();
        const std::size_t n = queries_.size() * n_leaves_;
        scores_.resize(n);
        promises_.assign(n, -HUGE_VALF);
        if (n_groups_ == 0) {
            return bound_boxes(table_.boxes(), table_.n_leaves(), n_leaves_, scores_, promises_);
        }
        group_scores_.resize(queries_.size() * n_groups_);
        group_promises_.resize(queries_.size() * n_groups_);
        bound_boxes(table_.group_boxes(), table_.n_leaf_groups(), n_groups_, group_scores_,
                    group_promises_);
    }

    // Of the centre of a leaf that was chosen.
    [[nodiscard]] float score(std::size_t i, std::size_t leaf) const noexcept {
        return scores_[i * n_leaves_ + leaf];
    }
    // How far beyond the query's middle a score in a leaf can lie; minus infinity once searched.
    [[nodiscard]] float promise(std::size_t i, std::size_t leaf) const noexcept {
        return promises_[i * n_leaves_ + leaf];
    }
    void note_searched(std::size_t i, std::size_t leaf) noexcept {
        promises_[i * n_leaves_ + leaf] = -HUGE_VALF;
    }

    // The most promising leaf of a query.
    [[nodiscard]] std::size_t best(std::size_t i) {
        const float* promises = promises_.data() + i * n_leaves_;
        if (n_groups_ == 0) return loops_.greatest(promises, n_leaves_);
        const float* of_groups = group_promises_.data() + i * n_groups_;
        std::size_t best = 0;
        for (;;) {
            for (const std::uint32_t group : opened_) {
                const std::size_t first = group * group_size;
                const std::size_t leaf = first + loops_.greatest(promises + first, group_size);
                if (promises[leaf] > promises[best]) best = leaf;
            }
            const std::size_t group = loops_.greatest(of_groups, n_groups_);
            if (!(of_groups[group] > promises[best])) return best;
            open_group(i, group);
        }
    }

    // The leaves that promise a query at least `reach`; the last thing it is asked for that query.
    const std::vector<std::uint32_t>& choose(std::size_t i, float reach) {
        const float* promises = promises_.data() + i * n_leaves_;
        if (n_groups_ == 0) {
            chosen_.resize(n_leaves_);
            chosen_.resize(loops_.choose(promises, n_leaves_, reach, chosen_.data()));
            return chosen_;
        }
        std::vector<std::uint32_t>& wanted = chosen_;
        wanted.resize(n_groups_);
        wanted.resize(
            loops_.choose(group_promises_.data() + i * n_groups_, n_groups_, reach, wanted.data()));
        for (const std::uint32_t group : wanted) open_group(i, group);
        chosen_.resize(opened_.size() * group_size);
        std::size_t n_chosen = 0;
        for (const std::uint32_t group : opened_) {
            const auto first = static_cast<std::uint32_t>(group * group_size);
            std::uint32_t* out = chosen_.data() + n_chosen;
            const std::size_t n = loops_.choose(promises + first, group_size, reach, out);
            for (std::size_t j = 0; j < n; ++j) out[j] += first;
            n_chosen += n;
        }
        chosen_.resize(n_chosen);
        opened_.clear();
        return chosen_;
    }

    [[nodiscard]] std::size_t n_bounds() const noexcept { return n_bounds_; }
    [[nodiscard]] std::size_t n_operations() const noexcept { return n_operations_; }

private:
    // Bounds n boxes for all queries; `stride` is n rounded up to whole groups.
    void bound_boxes(const Boxes& boxes, std::size_t n, std::size_t stride,
                     std::vector<float>& scores, std::vector<float>& promises) {
        for (std::size_t at = 0; at < stride; at += group_size) {
            bound_(boxes.group(at / group_size), queries_.data(), queries_.size(),
                   scores.data() + at, promises.data() + at, stride);
        }
        for (std::size_t i = 0; i < queries_.size(); ++i) {
            float* of_query = promises.data() + i * stride;
            if (!is_finite_[i]) std::fill_n(of_query, n, HUGE_VALF);
            std::fill(of_query + n, of_query + stride, -HUGE_VALF);
        }
        n_bounds_ += queries_.size() * n;
        n_operations_ += 2 * queries_.size() * stride * table_.dimension();
    }

    // Bounds the leaves of a group for one query.
    void open_group(std::size_t i, std::size_t group) {
        const std::size_t first = group * group_size;
        const std::size_t n = std::min(group_size, table_.n_leaves() - first);
        float* promises = promises_.data() + i * n_leaves_ + first;
        bound_(table_.boxes().group(group), &queries_[i], 1, scores_.data() + i * n_leaves_ + first,
               promises, n_leaves_);
        if (!is_finite_[i]) std::fill_n(promises, n, HUGE_VALF);
        std::fill(promises + n, promises + group_size, -HUGE_VALF);
        group_promises_[i * n_groups_ + group] = -HUGE_VALF;
        opened_.push_back(static_cast<std::uint32_t>(group));
        n_bounds_ += n;
        n_operations_ += 2 * group_size * table_.dimension();
    }

    const CodeTable& table_;
    const CodeLoops& loops_;
    decltype(CodeLoops::bound_products) bound_;
    std::size_t n_leaves_;  // rounded up to whole groups
    std::size_t n_groups_;  // of leaves, rounded up likewise; 0 where all leaves are bounded
    std::size_t n_bounds_ = 0;
    std::size_t n_operations_ = 0;
    std::vector<LeafQuery> queries_;
    std::vector<char> is_finite_;
    std::vector<float> scores_;    // of the centres of leaves, queries_.size() x n_leaves_
    std::vector<float> promises_;  // of leaves; minus infinity once searched
    std::vector<float> group_scores_;
    std::vector<float> group_promises_;  // minus infinity once the group is open
    std::vector<std::uint32_t> opened_;  // groups opened for the query
    std::vector<std::uint32_t> chosen_;
};

}  // namespace fastmks::coded
