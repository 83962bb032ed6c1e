// Dual-tree search: query nodes are walked depth first, each with the reference nodes that may hold
// an answer for some query below it. What is pruned for a query node is pruned for all its queries;
// where few queries remain, each goes on alone from the references it inherited.

#include <functional>
#include <mutex>

#include "fastmks/core/answers.hpp"
#include "fastmks/core/faults.hpp"
#include "fastmks/tree/query_search.hpp"

namespace fastmks {
namespace {

// Query nodes of at most this many queries are not searched as a group.
constexpr std::size_t smallest_group = 8;

// A reference node, or single object (no_node), and its value with the point of a query node.
struct Candidate {
    double value;
    std::uint32_t node;
    std::uint32_t place;
};

// A query node and what it inherits. `floor` is at most the k-th best value of each of its queries.
struct Group {
    std::uint32_t node;
    double floor;
    std::vector<Candidate> candidates;
    TopK best;   // of the node's point
    TopK reach;  // the same, the point itself included: what its neighbours can count on
};

class DualSearch {
public:
    DualSearch(const TreeProblem& problem, const CoverTree& query_tree,
               const std::vector<double>& norms, std::size_t k, const StopRule& stop,
               TopKAnswers answers, std::function<void(std::size_t)> advance)
        : problem_(problem),
          tree_(problem.tree),
          query_tree_(query_tree),
          norms_(norms),
          k_(k),
          stop_(stop),
          answers_(answers),
          advance_(std::move(advance)),
          geometry_(problem.objects.rounding(), problem.queries.rounding()),
          single_(problem, stop, [this] { advance_(0); }) {}

    // The group of all queries.
    Group root() {
        Group group = new_group(0, -HUGE_VAL);
        set_point(group);
        evaluate({{not_evaluated, 0, 0}}, group);
        return group;
    }

    [[nodiscard]] std::size_t n_queries(const Group& group) const {
        const Node& node = query_tree_.nodes[group.node];
        return node.end - node.begin;
    }

    // Searches a group; hands each part of it on through pass_on(Group&&).
    template <class PassOn>
    void split(Group group, PassOn pass_on) {
        set_point(group);
        const Node& node = query_tree_.nodes[group.node];
        ++counts_.nodes;
        refine(group, node);
        const bool has_self_child =
            node.n_children > 0 && query_tree_.nodes[node.first_child].begin == node.begin;
        for (std::uint32_t i = has_self_child ? 1 : 0; i < node.n_children; ++i) {
            pass_on(child_group(group, node.first_child + i));
            set_point(group);
        }
        for (std::uint32_t place = node.leaves; place < node.end; ++place) {
            search_alone(group, place, query_tree_.leaf_distance[place]);
        }
        if (has_self_child) {
            group.node = node.first_child;
            pass_on(std::move(group));
        } else {
            finish_point(group);
        }
    }

    // Searches each query of a group on its own.
    void search_each(Group group) {
        set_point(group);
        const Node& node = query_tree_.nodes[group.node];
        for (std::uint32_t place = node.begin + 1; place < node.end; ++place) {
            search_alone(group, place, node.radius);
        }
        finish_point(group);
    }

    [[nodiscard]] TreeCounts total() const {
        TreeCounts sum = counts_;
        sum += single_.counts();
        return sum;
    }

private:
    Group new_group(std::uint32_t node, double floor) const {
        return {node, floor, {}, TopK(k_), TopK(k_ + 1)};
    }

    void set_point(const Group& group) {
        point_ = query_tree_.nodes[group.node].begin;
        point_norm_ = query_tree_.norms[point_];
        batch_ = problem_.queries.batch(point_, point_ + 1);
    }

    [[nodiscard]] Places places_of(std::size_t query) const {
        return {problem_.among, problem_.among, false, problem_.skip_self ? query : SIZE_MAX};
    }

    [[nodiscard]] double radius_of(const Candidate& candidate) const {
        return candidate.node == no_node ? 0.0 : tree_.nodes[candidate.node].radius;
    }

    // For every query within `query_radius` of the point.
    [[nodiscard]] double bound_of(const Candidate& candidate, double query_radius) const {
        const double norm = tree_.norms[candidate.place];
        const double greatest =
            candidate.node == no_node ? norm : tree_.nodes[candidate.node].greatest_norm;
        return pair_bound(geometry_, point_norm_, query_radius,
                          {norm, radius_of(candidate), 0.0, greatest}, candidate.value);
    }

    bool may_hold(const Candidate& candidate, double query_radius) {
        ++counts_.bounds;
        const double bound = bound_of(candidate, query_radius);
        if (!(bound <= limit_)) return true;
        ++counts_.pruned_after[static_cast<std::size_t>(BoundKind::ball)];
        return false;
    }

    // Raises the floor from what the point has found: an object r with K(p, r) has
    // K(q, r) >= K(p, r) - radius * |r| with every query q of the node.
    void raise_floor(Group& group, double radius) {
        TopK& known = problem_.skip_self ? group.reach : group.best;
        if (!known.is_full()) return;
        double least = HUGE_VAL;
        for (const Hit& hit : known.hits()) {
            const double norm = norms_[static_cast<std::size_t>(hit.position)];
            const double rounding = geometry_.bound_share() * (point_norm_ + radius) * norm;
            const double reached = hit.value - radius * norm - rounding - geometry_.bound_lost();
            if (std::isnan(reached)) return;
            least = std::min(least, reached);
        }
        group.floor = std::max(group.floor, least);
    }

    // Opens reference nodes until none is wider than the query node, and drops what cannot hold an
    // answer for any of its queries.
    void refine(Group& group, const Node& node) {
        for (bool has_opened = true; has_opened;) {
            has_opened = false;
            raise_floor(group, node.radius);
            // Always exactly: what makes the floor must itself stay.
            limit_ = std::nextafter(group.floor, -HUGE_VAL);
            std::vector<Candidate> before = std::move(group.candidates);
            group.candidates.clear();
            to_evaluate_.clear();
            for (const Candidate& candidate : before) {
                if (!may_hold(candidate, node.radius)) continue;
                if (radius_of(candidate) > node.radius) {
                    has_opened = true;
                    open(candidate, group);
                } else {
                    group.candidates.push_back(candidate);
                }
            }
            evaluate(to_evaluate_, group);
        }
    }

    // Replaces a reference node by its children: a self-child keeps its value, the others are to be
    // evaluated.
    void open(const Candidate& candidate, Group& group) {
        const Node& node = tree_.nodes[candidate.node];
        const Places places = places_of(point_);
        ++counts_.nodes;
        if (node.n_children == 0 || tree_.nodes[node.first_child].begin != node.begin) {
            group.candidates.push_back({candidate.value, no_node, node.begin});
        }
        for (std::uint32_t i = node.first_child; i < node.first_child + node.n_children; ++i) {
            const Node& child = tree_.nodes[i];
            if (places.count(child.begin, child.end) == 0) continue;
            if (child.begin == node.begin) {
                group.candidates.push_back({candidate.value, i, child.begin});
            } else {
                to_evaluate_.push_back({not_evaluated, i, child.begin});
            }
        }
        for (std::uint32_t place = node.leaves; place < node.end; ++place) {
            if (places.contains(place)) to_evaluate_.push_back({not_evaluated, no_node, place});
        }
    }

    // Evaluates candidates with the point and adds them to the group's.
    void evaluate(const std::vector<Candidate>& candidates, Group& group) {
        if (candidates.empty()) return;
        const Places places = places_of(point_);
        positions_.clear();
        for (const Candidate& candidate : candidates) positions_.push_back(candidate.place);
        values_.resize(positions_.size());
        const Selection objects = Selection::list(positions_.data(), positions_.size());
        if (problem_.skip_self && objects.find(point_) < objects.size) {
            counts_.self_evaluations += problem_.queries.self_evaluations(point_);
            const double own = problem_.queries.self_value(point_);
            counts_.evaluations +=
                problem_.objects.evaluate_others(*batch_, point_, own, objects, values_.data());
        } else {
            problem_.objects.evaluate(*batch_, objects, values_.data(), objects.size);
            counts_.evaluations += objects.size;
        }
        places.check(point_, objects, problem_.objects, values_.data());
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::uint32_t place = candidates[i].place;
            const double largest = geometry_.largest_value(point_norm_, tree_.norms[place]);
            if (std::abs(values_[i]) > largest) {
                throw NotMercerFault{point_, place, values_[i], largest};
            }
            const Hit hit{values_[i], tree_.order[place]};
            if (places.may_return(place)) group.best.offer(hit);
            if (problem_.skip_self && places.contains(place)) group.reach.offer(hit);
            group.candidates.push_back({values_[i], candidates[i].node, place});
        }
    }

    // The group of a child: what its parent's values leave, evaluated with its own point.
    Group child_group(Group& group, std::uint32_t index) {
        const Node& child = query_tree_.nodes[index];
        std::vector<Candidate> inherited;
        for (const Candidate& candidate : group.candidates) {
            if (may_hold(candidate, child.parent_radius)) inherited.push_back(candidate);
        }
        Group made = new_group(index, group.floor);
        set_point(made);
        evaluate(inherited, made);
        return made;
    }

    // One query within `distance` of the group's point goes on by itself.
    void search_alone(const Group& group, std::uint32_t place, double distance) {
        entries_.clear();
        for (const Candidate& candidate : group.candidates) {
            entries_.push_back(
                {bound_of(candidate, distance), not_evaluated, candidate.node, candidate.place});
        }
        TopK best(k_);
        const double missed = single_.resume(place, places_of(place), entries_, group.floor, best);
        answer(place, best, missed);
    }

    // The point of the group goes on by itself, with the values it has.
    void finish_point(Group& group) {
        entries_.clear();
        for (const Candidate& candidate : group.candidates) {
            if (candidate.node == no_node) continue;
            entries_.push_back(
                {bound_of(candidate, 0.0), candidate.value, candidate.node, candidate.place});
        }
        const std::uint32_t place = query_tree_.nodes[group.node].begin;
        const double missed =
            single_.resume(place, places_of(place), entries_, group.floor, group.best);
        answer(place, group.best, missed);
    }

    void answer(std::uint32_t place, TopK& best, double missed) {
        write_answer(answers_, static_cast<std::size_t>(query_tree_.order[place]), best, k_,
                     missed);
        advance_(1);
    }

    const TreeProblem& problem_;
    const CoverTree& tree_;
    const CoverTree& query_tree_;
    const std::vector<double>& norms_;  // by position
    std::size_t k_;
    const StopRule& stop_;
    TopKAnswers answers_;
    std::function<void(std::size_t)> advance_;  // with the number of queries answered
    TreeCounts counts_;
    Geometry geometry_;
    QuerySearch<TopK> single_;
    // The point of the group in hand.
    std::size_t point_ = 0;
    double point_norm_ = 0.0;
    std::unique_ptr<QueryBatch> batch_;
    double limit_ = -HUGE_VAL;
    // Scratch.
    std::vector<Candidate> to_evaluate_;
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
    std::vector<QuerySearch<TopK>::Entry> entries_;
};

// Searches a group and all below it that is larger than `smallest`; hands the rest to `pass_on`.
template <class PassOn>
void search_groups(DualSearch& search, Group first, std::size_t smallest, PassOn pass_on) {
    std::vector<Group> open;
    open.push_back(std::move(first));
    while (!open.empty()) {
        Group group = std::move(open.back());
        open.pop_back();
        search.split(std::move(group), [&](Group&& part) {
            if (search.n_queries(part) <= smallest) {
                pass_on(std::move(part));
            } else {
                open.push_back(std::move(part));
            }
        });
    }
}

}  // namespace

TreeCounts dual_tree_top_k(const TreeProblem& problem, const CoverTree& query_tree, std::size_t k,
                           const StopRule& stop, std::size_t threads, const Watch& watch,
                           TopKAnswers answers) {
    std::vector<double> norms(problem.tree.size());
    for (std::size_t place = 0; place < norms.size(); ++place) {
        norms[static_cast<std::size_t>(problem.tree.order[place])] = problem.tree.norms[place];
    }
    TreeCounts total;
    std::vector<Group> jobs;
    std::size_t n_answered = 0;
    {
        DualSearch search(problem, query_tree, norms, k, stop, answers,
                          [&](std::size_t n) { watch(n_answered += n); });
        const std::size_t largest_job = query_tree.size() / (8 * threads);
        search_groups(search, search.root(), std::max(smallest_group, largest_job),
                      [&](Group&& job) { jobs.push_back(std::move(job)); });
        total += search.total();
    }
    std::mutex mutex;
    const Watch watch_on = [&](std::size_t done) { watch(n_answered + done); };
    parallel_for(jobs.size(), threads, watch_on, [&](std::size_t i, Worker& worker) {
        DualSearch search(problem, query_tree, norms, k, stop, answers,
                          [&](std::size_t n) { worker.advance(n); });
        const auto search_each = [&](Group&& group) { search.search_each(std::move(group)); };
        if (search.n_queries(jobs[i]) <= smallest_group) {
            search_each(std::move(jobs[i]));
        } else {
            search_groups(search, std::move(jobs[i]), smallest_group, search_each);
        }
        const std::lock_guard lock(mutex);
        total += search.total();
    });
    return total;
}

}  // namespace fastmks
