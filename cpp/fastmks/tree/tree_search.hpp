#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fastmks/core/answers.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/space.hpp"
#include "fastmks/core/stop_rule.hpp"
#include "fastmks/core/top_k.hpp"
#include "fastmks/tree/bound.hpp"
#include "fastmks/tree/cover_tree.hpp"

namespace fastmks {

/// The cost of a search.
struct TreeCounts {
    std::size_t evaluations = 0;       ///< of K(query, object)
    std::size_t self_evaluations = 0;  ///< of K(query, query)
    std::size_t bounds = 0;            ///< upper bounds computed
    std::size_t nodes = 0;             ///< nodes visited
    /// Subtrees and single objects pruned before their point was evaluated (by the parent's
    /// value), and after, by the bound that did it.
    std::array<std::size_t, n_bound_kinds> pruned_before{};
    std::array<std::size_t, n_bound_kinds> pruned_after{};

    TreeCounts& operator+=(const TreeCounts& other) noexcept;
};

/// In which order a search visits nodes.
enum class Order {
    best_first,  ///< the node with the greatest bound next: the fewest evaluations
    level,       ///< all nodes of a level at once (the paper's Algorithm 1): the largest blocks
};

/// The order and the bounds of a search. No setting changes an exact answer.
struct Traversal {
    Order order = Order::best_first;
    /// Subtrees of at most this many objects are evaluated whole. With 1, objects are evaluated one
    /// at a time and only when their turn comes, which needs the fewest evaluations.
    std::size_t block = 1;
    /// This many objects are evaluated in less time than the shell bound takes: it is not tried.
    std::size_t cheap = 0;
    BoundKinds bounds;
};

/// Some places, increasing; all of them when there is no list.
using PlaceList = std::optional<std::span<const std::int64_t>>;

/// Every query of one space against the objects of a tree.
struct TreeProblem {
    const CoverTree& tree;
    const Space& objects;  ///< in the tree's order
    const Space& queries;  ///< with the same kernel
    PlaceList among;       ///< places to search
    /// Query i is the object at place i and no answer to itself; its answer is row order[i].
    bool skip_self = false;
    Traversal traversal;
    /// As in `ScanProblem`, one per query; for searches by one tree.
    const double* floors = nullptr;
};

/// Draws for every query the places among which it is searched, for rank-approximate search.
struct RankSample {
    std::size_t size = 0;  ///< draws per query, without replacement; 0 for none
    std::uint64_t seed = 0;
};

/// The k best objects for each query; positions are in the order that the tree was built from.
/// Progress is counted in queries.
TreeCounts tree_top_k(const TreeProblem& problem, std::size_t k, const StopRule& stop,
                      RankSample sample, std::size_t threads, const Watch& watch,
                      TopKAnswers answers);

/// The k best objects for each query, by a tree of the queries as well: `problem.queries` are in
/// the order of `query_tree`, and answer i is that of the query number query_tree.order[i]. For
/// skip_self it is the objects' own tree. Only epsilon and relative of `stop` are used.
TreeCounts dual_tree_top_k(const TreeProblem& problem, const CoverTree& query_tree, std::size_t k,
                           const StopRule& stop, std::size_t threads, const Watch& watch,
                           TopKAnswers answers);

/// For each query, every object with K >= its threshold, in the order of answers.
TreeCounts tree_above(const TreeProblem& problem, const double* thresholds, std::size_t threads,
                      const Watch& watch, std::vector<std::vector<Hit>>& answers);

}  // namespace fastmks
