#include <algorithm>

#include "fastmks/tree/cover_tree_draft.hpp"

namespace fastmks {
namespace {

template <class Visit>
void for_each_child(const Draft& draft, std::uint32_t node, Visit visit) {
    for (auto child = draft.nodes[node].first_child; child != none;
         child = draft.nodes[child].next_sibling) {
        visit(child);
    }
}

template <class Visit>
void for_each_leaf(const Draft& draft, std::uint32_t node, Visit visit) {
    for (auto leaf = draft.nodes[node].first_leaf; leaf != none; leaf = draft.next_leaf[leaf]) {
        visit(leaf);
    }
}

bool has_self_child(const Draft& draft, std::uint32_t node) {
    const auto first = draft.nodes[node].first_child;
    return first != none && draft.nodes[first].point == draft.nodes[node].point;
}

// Objects below each node, its point included.
std::vector<std::uint32_t> count_objects(const Draft& draft) {
    std::vector<std::uint32_t> counts(draft.nodes.size());
    for (std::size_t at = draft.nodes.size(); at-- > 0;) {  // children come after their parents
        const auto node = static_cast<std::uint32_t>(at);
        std::uint32_t count = has_self_child(draft, node) ? 0 : 1;
        for_each_child(draft, node, [&](std::uint32_t child) { count += counts[child]; });
        for_each_leaf(draft, node, [&](std::uint32_t) { ++count; });
        counts[node] = count;
    }
    return counts;
}

double root_above(double square) {
    return std::sqrt(square) * Geometry::up;
}

class Layout {
public:
    Layout(const Draft& draft, const Geometry& geometry)
        : draft_(draft), geometry_(geometry), counts_(count_objects(draft)) {
        const std::size_t n = draft.next_leaf.size();
        nodes_.reserve(draft.nodes.size() - draft.n_dropped);
        parent_distance_.reserve(draft.nodes.size() - draft.n_dropped);
        order_.resize(n);
        norms_.resize(n);
        leaf_distance_.resize(n);
    }

    CoverTree run() {
        place(0, 0);
        draft_of_.push_back(0);
        // Depth first, so that what lies below a node is close by; the children of each node are
        // numbered when the node is visited.
        std::vector<std::uint32_t> open{0};
        while (!open.empty()) {
            const std::uint32_t node = open.back();
            open.pop_back();
            visit(node);
            for (std::uint32_t i = nodes_[node].n_children; i-- > 0;) {
                open.push_back(nodes_[node].first_child + i);
            }
        }
        fill_norms();
        CoverTree tree;
        tree.nodes = Array(std::move(nodes_));
        tree.parent_distance = Array(std::move(parent_distance_));
        tree.order = Array(std::move(order_));
        tree.norms = Array(std::move(norms_));
        tree.leaf_distance = Array(std::move(leaf_distance_));
        return tree;
    }

private:
    void place(std::uint32_t drafted, std::uint32_t begin) {
        const DraftNode& from = draft_.nodes[drafted];
        Node node{};
        node.begin = begin;
        node.end = begin + counts_[drafted];
        node.level = from.level;
        node.point_norm = geometry_.norm_above(draft_.self_values[from.point]);
        parent_distance_.push_back(root_above(from.parent_distance));
        node.parent_radius = root_above(from.parent_radius);
        node.radius = root_above(from.radius);
        nodes_.push_back(node);
    }

    // Numbers the children of a node and places its point and leaves.
    void visit(std::uint32_t at) {
        const std::uint32_t drafted = draft_of_[at];
        Node node = nodes_[at];
        node.first_child = static_cast<std::uint32_t>(nodes_.size());
        std::uint32_t begin = node.begin;
        if (!has_self_child(draft_, drafted)) put(draft_.nodes[drafted].point, begin++);
        for_each_child(draft_, drafted, [&](std::uint32_t child) {
            place(child, begin);
            draft_of_.push_back(child);
            begin += counts_[child];
            ++node.n_children;
        });
        node.leaves = begin;
        for_each_leaf(draft_, drafted, [&](std::uint32_t leaf) {
            leaf_distance_[begin] = root_above(draft_.leaf_distance[leaf]);
            put(leaf, begin++);
        });
        nodes_[at] = node;
    }

    void put(std::uint32_t object, std::uint32_t place) {
        order_[place] = object;
        norms_[place] = geometry_.norm_above(draft_.self_values[object]);
    }

    // Children come after their parents, so backwards each node finds its children filled in.
    void fill_norms() {
        for (std::size_t at = nodes_.size(); at-- > 0;) {
            Node& node = nodes_[at];
            node.least_norm = HUGE_VAL;
            node.greatest_norm = 0.0;
            const auto add = [&](double least, double greatest) {
                node.least_norm = std::min(node.least_norm, least);
                node.greatest_norm = std::max(node.greatest_norm, greatest);
            };
            const auto add_object = [&](std::uint32_t place) {
                const auto object = static_cast<std::size_t>(order_[place]);
                add(geometry_.norm_below(draft_.self_values[object]), norms_[place]);
            };
            add_object(node.begin);
            for (std::uint32_t i = 0; i < node.n_children; ++i) {
                const Node& child = nodes_[node.first_child + i];
                add(child.least_norm, child.greatest_norm);
            }
            for (std::uint32_t place = node.leaves; place < node.end; ++place) add_object(place);
        }
    }

    const Draft& draft_;
    const Geometry& geometry_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> draft_of_;  // by node
    std::vector<Node> nodes_;
    std::vector<double> parent_distance_;
    std::vector<std::int64_t> order_;
    std::vector<double> norms_;
    std::vector<double> leaf_distance_;
};

}  // namespace

CoverTree lay_out(const Draft& draft, const Geometry& geometry) {
    return Layout(draft, geometry).run();
}

}  // namespace fastmks
