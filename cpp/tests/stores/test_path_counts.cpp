// Counts of shortest paths, against distances found by relaxing every edge again and again.

#include "fastmks/stores/path_counts.hpp"

#include <array>
#include <map>

#include "tests/support/testing.hpp"

namespace {

struct Graphs {
    std::vector<std::int64_t> graphs{0};
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> neighbours;
    std::vector<std::int32_t> labels;

    // Adds a graph of n nodes in which each pair of nodes has an edge once in `rarity` draws.
    void add(std::size_t n, std::size_t n_labels, std::size_t rarity, Draw& draw) {
        const std::size_t first = labels.size();
        std::vector<std::vector<bool>> has(n, std::vector<bool>(n));
        for (std::size_t v = 0; v < n; ++v) {
            for (std::size_t w = 0; w < v; ++w) has[v][w] = has[w][v] = draw.below(rarity) == 0;
        }
        for (std::size_t v = 0; v < n; ++v) {
            for (std::size_t w = 0; w < n; ++w) {
                if (has[v][w]) neighbours.push_back(static_cast<std::int32_t>(first + w));
            }
            offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
            labels.push_back(static_cast<std::int32_t>(5 * draw.below(n_labels)));
        }
        graphs.push_back(static_cast<std::int64_t>(labels.size()));
    }

    [[nodiscard]] GraphsView view() const {
        return {graphs.data(),     graphs.size() - 1, offsets.data(), labels.size(),
                neighbours.data(), neighbours.size(), labels.data()};
    }
};

using Key = std::array<std::int64_t, 4>;  // graph, low, high, length

std::map<Key, std::int64_t> count_slowly(const Graphs& all) {
    std::map<Key, std::int64_t> counts;
    for (std::size_t g = 0; g + 1 < all.graphs.size(); ++g) {
        const auto first = static_cast<std::size_t>(all.graphs[g]);
        const auto n = static_cast<std::size_t>(all.graphs[g + 1]) - first;
        std::vector<std::vector<std::int64_t>> far(n, std::vector<std::int64_t>(n, 1000000));
        for (std::size_t v = 0; v < n; ++v) {
            far[v][v] = 0;
            const auto begin = static_cast<std::size_t>(all.offsets[first + v]);
            const auto end = static_cast<std::size_t>(all.offsets[first + v + 1]);
            for (std::size_t e = begin; e < end; ++e) {
                far[v][static_cast<std::size_t>(all.neighbours[e]) - first] = 1;
            }
        }
        for (std::size_t via = 0; via < n; ++via) {
            for (auto& row : far) {
                for (std::size_t w = 0; w < n; ++w) {
                    row[w] = std::min(row[w], row[via] + far[via][w]);
                }
            }
        }
        for (std::size_t v = 0; v < n; ++v) {
            for (std::size_t w = 0; w < v; ++w) {
                if (far[v][w] >= 1000000) continue;
                const auto [low, high] = std::minmax(all.labels[first + v], all.labels[first + w]);
                ++counts[{static_cast<std::int64_t>(g), low, high, far[v][w]}];
            }
        }
    }
    return counts;
}

bool is_refused(const Graphs& all) {
    return check::caught<std::invalid_argument>([&] { return count_paths(all.view(), ignore); })
        .has_value();
}

}  // namespace

TEST(paths_are_counted_once_for_each_pair) {
    Draw draw(3);
    for (const std::size_t n_labels : {1, 3, 50}) {
        for (const std::size_t rarity : {1, 3, 10, 1000}) {
            Graphs all;
            for (const std::size_t n : {0, 1, 2, 7, 30, 0, 13}) all.add(n, n_labels, rarity, draw);
            std::map<Key, std::int64_t> counts;
            for (const PathCount& one : count_paths(all.view(), ignore)) {
                const Key key{one.graph, one.low, one.high, one.length};
                CHECK(counts.emplace(key, one.count).second);
            }
            CHECK(counts == count_slowly(all));
        }
    }
}

TEST(no_graphs_have_no_paths) {
    CHECK(count_paths(Graphs{}.view(), ignore).empty());
}

TEST(a_watch_can_stop_the_counting) {
    Draw draw(4);
    Graphs all;
    all.add(20, 2, 3, draw);
    std::size_t done = 0;
    const Watch watch = [&](std::size_t work_done) {
        done = work_done;
        if (done == 5) throw std::runtime_error("enough");
    };
    CHECK_THROWS(std::runtime_error, count_paths(all.view(), watch));
    CHECK(done == 5);
}

TEST(what_are_no_graphs_is_refused) {
    Draw draw(5);
    Graphs sound;
    for (const std::size_t n : {4, 5}) sound.add(n, 2, 1, draw);
    CHECK(!is_refused(sound));
    for (const int fault : {0, 1, 2, 3, 4}) {
        Graphs all = sound;
        if (fault == 0) all.neighbours[0] = 4;  // of the other graph
        if (fault == 1) all.neighbours[0] = -1;
        if (fault == 2) all.offsets[1] = 100;
        if (fault == 3) all.graphs[1] = 10;
        if (fault == 4) all.graphs[2] = 8;
        CHECK(is_refused(all));
    }
}
