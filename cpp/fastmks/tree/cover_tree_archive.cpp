// Cover trees to arrays and back. Searches follow children and ranges, and take it for granted that
// every object is somewhere, so all of that is checked; none of them recurses.

#include "fastmks/core/archive.hpp"
#include "fastmks/tree/cover_tree.hpp"

namespace fastmks {
namespace {

template <class Tree, class Visit>
void describe(Tree& tree, Visit& visit) {
    visit.counts("counts", tree.build_evaluations);
    visit.figures("figures", tree.base);
    visit("nodes", tree.nodes);
    visit("parent_distance", tree.parent_distance);
    visit("order", tree.order);
    visit("norms", tree.norms);
    visit("leaf_distance", tree.leaf_distance);
}

bool has_lengths(const Node& node) {
    bool is_right = true;
    for (const double length :
         {node.point_norm, node.parent_radius, node.radius, node.least_norm, node.greatest_norm}) {
        is_right &= length >= 0.0;
    }
    return is_right;
}

// Whether a node's point, children and leaves fill its range one after the other. Children come
// after their parent, so that no path is endless, and `n_children` nodes are left for them.
bool is_nested(const Array<Node>& nodes, std::size_t at) {
    const Node& node = nodes[at];
    if (!(node.begin < node.leaves && node.leaves <= node.end)) return false;
    if (node.first_child <= at || node.first_child > nodes.size() ||
        node.n_children > nodes.size() - node.first_child) {
        return false;
    }
    const bool has_self_child = node.n_children > 0 && nodes[node.first_child].begin == node.begin;
    std::uint32_t begin = has_self_child ? node.begin : node.begin + 1;
    for (std::uint32_t i = 0; i < node.n_children; ++i) {
        const Node& child = nodes[node.first_child + i];
        if (child.begin != begin || child.end <= begin) return false;
        begin = child.end;
    }
    return begin == node.leaves;
}

void check_nodes(const Array<Node>& nodes, std::size_t n_objects) {
    check_array(!nodes.empty() && nodes[0].begin == 0 && nodes[0].end == n_objects, "nodes",
                "the root must hold every object");
    std::vector<bool> is_child(nodes.size());
    std::size_t n_children = 0;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        check_array(has_lengths(nodes[at]), "nodes",
                    "every length must be a number and not negative");
        check_array(is_nested(nodes, at), "nodes", "a node and its children do not fit together");
        for (std::uint32_t i = 0; i < nodes[at].n_children; ++i) {
            const std::size_t child = nodes[at].first_child + i;
            check_array(!is_child[child], "nodes", "a node is the child of two");
            is_child[child] = true;
            ++n_children;
        }
    }
    check_array(n_children + 1 == nodes.size(), "nodes", "a node is the child of none");
}

}  // namespace

Arrays arrays_of(const CoverTree& tree) {
    ArrayWriter writer;
    describe(tree, writer);
    return writer.take();
}

CoverTree restore_cover_tree(const Arrays& arrays, std::size_t n_objects) {
    CoverTree tree;
    const ArrayReader reader(arrays);
    describe(tree, reader);
    check_array(tree.base > 1.0 && tree.base <= std::numeric_limits<double>::max(), "figures",
                "the base must be greater than 1");
    ArrayReader::check_size("order", tree.order.size(), n_objects);
    ArrayReader::check_size("norms", tree.norms.size(), n_objects);
    ArrayReader::check_size("leaf_distance", tree.leaf_distance.size(), n_objects);
    ArrayReader::check_size("parent_distance", tree.parent_distance.size(), tree.nodes.size());
    check_any_lengths("norms", tree.norms);
    check_any_lengths("leaf_distance", tree.leaf_distance);
    check_lengths("parent_distance", tree.parent_distance);
    check_permutation("order", tree.order, n_objects);
    check_nodes(tree.nodes, n_objects);
    return tree;
}

}  // namespace fastmks
