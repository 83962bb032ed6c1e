#include <algorithm>
#include <cmath>
#include <sstream>

#include "fastmks/core/geometry.hpp"
#include "fastmks/tree/cover_tree.hpp"

namespace fastmks {
namespace {

// Looks for what is wrong; every message is thrown as a Fault and caught once.
struct Fault {
    std::string message;
};

template <class... Parts>
void require(bool holds, const Parts&... parts) {
    if (holds) return;
    std::ostringstream message;
    (message << ... << parts);
    throw Fault{message.str()};
}

class Checker {
public:
    // Checks every figure; and whether it is a cover tree, where `with_shape`.
    Checker(const CoverTree& tree, const Space& space, const Watch& watch, bool with_shape)
        : tree_(tree),
          space_(space),
          geometry_(space.rounding()),
          watch_(watch),
          with_shape_(with_shape) {}

    // The first fault; empty for none.
    [[nodiscard]] std::string find() {
        try {
            run();
        } catch (const Fault& fault) {
            return fault.message;
        }
        return {};
    }

private:
    void run() {
        const std::size_t n = space_.size();
        require(tree_.parent_distance.size() == tree_.nodes.size(), "one parent distance per node");
        require(tree_.size() == n && tree_.norms.size() == n && tree_.leaf_distance.size() == n,
                "the tree holds ", tree_.size(), " objects, the space ", n);
        check_order();
        for (std::size_t i = 0; i < n; ++i) {
            const double self = space_.self_value(i);
            self_.push_back(self <= Geometry::largest_self_value ? self : HUGE_VAL);
        }
        require(!tree_.nodes.empty() && tree_.nodes[0].begin == 0 && tree_.nodes[0].end == n,
                "the root must hold every object");
        seen_.assign(tree_.nodes.size(), 0);
        for (std::size_t at = 0; at < tree_.nodes.size(); ++at) {
            done_ = at * n / tree_.nodes.size();
            check_node(at);
            watch_(done_);
        }
        const auto n_seen = std::count(seen_.begin(), seen_.end(), 1);
        require(static_cast<std::size_t>(n_seen) + 1 == tree_.nodes.size(),
                "some node is the child of none, or of several");
    }

    void check_order() const {
        std::vector<char> seen(tree_.size(), 0);
        for (const std::int64_t position : tree_.order) {
            const auto at = static_cast<std::size_t>(position);
            require(position >= 0 && at < seen.size() && !seen[at], "object ", position,
                    " must be in the order exactly once");
            seen[at] = 1;
        }
    }

    void check_node(std::size_t at) {
        const Node& node = tree_.nodes[at];
        require(node.begin < node.leaves && node.leaves <= node.end && node.end <= tree_.size(),
                "node ", at, ": ranges are not nested");
        const std::size_t n_below = node.end - node.begin;
        distances_.resize(n_below);
        values_.resize(n_below);
        space_.evaluate(*space_.batch(node.begin, node.begin + 1),
                        Selection::range(node.begin, node.end), values_.data(), n_below);
        for (std::size_t i = 0; i < n_below; ++i) {
            const std::size_t place = node.begin + i;
            require(std::isfinite(values_[i]) || std::isinf(self_[node.begin] + self_[place]),
                    "node ", at, ": its point and object ", place, " have the value ", values_[i]);
            distances_[i] = distance(node.begin, place, values_[i]);
        }
        check_figures(at, node);
        std::uint32_t begin = node.begin;
        for (std::uint32_t i = 0; i < node.n_children; ++i) {
            const std::uint32_t child = node.first_child + i;
            require(child > at && child < tree_.nodes.size(), "node ", at, ": no child ", child);
            require(i > 0 || tree_.nodes[child].begin == node.begin ||
                        tree_.nodes[child].begin == node.begin + 1,
                    "node ", at, ": its point must come first");
            if (i == 0) begin = tree_.nodes[child].begin;
            check_child(at, node, child, begin);
            begin = tree_.nodes[child].end;
            seen_[child] += 1;
        }
        if (node.n_children == 0) begin = node.begin + 1;
        require(begin == node.leaves, "node ", at, ": children and leaves leave a hole");
        const bool is_idle = node.n_children == 1 && node.leaves == node.end &&
                             tree_.nodes[node.first_child].begin == node.begin;
        require(n_below == 1 || (!is_idle && n_below > 1), "node ", at, " has no child but itself");
        check_leaves(at, node);
        if (with_shape_) check_shape(at, node);
    }

    void check_figures(std::size_t at, const Node& node) const {
        // Shells take these norms for the true ones: too great is as wrong as too small.
        require(node.point_norm == geometry_.norm_above(self_[node.begin]), "node ", at,
                ": the norm of its point is not ", node.point_norm);
        for (std::size_t i = 0; i < distances_.size(); ++i) {
            const std::size_t place = node.begin + i;
            const double least = geometry_.norm_below(self_[place]);
            const double greatest = geometry_.norm_above(self_[place]);
            require(!(above(node.begin, place, distances_[i]) > node.radius), "node ", at,
                    ": object ", place, " at ", distances_[i], " is outside the radius ",
                    node.radius);
            require(node.least_norm <= least && greatest <= node.greatest_norm &&
                        greatest == tree_.norms[place],
                    "node ", at, ": the norm of object ", place,
                    " is outside the limits, or not the one stored");
        }
    }

    void check_child(std::size_t at, const Node& node, std::uint32_t index, std::uint32_t begin) {
        const Node& child = tree_.nodes[index];
        require(child.begin == begin && child.end <= node.leaves && child.end > child.begin,
                "node ", at, ": child ", index, " is not where the one before it ends");
        const double away = distances_[child.begin - node.begin];
        require(!(above(node.begin, child.begin, away) > tree_.parent_distance[index]), "node ", at,
                ": child ", index, " at ", away, " is further away than its parent distance ",
                tree_.parent_distance[index]);
        for (std::uint32_t place = child.begin; place < child.end; ++place) {
            require(
                !(above(node.begin, place, distances_[place - node.begin]) > child.parent_radius),
                "node ", at, ": object ", place, " is outside the parent radius of child ", index);
        }
    }

    void check_leaves(std::size_t at, const Node& node) const {
        for (std::uint32_t place = node.leaves; place < node.end; ++place) {
            const double away = distances_[place - node.begin];
            require(!(above(node.begin, place, away) > tree_.leaf_distance[place]), "node ", at,
                    ": leaf ", place, " at ", away, " is further away than ",
                    tree_.leaf_distance[place]);
        }
    }

    // Children are covered and on lower levels. The point, the points of the children and the
    // leaves are further apart than the reach of the level below, unless all lie at distance zero.
    void check_shape(std::size_t at, const Node& node) {
        const double reach = std::pow(tree_.base, node.level) * Geometry::up;
        for (std::uint32_t i = 0; i < node.n_children; ++i) {
            const std::uint32_t index = node.first_child + i;
            const Node& child = tree_.nodes[index];
            const double away = distances_[child.begin - node.begin];
            require(!(away > reach), "node ", at, ": child ", index, " at ", away,
                    " is not covered at level ", node.level);
            require(child.level < node.level || child.n_children == 0, "node ", at, ": child ",
                    index, " is not on a lower level");
        }
        for (std::uint32_t place = node.leaves; place < node.end; ++place) {
            require(!(distances_[place - node.begin] > reach), "node ", at, ": leaf ", place,
                    " is not covered");
        }
        check_separation(at, node);
    }

    void check_separation(std::size_t at, const Node& node) {
        if (!(*std::max_element(distances_.begin(), distances_.end()) > 0.0)) return;
        std::vector<std::int64_t> places{node.begin};
        for (std::uint32_t i = 0; i < node.n_children; ++i) {
            const Node& child = tree_.nodes[node.first_child + i];
            if (child.begin != node.begin) places.push_back(child.begin);
        }
        for (std::uint32_t place = node.leaves; place < node.end; ++place) places.push_back(place);
        const double reach = std::pow(tree_.base, node.level - 1);
        std::vector<double> values(places.size());
        for (const std::int64_t a : places) {
            const auto p = static_cast<std::size_t>(a);
            watch_(done_);
            space_.evaluate(*space_.batch(p, p + 1), Selection::list(places.data(), places.size()),
                            values.data(), values.size());
            for (std::size_t i = 0; i < places.size(); ++i) {
                const auto b = static_cast<std::size_t>(places[i]);
                if (b == p) continue;
                const double slack = 4.0 * std::sqrt(geometry_.square_slack(self_[p], self_[b]));
                require(!(distance(p, b, values[i]) + slack < reach), "node ", at, ": objects ", p,
                        " and ", b, " are closer than its children may be");
            }
        }
    }

    // Computed; 0 where it cannot be told from 0.
    [[nodiscard]] double distance(std::size_t a, std::size_t b, double value) const {
        const double square = self_[a] + self_[b] - 2.0 * value;
        const bool is_zero = a == b || !(square > geometry_.square_slack(self_[a], self_[b]));
        return is_zero ? 0.0 : std::sqrt(square);
    }

    // The least value allowed for a stored distance between two different objects.
    [[nodiscard]] double above(std::size_t a, std::size_t b, double distance) const {
        if (a == b) return 0.0;
        return std::sqrt(geometry_.square_above(self_[a], self_[b], distance));
    }

    const CoverTree& tree_;
    const Space& space_;
    Geometry geometry_;
    const Watch& watch_;
    bool with_shape_;
    std::size_t done_ = 0;  // objects
    std::vector<double> self_;
    std::vector<double> distances_;  // from the node's point to the objects below
    std::vector<double> values_;
    std::vector<char> seen_;
};

}  // namespace

std::string find_fault(const CoverTree& tree, const Space& space, const Watch& watch) {
    return Checker(tree, space, watch, true).find();
}

std::string find_false_figure(const CoverTree& tree, const Space& space, const Watch& watch) {
    return Checker(tree, space, watch, false).find();
}

}  // namespace fastmks
