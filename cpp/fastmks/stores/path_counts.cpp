#include "fastmks/stores/path_counts.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "fastmks/core/pulse.hpp"

namespace fastmks {
namespace {

// The counts of one graph, whose nodes are numbered from 0 here and whose labels are 0 ... L - 1
// in the order of the labels given.
class GraphCounter {
public:
    GraphCounter(const GraphsView& view, std::size_t graph)
        : view_(view),
          graph_(graph),
          first_(static_cast<std::size_t>(view.graphs[graph])),
          n_nodes_(static_cast<std::size_t>(view.graphs[graph + 1]) - first_),
          distances_(n_nodes_, -1),
          ranks_(n_nodes_) {
        names_.assign(view.labels + first_, view.labels + first_ + n_nodes_);
        std::sort(names_.begin(), names_.end());
        names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
        for (std::size_t v = 0; v < n_nodes_; ++v) {
            const auto at = std::lower_bound(names_.begin(), names_.end(), view.labels[first_ + v]);
            ranks_[v] = static_cast<std::size_t>(at - names_.begin());
        }
        by_length_.resize(names_.size());
        queue_.reserve(n_nodes_);
    }

    // Sources of one label after the other, so that only the counts of one label are kept at
    // a time. A pair of different labels is counted from its smaller label, one of equal labels
    // from its smaller node: each once.
    void count(std::vector<PathCount>& out, const Watch& watch) {
        std::vector<std::size_t> sources(n_nodes_);
        std::iota(sources.begin(), sources.end(), std::size_t{0});
        std::stable_sort(sources.begin(), sources.end(),
                         [&](std::size_t a, std::size_t b) { return ranks_[a] < ranks_[b]; });
        for (std::size_t i = 0; i < n_nodes_; ++i) {
            count_from(sources[i]);
            if (i + 1 == n_nodes_ || ranks_[sources[i + 1]] != ranks_[sources[i]]) {
                flush(ranks_[sources[i]], out);
            }
            watch(first_ + i + 1);
        }
    }

private:
    void count_from(std::size_t source) {
        walk(source);
        const std::size_t rank = ranks_[source];
        for (const std::size_t v : queue_) {
            const auto length = static_cast<std::size_t>(distances_[v]);
            distances_[v] = -1;
            if (ranks_[v] < rank || (ranks_[v] == rank && v <= source)) continue;
            auto& counts = by_length_[ranks_[v]];
            if (counts.size() <= length) counts.resize(length + 1);
            ++counts[length];
        }
    }

    // Puts all nodes that a path leads to into the queue, nearest first.
    void walk(std::size_t source) {
        queue_.assign(1, source);
        distances_[source] = 0;
        for (std::size_t done = 0; done < queue_.size(); ++done) {
            const std::size_t v = queue_[done];
            pulse_sometimes();
            const auto begin = static_cast<std::size_t>(view_.offsets[first_ + v]);
            const auto end = static_cast<std::size_t>(view_.offsets[first_ + v + 1]);
            for (std::size_t e = begin; e < end; ++e) {
                const std::size_t w = static_cast<std::size_t>(view_.neighbours[e]) - first_;
                if (distances_[w] >= 0) continue;
                distances_[w] = distances_[v] + 1;
                queue_.push_back(w);
            }
        }
    }

    void flush(std::size_t rank, std::vector<PathCount>& out) {
        for (std::size_t other = rank; other < by_length_.size(); ++other) {
            auto& counts = by_length_[other];
            for (std::size_t length = 0; length < counts.size(); ++length) {
                if (counts[length] == 0) continue;
                out.push_back({static_cast<std::int64_t>(graph_), names_[rank], names_[other],
                               static_cast<std::int32_t>(length), counts[length]});
            }
            counts.clear();
        }
    }

    const GraphsView& view_;
    std::size_t graph_;
    std::size_t first_;  // node of the graph
    std::size_t n_nodes_;
    std::vector<std::int32_t> names_;      // the different labels, increasing
    std::vector<std::int32_t> distances_;  // -1 where a walk has not been
    std::vector<std::size_t> ranks_;       // of each node's label among them
    std::vector<std::size_t> queue_;
    std::vector<std::vector<std::int64_t>> by_length_;  // for each label of the other node
};

void require(bool holds, const char* rule) {
    if (!holds) throw std::invalid_argument(rule);
}

}  // namespace

void GraphsView::check() const {
    require(graphs[0] == 0 && static_cast<std::size_t>(graphs[n_graphs]) == n_nodes,
            "graphs must run from 0 to the number of nodes");
    require(offsets[0] == 0 && static_cast<std::size_t>(offsets[n_nodes]) == n_neighbours,
            "offsets must run from 0 to the number of neighbours");
    for (std::size_t g = 0; g < n_graphs; ++g) {
        require(graphs[g] <= graphs[g + 1] && static_cast<std::size_t>(graphs[g + 1]) <= n_nodes,
                "graphs must not decrease");
    }
    for (std::size_t v = 0; v < n_nodes; ++v) {
        require(offsets[v] <= offsets[v + 1] &&
                    static_cast<std::size_t>(offsets[v + 1]) <= n_neighbours,
                "offsets must not decrease");
    }
    for (std::size_t g = 0; g < n_graphs; ++g) {
        for (std::int64_t e = offsets[graphs[g]]; e < offsets[graphs[g + 1]]; ++e) {
            require(neighbours[e] >= graphs[g] && neighbours[e] < graphs[g + 1],
                    "neighbours must be nodes of the same graph");
        }
    }
}

std::vector<PathCount> count_paths(const GraphsView& view, const Watch& watch) {
    view.check();
    std::vector<PathCount> counts;
    for (std::size_t g = 0; g < view.n_graphs; ++g) GraphCounter(view, g).count(counts, watch);
    return counts;
}

}  // namespace fastmks
