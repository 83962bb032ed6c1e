#pragma once

#include <cstdint>
#include <vector>

#include "fastmks/core/geometry.hpp"
#include "fastmks/tree/cover_tree.hpp"

namespace fastmks {

inline constexpr std::uint32_t none = 0xffffffff;

/// A node as construction leaves it: children and leaves in linked lists, sizes unknown, squares in
/// place of distances.
struct DraftNode {
    std::uint32_t point;
    std::int32_t level = 0;
    std::uint32_t first_child = none;  ///< a self-child comes first
    std::uint32_t last_child = none;
    std::uint32_t next_sibling = none;
    std::uint32_t first_leaf = none;  ///< an object; see Draft::next_leaf
    double parent_distance = 0.0;
    double parent_radius = 0.0;
    double radius = 0.0;
};

/// A finished construction, before objects are put in depth-first order.
struct Draft {
    std::vector<DraftNode> nodes;            ///< the root first, parents before children
    std::vector<std::uint32_t> next_leaf;    ///< by object
    std::vector<double> leaf_distance;       ///< squared, by object, for leaves
    const std::vector<double>& self_values;  ///< by object
    std::size_t n_dropped = 0;               ///< nodes that nothing leads to any more
};

/// Puts the objects in depth-first order, the children of each node side by side, and fills in what
/// depends on all the objects below a node.
[[nodiscard]] CoverTree lay_out(const Draft& draft, const Geometry& geometry);

}  // namespace fastmks
