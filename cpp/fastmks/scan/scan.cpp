#include "fastmks/scan/scan.hpp"

#include <algorithm>
#include <cmath>

#include "fastmks/scan/block_size.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

// A batch of queries shares each block of objects while it is in cache. It keeps at most about this
// many hits.
constexpr std::size_t most_hits = std::size_t{1} << 21;

struct Slice {
    std::size_t begin;
    std::size_t end;
};

// Tasks are batches of queries; where these are too few for the threads, each is split
// into ranges of objects as well, and `n_ranges` answers per query are merged at the end.
struct Grid {
    Grid(const ScanProblem& problem, std::size_t hits_per_query, std::size_t threads)
        : n_queries(problem.queries.size()), n_objects(problem.among.size) {
        batch_size = std::clamp<std::size_t>(most_hits / hits_per_query, 1, largest_batch);
        n_batches = (n_queries + batch_size - 1) / batch_size;
        const std::size_t wanted = threads > 1 ? 4 * threads : 1;
        if (n_batches > 0 && n_batches < wanted) {
            // Each range finds hits_per_query of its own: one is worth it only with many more
            // objects.
            const std::size_t least = std::max(largest_block, 8 * hits_per_query);
            n_ranges = std::clamp<std::size_t>(n_objects / least, 1, wanted / n_batches);
        }
    }
    [[nodiscard]] std::size_t n_tasks() const noexcept { return n_batches * n_ranges; }
    [[nodiscard]] Slice queries_of(std::size_t task) const noexcept {
        const std::size_t begin = task / n_ranges * batch_size;
        return {begin, std::min(begin + batch_size, n_queries)};
    }
    [[nodiscard]] Slice objects_of(std::size_t task) const noexcept {
        const std::size_t range = task % n_ranges;
        return {n_objects * range / n_ranges, n_objects * (range + 1) / n_ranges};
    }

    std::size_t n_queries;
    std::size_t n_objects;
    std::size_t batch_size;
    std::size_t n_batches = 0;
    std::size_t n_ranges = 1;
};

// The values of one query and a block of objects.
struct Row {
    std::size_t query;   // position in the space of queries
    std::size_t column;  // of the first value, counted in `among`
    Selection block;
    const double* values;
};

// Where objects of a selection, whose positions increase, are those of some queries themselves.
Slice selves(const Selection& among, const Slice& queries) {
    const auto find = [&](std::size_t position) -> std::size_t {
        if (!among.positions) return std::clamp(position, among.begin, among.begin + among.size);
        const auto* const end = among.positions + among.size;
        const auto wanted = static_cast<std::int64_t>(position);
        return static_cast<std::size_t>(std::lower_bound(among.positions, end, wanted) -
                                        among.positions);
    };
    const std::size_t first = among.positions ? 0 : among.begin;
    return {find(queries.begin) - first, find(queries.end) - first};
}

// Calls visit(row) for every query and block of one task.
template <class Visit>
void for_each_row(const ScanProblem& problem, const Grid& grid, std::size_t task, Worker& worker,
                  Visit visit) {
    const Slice queries = grid.queries_of(task);
    const Slice objects = grid.objects_of(task);
    const auto batch = problem.queries.batch(queries.begin, queries.end);
    std::vector<double> values(batch->size * std::min(largest_block, objects.end - objects.begin));
    // A query that is an object is not compared with itself: blocks with such objects go by query.
    const Slice own = problem.skip_self ? selves(problem.among, queries) : Slice{0, 0};
    std::unique_ptr<QueryBatch> single;
    BlockSize block_size(problem.objects);
    for (std::size_t begin = objects.begin; begin < objects.end;) {
        std::size_t end = std::min(begin + block_size.next(), objects.end);
        for (const std::size_t edge : {own.begin, own.end}) {
            if (begin < edge) end = std::min(end, edge);
        }
        const Selection block = problem.among.part(begin, end);
        const bool has_selves = begin >= own.begin && end <= own.end;
        if (!has_selves) problem.objects.values(*batch, block, values.data());
        for (std::size_t i = 0; has_selves && i < batch->size; ++i) {
            problem.queries.refill(single, queries.begin + i);
            double* const row = values.data() + i * block.size;
            problem.objects.evaluate_others(*single, queries.begin + i, 0.0, block, row);
            problem.objects.check_values(*single, block, row);
        }
        for (std::size_t i = 0; i < batch->size; ++i) {
            visit(Row{queries.begin + i, begin, block, values.data() + i * block.size});
        }
        worker.advance(batch->size * block.size);
        begin = end;
    }
}

// Offers the hits of one row, skipping chunks where none is above the threshold.
void offer_row(const ScanProblem& problem, const VectorLoops& loops, const Row& row,
               std::size_t skip, Reservoir& best) {
    constexpr std::size_t chunk = 64;
    for (std::size_t begin = 0; begin < row.block.size; begin += chunk) {
        const std::size_t end = std::min(begin + chunk, row.block.size);
        // Where names increase along the scan, a value equal to the threshold comes too late: but
        // not after a floor, which has no name.
        const bool may_tie = problem.names || problem.floors;
        const double below =
            may_tie ? std::nextafter(best.threshold(), -HUGE_VAL) : best.threshold();
        if (loops.count_above(row.values + begin, end - begin, below) == 0) continue;
        for (std::size_t j = begin; j < end; ++j) {
            if (row.values[j] >= best.threshold() && row.block[j] != skip) {
                best.offer({row.values[j], problem.name(row.block[j])});
            }
        }
    }
}

constexpr std::size_t nothing = static_cast<std::size_t>(-1);

std::size_t skipped_by(const ScanProblem& problem, std::size_t query) {
    return problem.skip_self ? query : nothing;
}

}  // namespace

void scan_top_k(const ScanProblem& problem, std::size_t k, std::size_t threads, const Watch& watch,
                double* values, std::int64_t* positions) {
    const Grid grid(problem, k, threads);
    const VectorLoops& loops = loops_for(problem.objects.isa()).vectors;
    const auto write = [&](std::size_t query, const std::vector<Hit>& hits) {
        for (std::size_t rank = 0; rank < k; ++rank) {
            values[problem.row(query) * k + rank] = hits[rank].value;
            positions[problem.row(query) * k + rank] = hits[rank].position;
        }
    };
    // partial[query * n_ranges + range], where there are several ranges
    std::vector<std::vector<Hit>> partial(grid.n_ranges > 1 ? grid.n_queries * grid.n_ranges : 0);
    parallel_for(grid.n_tasks(), threads, watch, [&](std::size_t task, Worker& worker) {
        const Slice queries = grid.queries_of(task);
        std::vector<Reservoir> best;
        best.reserve(queries.end - queries.begin);
        for (std::size_t query = queries.begin; query < queries.end; ++query) {
            best.emplace_back(k, problem.floor(query));
        }
        for_each_row(problem, grid, task, worker, [&](const Row& row) {
            offer_row(problem, loops, row, skipped_by(problem, row.query),
                      best[row.query - queries.begin]);
        });
        for (std::size_t query = queries.begin; query < queries.end; ++query) {
            const auto& hits = best[query - queries.begin].sorted();
            if (partial.empty()) {
                write(query, hits);
            } else {
                partial[query * grid.n_ranges + task % grid.n_ranges] = hits;
            }
        }
    });
    for (std::size_t query = 0; !partial.empty() && query < grid.n_queries; ++query) {
        Reservoir best(k);
        for (std::size_t range = 0; range < grid.n_ranges; ++range) {
            for (const Hit& hit : partial[query * grid.n_ranges + range]) best.offer(hit);
        }
        write(query, best.sorted());
    }
}

std::vector<std::vector<Hit>> scan_above(const ScanProblem& problem, const double* thresholds,
                                         std::size_t threads, const Watch& watch) {
    const Grid grid(problem, 1, threads);
    std::vector<std::vector<Hit>> partial(grid.n_queries * grid.n_ranges);
    parallel_for(grid.n_tasks(), threads, watch, [&](std::size_t task, Worker& worker) {
        for_each_row(problem, grid, task, worker, [&](const Row& row) {
            auto& found = partial[row.query * grid.n_ranges + task % grid.n_ranges];
            const std::size_t skip = skipped_by(problem, row.query);
            for (std::size_t j = 0; j < row.block.size; ++j) {
                if (row.values[j] >= thresholds[row.query] && row.block[j] != skip) {
                    found.push_back({row.values[j], problem.name(row.block[j])});
                }
            }
        });
    });
    std::vector<std::vector<Hit>> answers(grid.n_queries);
    for (std::size_t query = 0; query < grid.n_queries; ++query) {
        auto& answer = answers[query];
        for (std::size_t range = 0; range < grid.n_ranges; ++range) {
            const auto& found = partial[query * grid.n_ranges + range];
            answer.insert(answer.end(), found.begin(), found.end());
        }
        std::sort(answer.begin(), answer.end(), ranks_before);
    }
    return answers;
}

void scan_matrix(const ScanProblem& asked, std::size_t threads, const Watch& watch, double* out) {
    ScanProblem problem = asked;
    problem.skip_self = false;  // every value is wanted
    const Grid grid(problem, 1, threads);
    parallel_for(grid.n_tasks(), threads, watch, [&](std::size_t task, Worker& worker) {
        for_each_row(problem, grid, task, worker, [&](const Row& row) {
            std::copy_n(row.values, row.block.size, out + row.query * grid.n_objects + row.column);
        });
    });
}

}  // namespace fastmks
