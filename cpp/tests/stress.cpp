// Many threads search one snapshot of every structure, each search itself on two threads, while
// another thread builds new snapshots and swaps them in. Every answer must be the scan's. Meant for
// the thread sanitizer, and harmless without it.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "fastmks/filters/codes.hpp"
#include "fastmks/filters/pivot_search.hpp"
#include "fastmks/filters/postings.hpp"
#include "fastmks/tree/tree_search.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/testing.hpp"
#include "tests/support/trees.hpp"

namespace {

constexpr std::size_t n_objects = 600, n_columns = 6, n_queries = 20, k = 4;
constexpr std::size_t n_searchers = 6, n_engines = 4, n_threads = 2;

// A snapshot's structures are built, or restored from arrays that only they keep alive.
struct Snapshot {
    Snapshot(std::uint64_t seed, bool is_restored)
        : vectors(whole_numbers(n_objects, n_columns, seed)),
          asked(whole_numbers(n_queries, n_columns, seed + 1)),
          built(vectors),
          dense(space_of(vectors)),
          sparse(space_of(vectors, {}, StoreKind::sparse_f64)),
          dense_queries(space_of(asked)),
          sparse_queries(space_of(asked, {}, StoreKind::sparse_f64)) {
        std::vector<double> axes(3 * n_columns);
        for (std::size_t i = 0; i < 3; ++i) axes[i * n_columns + i] = 1.0;
        const auto projection = std::make_shared<AxisProjection>(
            ScoreKind::product, padded_rows(axes.data(), 3, n_columns), 3, n_columns,
            std::vector<double>{}, dense.isa());
        codes = std::make_unique<CodeTable>(dense, projection, n_threads, ignore);
        postings = std::make_unique<Postings>(sparse, ignore);
        const std::vector<std::int64_t> pivots{5, 77, 300};
        table = std::make_unique<PivotTable>(std::make_shared<PivotProjection>(dense, pivots),
                                             n_threads, ignore);
        if (is_restored) restore();
        truth = scanned(problem(), k);
    }

    void restore() {
        built.tree = restore_cover_tree(moved(arrays_of(built.tree)), n_objects);
        codes = std::make_unique<CodeTable>(dense, moved(codes->arrays()));
        postings = std::make_unique<Postings>(sparse, moved(postings->arrays()));
        const Arrays arrays = moved(table->arrays());
        const ArrayReader reader(arrays);
        table =
            std::make_unique<PivotTable>(std::make_shared<PivotProjection>(dense, reader), reader);
    }

    [[nodiscard]] ScanProblem problem() const {
        return {dense, dense_queries, Selection::range(0, n_objects)};
    }

    [[nodiscard]] Answer search(std::size_t engine) const {
        Answer found(dense_queries, k);
        double* const values = found.values.data();
        std::int64_t* const positions = found.positions.data();
        std::vector<double> gaps(n_queries);
        if (engine == 0) {
            const TreeProblem in_tree{built.tree, built.space, dense_queries, {}, false, {}};
            tree_top_k(in_tree, k, {}, {}, n_threads, ignore, {values, positions, gaps.data()});
        } else if (engine == 1) {
            codes_top_k(problem(), *codes, k, n_threads, ignore, values, positions);
        } else if (engine == 2) {
            const ScanProblem in_lists{sparse, sparse_queries, Selection::range(0, n_objects)};
            postings_top_k(in_lists, *postings, k, n_threads, ignore, values, positions);
        } else {
            pivots_top_k(problem(), *table, k, n_threads, ignore, values, positions);
        }
        return found;
    }

    Vectors vectors, asked;
    Built built;
    VectorSpace dense, sparse, dense_queries, sparse_queries;
    std::unique_ptr<CodeTable> codes;
    std::unique_ptr<Postings> postings;
    std::unique_ptr<PivotTable> table;
    Answer truth{dense_queries, k};
};

// The snapshot that searches pick up.
class Current {
public:
    explicit Current(std::shared_ptr<const Snapshot> first) : snapshot_(std::move(first)) {}
    [[nodiscard]] std::shared_ptr<const Snapshot> get() const {
        const std::lock_guard lock(mutex_);
        return snapshot_;
    }
    void set(std::shared_ptr<const Snapshot> next) {
        const std::lock_guard lock(mutex_);
        snapshot_.swap(next);
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace

int main(int n_arguments, char** arguments) {
    const auto n_snapshots =
        n_arguments > 1 ? std::strtoull(arguments[1], nullptr, 10) : std::uint64_t{200};
    Current current(std::make_shared<Snapshot>(1, false));
    std::atomic<bool> is_over{false};
    std::atomic<std::size_t> n_searches{0}, n_wrong{0};
    std::vector<std::thread> searchers;
    for (std::size_t i = 0; i < n_searchers; ++i) {
        searchers.emplace_back([&, i] {
            for (std::size_t round = i; !is_over; ++round) {
                const std::shared_ptr<const Snapshot> snapshot = current.get();
                const Answer found = snapshot->search(round % n_engines);
                if (!(found == snapshot->truth)) ++n_wrong;
                ++n_searches;
            }
        });
    }
    for (std::uint64_t seed = 2; seed < 2 + n_snapshots; ++seed) {
        current.set(std::make_shared<Snapshot>(seed, seed % 2 == 0));
    }
    is_over = true;
    for (std::thread& searcher : searchers) searcher.join();
    std::printf("%zu searches of %llu snapshots, %zu wrong\n", n_searches.load(),
                static_cast<unsigned long long>(n_snapshots + 1), n_wrong.load());
    return n_wrong == 0 && n_searches > 0 ? 0 : 1;
}
