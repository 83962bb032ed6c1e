#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fastmks/core/archive.hpp"
#include "fastmks/core/array.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/space.hpp"

namespace fastmks {

/// Below this, the levels of the float64 range no longer fit in 32 bits.
inline constexpr double smallest_base = 1.000001;

/// A node of the explicit representation: a point and the objects below it. Every figure errs on
/// the side that keeps a bound true. In files: 64 bytes, the members in this order.
struct Node {
    std::uint32_t begin;        ///< the objects below are [begin, end); the point is `begin`
    std::uint32_t end;          //
    std::uint32_t leaves;       ///< [leaves, end) are children without children of their own
    std::uint32_t first_child;  ///< nodes [first_child, first_child + n_children) are the others
    std::uint32_t n_children;   //
    std::int32_t level;         ///< every child's point is within base^level of the point
    double point_norm;          ///< at least sqrt(K(p, p)) of the point
    double parent_radius;  ///< at least the distance from the parent's point to any object below
    double radius;         ///< ... from the point to any object below (lambda in the paper)
    double least_norm;     ///< at most sqrt(K(x, x)) of any object below
    double greatest_norm;  ///< at least that
};
static_assert(sizeof(Node) == 64 && offsetof(Node, level) == 20 &&
              offsetof(Node, point_norm) == 24 && offsetof(Node, greatest_norm) == 56);

/// A cover tree in the kernel's Hilbert space, built from kernel values alone. Frozen once built.
/// Positions in it are places in depth-first order: `order[place]` is the object's position in the
/// space it was built from, and searches need a space whose objects have been put in that order.
///
/// A child whose point is its parent's (the self-child of the paper) begins where its parent
/// begins and comes first. An object without anything below it is no Node: it is a place in some
/// node's range of leaves, or a node's own point.
struct CoverTree {
    double base = 1.3;
    Array<Node> nodes;              ///< the root first; children of a node side by side
    Array<double> parent_distance;  ///< at least that from the parent's point, by node
    Array<std::int64_t> order;      ///< by place
    Array<double> norms;            ///< at least sqrt(K(x, x)), by place
    Array<double> leaf_distance;    ///< at least the distance from the parent's point, of leaves
    std::size_t build_evaluations = 0;  ///< of K(x, y)
    /// Of K(x, x), once per object where it is not known. Not in files.
    std::size_t build_self_evaluations = 0;

    [[nodiscard]] std::size_t size() const noexcept { return order.size(); }
};

/// Builds the tree of all objects. The same space and base always give the same tree, whatever the
/// threads. Objects whose K(x, x) is too large for distances are leaves of the root. Progress is
/// counted in objects placed. Throws std::invalid_argument for a base not above 1 or more than
/// 2^32 - 2 objects, NotMercerFault for values no Mercer kernel has.
[[nodiscard]] CoverTree build_cover_tree(const Space& space, double base, std::size_t threads,
                                         const Watch& watch);

/// The parts of a tree; they last as long as it does.
[[nodiscard]] Arrays arrays_of(const CoverTree& tree);

/// The tree of n objects with these parts. Throws std::invalid_argument for parts that are no tree.
[[nodiscard]] CoverTree restore_cover_tree(const Arrays& arrays, std::size_t n_objects);

/// The fault of a tree over `space`, whose objects are in the tree's order; empty for none. It
/// checks: every object once, ranges nested, each child within base^level of its parent
/// (covering), points of one level further apart than its children's base^level (separation, up to
/// the rounding of the distances), and every figure of every node on its safe side. Evaluates
/// every node against every object below it. Progress is counted in objects.
[[nodiscard]] std::string find_fault(const CoverTree& tree, const Space& space, const Watch& watch);

/// The fault of the parts that bounds rely on: ranges and figures. Covering and separation are not
/// checked: the cost of searches depends on them, no answer does, and separation takes an
/// evaluation for each pair of children.
[[nodiscard]] std::string find_false_figure(const CoverTree& tree, const Space& space,
                                            const Watch& watch);

}  // namespace fastmks
