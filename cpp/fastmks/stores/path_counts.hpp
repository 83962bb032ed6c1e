#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fastmks/core/parallel.hpp"

namespace fastmks {

/// Undirected graphs side by side, over arrays that the caller keeps alive. Graph g has the nodes
/// graphs[g] ... graphs[g + 1]; the neighbours of node v are neighbours[offsets[v] ...
/// offsets[v + 1]], of its own graph, none twice, and v among the neighbours of each of them.
struct GraphsView {
    const std::int64_t* graphs;
    std::size_t n_graphs;
    const std::int64_t* offsets;
    std::size_t n_nodes;
    const std::int32_t* neighbours;
    std::size_t n_neighbours;
    const std::int32_t* labels;  ///< of each node

    /// Throws std::invalid_argument where nodes or neighbours are not those of some graphs.
    void check() const;
};

/// How many pairs of two nodes of a graph have these labels and this distance.
struct PathCount {
    std::int64_t graph;
    std::int32_t low;  ///< the smaller label
    std::int32_t high;
    std::int32_t length;  ///< edges on a shortest path, at least 1
    std::int64_t count;
};

/// The counts of all graphs, those of a graph side by side; none is 0. Pairs that no path connects
/// do not count. Takes n_nodes (n_nodes + n_edges) steps a graph, and memory for its nodes and its
/// counts. `watch` gets the number of nodes done.
[[nodiscard]] std::vector<PathCount> count_paths(const GraphsView& view, const Watch& watch);

}  // namespace fastmks
