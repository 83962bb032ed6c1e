#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "fastmks/core/allowance.hpp"
#include "fastmks/core/faults.hpp"
#include "fastmks/tree/query_scope.hpp"
#include "fastmks/tree/tree_search.hpp"

namespace fastmks {

inline constexpr std::uint32_t no_node = 0xffffffff;
inline constexpr std::size_t evaluations_per_pause = 256;
inline constexpr std::size_t largest_call = 4096;  // evaluations between two readings of the clock
inline constexpr std::size_t smallest_sample = 8;
inline constexpr double not_evaluated = -HUGE_VAL;

// Nodes opened before their children are evaluated together.
inline constexpr std::size_t nodes_per_call = 4;

/// The search of one query at a time in a tree; keeps its memory from query to query. `Collector`
/// is TopK or AllAbove.
template <class Collector>
class QuerySearch {
public:
    /// `pause` is called now and then; throwing from it ends the search.
    QuerySearch(const TreeProblem& problem, const StopRule& stop, std::function<void()> pause)
        : pause_(std::move(pause)),
          tree_(problem.tree),
          objects_(problem.objects),
          queries_(problem.queries),
          traversal_(problem.traversal),
          stop_(stop),
          geometry_(problem.objects.rounding(), problem.queries.rounding()) {}

    /// Offers the hits of a query to `found`. Returns at least the value of any pruned object that
    /// might have entered: -infinity for none.
    double run(std::size_t query, const Places& places, Allowance allowance, Collector& found) {
        start(query, places, allowance, found);
        look_at_root();
        return finish();
    }

    // A node, or a single object (no_node), that may hold an answer. `value` is that of its point,
    // -infinity before it is evaluated.
    struct Entry {
        double bound;
        double value;
        std::uint32_t node;
        std::uint32_t place;
    };

    /// Runs from a frontier that covers all possible answers, for a query whose k-th best value is
    /// known to be at least `floor`.
    double resume(std::size_t query, const Places& places, const std::vector<Entry>& entries,
                  double floor, Collector& found) {
        start(query, places, {}, found);
        below_floor_ = std::nextafter(floor, -HUGE_VAL);
        for (const Entry& entry : entries) {
            if (entry.bound <= limit()) {
                leave_out(entry.bound);
            } else if (is_lazy() || entry.value != not_evaluated) {
                push(entry);
            } else {
                add(entry);
            }
        }
        evaluate_pending();
        return finish();
    }

    [[nodiscard]] const TreeCounts& counts() const noexcept { return counts_; }

private:
    double finish() {
        while (!frontier_.empty() && !is_stopped_) {
            if (is_out_of_time()) {
                is_stopped_ = true;
            } else if (traversal_.order == Order::level) {
                expand_level();
            } else if (!(is_lazy() ? expand_lazily() : expand_best())) {
                break;
            }
        }
        for (const Entry& entry : frontier_) leave_out(entry.bound);
        return missed_;
    }

    // --- one query ------------------------------------------------------------------------------
    void start(std::size_t query, const Places& places, Allowance allowance, Collector& found) {
        query_ = query;
        places_ = &places;
        allowance_ = allowance;
        found_ = &found;
        counts_.self_evaluations += queries_.self_evaluations(query);
        self_value_ = queries_.self_value(query);
        if (self_value_ < 0.0) throw NotMercerFault{query, itself, self_value_, 0.0};
        bounds_ = QueryBounds(geometry_, self_value_);
        queries_.refill(batch_, query);
        frontier_.clear();
        pending_.clear();
        positions_.clear();
        singles_bound_ = -HUGE_VAL;
        is_stopped_ = false;
        missed_ = -HUGE_VAL;
        limit_of_ = NAN;
        below_floor_ = -HUGE_VAL;
    }

    void look_at_root() {
        const Node& root = tree_.nodes[0];
        const double cap = bounds_.cap({0.0, 0.0, 0.0, root.greatest_norm});
        const double bound = traversal_.bounds.cap ? least(HUGE_VAL, cap) : HUGE_VAL;
        if (places_->count(0, root.end) <= std::max<std::size_t>(1, largest_block())) {
            add_all(root, bound);
            for (const Entry& entry : pending_) add_single(entry.place, entry.bound);
            pending_.clear();
        } else {
            pending_.push_back({bound, not_evaluated, 0, 0});
        }
        evaluate_pending();
    }

    // --- the frontier ---------------------------------------------------------------------------
    // Compares the bounds of two entries.
    [[nodiscard]] static auto is_worse() {
        return [](const Entry& a, const Entry& b) { return a.bound < b.bound; };
    }

    // Compares the levels of two entries.
    [[nodiscard]] auto is_lower() const {
        return [this](const Entry& a, const Entry& b) {
            return tree_.nodes[a.node].level < tree_.nodes[b.node].level;
        };
    }

    void push(const Entry& entry) {
        if (entry.node != no_node) {  // it will be opened soon
            const Node& node = tree_.nodes[entry.node];
            __builtin_prefetch(&tree_.nodes[node.first_child]);
            __builtin_prefetch(&tree_.leaf_distance[node.end - 1]);
            __builtin_prefetch(&tree_.norms[node.end - 1]);
        }
        frontier_.push_back(entry);
        if (traversal_.order == Order::best_first) {
            std::push_heap(frontier_.begin(), frontier_.end(), is_worse());
        } else {
            std::push_heap(frontier_.begin(), frontier_.end(), is_lower());
        }
    }

    template <class Less>
    Entry pop(Less less) {
        const Entry entry = frontier_.front();
        std::pop_heap(frontier_.begin(), frontier_.end(), less);
        frontier_.pop_back();
        return entry;
    }

    // Takes the entry with the greatest bound; false when no entry may hold an answer.
    bool pop_best(Entry& best) {
        if (frontier_.empty() || frontier_.front().bound <= limit()) return false;
        best = pop(is_worse());
        return true;
    }

    // The next step of a best-first search; false when there is none. Objects wait on the frontier
    // until their bounds are the greatest.
    bool expand_lazily() {
        Entry best;
        if (!pop_best(best)) return false;
        if (best.value == not_evaluated) {  // its turn has come
            add(best);
        } else {
            expand(best);
            for (const Entry& entry : pending_) push(entry);
            pending_.clear();
        }
        evaluate_pending();
        return true;
    }

    // A step where calls cost more than a few unneeded evaluations: all objects that may be answers
    // below the best nodes are evaluated at once.
    bool expand_best() {
        Entry best;
        std::size_t n_expanded = 0;
        while (n_expanded < nodes_per_call && pop_best(best)) {
            expand(best);
            ++n_expanded;
        }
        evaluate_pending();
        return n_expanded > 0;
    }

    void expand_level() {
        const std::int32_t level = tree_.nodes[frontier_.front().node].level;
        while (!frontier_.empty() && tree_.nodes[frontier_.front().node].level == level) {
            const Entry entry = pop(is_lower());
            entry.bound <= limit() ? leave_out(entry.bound) : expand(entry);
        }
        evaluate_pending();
    }

    // Subtrees with at most this many objects in scope are evaluated whole. Those of a sample are
    // spread thin: looking for them node by node would evaluate more than they are.
    [[nodiscard]] std::size_t largest_block() const noexcept {
        if (places_->is_sample) return std::max(traversal_.block, smallest_sample);
        return is_lazy() ? 0 : traversal_.block;
    }

    // With blocks of one, an object waits on the frontier until its bound is the greatest.
    [[nodiscard]] bool is_lazy() const noexcept {
        return traversal_.block == 1 && traversal_.order == Order::best_first;
    }

    // Puts what may hold an answer below a node among the pending; a self-child goes straight to
    // the frontier.
    void expand(const Entry& entry) {
        const Node& node = tree_.nodes[entry.node];
        ++counts_.nodes;
        const double point_norm = node.point_norm;
        for (std::uint32_t i = node.first_child; i < node.first_child + node.n_children; ++i) {
            const Node& child = tree_.nodes[i];
            if (child.begin == node.begin) {
                consider(i, entry.value, entry.bound);
                continue;
            }
            const std::size_t count = places_->count(child.begin, child.end);
            if (count == 0 && !places_->is_sample) continue;
            const bool is_small = count <= largest_block();
            double bound = entry.bound;
            if (!may_hold_before(
                    {point_norm, child.parent_radius, child.least_norm, child.greatest_norm},
                    entry.value, is_small, bound)) {
                continue;
            }
            is_small ? add_all(child, bound)
                     : pending_.push_back({bound, not_evaluated, i, child.begin});
        }
        expand_leaves(node, point_norm, entry);
    }

    void expand_leaves(const Node& node, double point_norm, const Entry& entry) {
        const BoundKinds& kinds = traversal_.bounds;
        const bool is_plain = !places_->among && !is_lazy() && traversal_.cheap >= 1 &&
                              kinds.parent && kinds.ball && kinds.cap;
        if (is_plain) return filter_leaves(node, point_norm, entry);
        for (std::uint32_t place = node.leaves; place < node.end; ++place) {
            const bool is_among = places_->contains(place);
            if (!is_among && !places_->is_sample) continue;
            double bound = entry.bound;
            const double norm = tree_.norms[place];
            if (!may_hold_before(
                    {point_norm, tree_.leaf_distance[place], bounds_.norm_below(norm), norm},
                    entry.value, traversal_.cheap >= 1, bound)) {
                continue;
            }
            is_among ? collect(place, bound) : leave_out(bound);
        }
    }

    // The common case of the above without branches, which leaves would make at random.
    void filter_leaves(const Node& node, double point_norm, const Entry& entry) {
        const double limit = this->limit(), threshold = found_->threshold();
        const std::size_t count = node.end - node.leaves, n_before = positions_.size();
        positions_.resize(n_before + count);
        std::int64_t* const begin = positions_.data() + n_before;
        std::int64_t* kept = begin;
        std::size_t n_by_ball = 0;
        double greatest_kept = singles_bound_, missed = missed_;
        for (std::uint32_t place = node.leaves; place < node.end; ++place) {
            const double norm = tree_.norms[place];
            const Region region{point_norm, tree_.leaf_distance[place], norm, norm};
            const double ball = least(entry.bound, bounds_.ball(region, entry.value));
            const double bound = least(ball, bounds_.cap(region));
            const bool is_out = bound <= limit;
            n_by_ball += ball <= limit;
            *kept = place;
            kept += !is_out;
            const double if_kept = is_out ? -HUGE_VAL : bound;
            const double if_missed = is_out && bound >= threshold ? bound : -HUGE_VAL;
            greatest_kept = greatest_kept < if_kept ? if_kept : greatest_kept;
            missed = missed < if_missed ? if_missed : missed;
        }
        const auto n_kept = static_cast<std::size_t>(kept - begin);
        positions_.resize(n_before + n_kept);
        singles_bound_ = greatest_kept;
        missed_ = missed;
        counts_.bounds += 2 * count;
        counts_.pruned_before[static_cast<std::size_t>(BoundKind::ball)] += n_by_ball;
        counts_.pruned_before[static_cast<std::size_t>(BoundKind::cap)] +=
            count - n_kept - n_by_ball;
    }

    // The lesser of a bound and a candidate, which counts only if it is a number.
    static double least(double bound, double candidate) {
        return candidate < bound ? candidate : bound;
    }

    // Every place of a subtree, without reading its structure.
    void add_all(const Node& node, double bound) {
        if (!places_->among && !is_lazy()) {
            const std::size_t n_before = positions_.size();
            positions_.resize(n_before + (node.end - node.begin));
            std::iota(positions_.begin() + static_cast<std::ptrdiff_t>(n_before), positions_.end(),
                      node.begin);
            singles_bound_ = std::max(singles_bound_, bound);
            return;
        }
        if (!places_->among) {
            for (std::uint32_t place = node.begin; place < node.end; ++place) collect(place, bound);
            return;
        }
        const auto end = places_->among->end();
        std::size_t n_added = 0;
        for (auto at = std::lower_bound(places_->among->begin(), end, node.begin);
             at != end && *at < node.end; ++at, ++n_added) {
            collect(static_cast<std::uint32_t>(*at), bound);
        }
        if (places_->is_sample && n_added < node.end - node.begin) leave_out(bound);
    }

    void collect(std::uint32_t place, double bound) {
        if (is_lazy()) {
            pending_.push_back({bound, not_evaluated, no_node, place});
        } else {
            add_single(place, bound);
        }
    }

    void add_single(std::uint32_t place, double bound) {
        positions_.push_back(place);
        singles_bound_ = std::max(singles_bound_, bound);
    }

    void add(const Entry& entry) {
        if (entry.node == no_node) {
            add_single(entry.place, entry.bound);
        } else {
            pending_.push_back(entry);
        }
    }

    // --- evaluation -----------------------------------------------------------------------------
    // Evaluates the single objects, then the points of pending nodes, as far as the allowance goes.
    void evaluate_pending() {
        const std::size_t n_singles = positions_.size();
        for (const Entry& entry : pending_) positions_.push_back(entry.place);
        values_.resize(positions_.size());
        const std::size_t n = evaluate(std::min(positions_.size(), allowance_.evaluations));
        if (n < n_singles) leave_out(singles_bound_);
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            const Entry& entry = pending_[i];
            if (n_singles + i < n) {
                consider(entry.node, values_[n_singles + i], entry.bound);
            } else {
                leave_out(entry.bound);
            }
        }
        if (allowance_.evaluations == 0) is_stopped_ = true;
        pending_.clear();
        positions_.clear();
        singles_bound_ = -HUGE_VAL;
    }

    // Evaluates and offers the first n positions, fewer when time is up; returns how many.
    std::size_t evaluate(std::size_t n) {
        std::size_t begin = 0;
        while (begin < n) {
            const std::size_t end = std::min(n, begin + largest_call);
            counts_.evaluations +=
                evaluate(Selection::list(positions_.data() + begin, end - begin), &values_[begin]);
            for (std::size_t i = begin; i < end; ++i) {
                offer(static_cast<std::uint32_t>(positions_[i]), values_[i]);
            }
            n_since_pause_ += end - begin;
            if (n_since_pause_ >= evaluations_per_pause) {
                n_since_pause_ = 0;
                pause_();
            }
            begin = end;
            if (is_out_of_time()) is_stopped_ = true;
            if (is_stopped_) break;
        }
        allowance_.evaluations -= begin;
        return begin;
    }

    // Returns how many values were evaluated: that of an object with itself is known.
    std::size_t evaluate(Selection objects, double* values) {
        std::size_t n_evaluated = objects.size;
        if (places_->self == SIZE_MAX) {
            objects_.evaluate(*batch_, objects, values, objects.size);
        } else {
            n_evaluated =
                objects_.evaluate_others(*batch_, places_->self, self_value_, objects, values);
        }
        places_->check(query_, objects, objects_, values);
        return n_evaluated;
    }

    [[nodiscard]] bool is_out_of_time() const { return found_->is_full() && allowance_.is_late(); }

    void offer(std::uint32_t place, double value) {
        if (!(value >= found_->threshold())) return;
        const double largest = geometry_.largest_value(bounds_.norm(), tree_.norms[place]);
        if (std::abs(value) > largest) throw NotMercerFault{query_, place, value, largest};
        if (places_->may_return(place)) found_->offer({value, tree_.order[place]});
    }

    // Puts a node whose point has been evaluated on the frontier if anything below may be an
    // answer.
    void consider(std::uint32_t at, double value, double bound) {
        const Node& node = tree_.nodes[at];
        const Region region{node.point_norm, node.radius, node.least_norm, node.greatest_norm};
        if (may_hold(region, value, false, counts_.pruned_after, bound)) {
            push({bound, value, at, node.begin});
        }
    }

    // --- bounds ---------------------------------------------------------------------------------
    bool may_hold_before(const Region& region, double value, bool is_cheap, double& bound) {
        return !traversal_.bounds.parent ||
               may_hold(region, value, is_cheap, counts_.pruned_before, bound);
    }

    // Whether the objects of a region may hold an answer; lowers `bound` to the least of those
    // tried. The shell is not tried where an evaluation is less expensive.
    [[gnu::always_inline]] bool may_hold(const Region& region, double value, bool is_cheap,
                                         std::array<std::size_t, n_bound_kinds>& pruned,
                                         double& bound) {
        const double limit = this->limit();
        const BoundKinds& kinds = traversal_.bounds;
        const auto fails = [&](BoundKind kind, double candidate) {
            ++counts_.bounds;
            if (candidate < bound) bound = candidate;
            if (!(bound <= limit)) return false;
            ++pruned[static_cast<std::size_t>(kind)];
            leave_out(bound);
            return true;
        };
        if (kinds.ball && fails(BoundKind::ball, bounds_.ball(region, value))) return false;
        if (kinds.cap && fails(BoundKind::cap, bounds_.cap(region))) return false;
        return is_cheap || !kinds.shell || !fails(BoundKind::shell, bounds_.shell(region, value));
    }

    // Objects that cannot exceed this need not be evaluated.
    double limit() {
        const double threshold = found_->threshold();
        if (threshold != limit_of_) {
            limit_of_ = threshold;
            // The floor is used without epsilon: else its own objects might be pruned.
            limit_ = std::max(stop_.limit(threshold), below_floor_);
        }
        return limit_;
    }

    void leave_out(double bound) {
        if (bound >= found_->threshold() && bound > missed_) missed_ = bound;
    }

    std::function<void()> pause_;
    std::size_t n_since_pause_ = 0;
    const CoverTree& tree_;
    const Space& objects_;
    const Space& queries_;
    const Traversal& traversal_;
    const StopRule& stop_;
    Geometry geometry_;
    TreeCounts counts_;

    std::size_t query_ = 0;
    const Places* places_ = nullptr;
    Allowance allowance_;
    Collector* found_ = nullptr;
    double self_value_ = 0.0;
    QueryBounds bounds_{geometry_, 0.0};
    std::unique_ptr<QueryBatch> batch_;
    std::vector<Entry> frontier_;
    // Next to be evaluated: single objects, at least the bounds of them all, and nodes.
    std::vector<std::int64_t> positions_;
    double singles_bound_ = -HUGE_VAL;
    std::vector<Entry> pending_;
    std::vector<double> values_;
    bool is_stopped_ = false;
    double missed_ = -HUGE_VAL;
    double limit_ = -HUGE_VAL;
    double limit_of_ = NAN;
    double below_floor_ = -HUGE_VAL;  // the k-th best value is known to be greater
};

}  // namespace fastmks
