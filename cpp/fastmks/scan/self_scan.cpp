#include "fastmks/scan/scan.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>

#include "fastmks/core/faults.hpp"
#include "fastmks/scan/block_size.hpp"

namespace fastmks {
namespace {

constexpr std::size_t columns_per_task = 1024;
constexpr std::size_t tasks_per_thread = 8;
constexpr std::size_t objects_per_lock = 64;

// The object after i with which i is evaluated in both orders: spread over all of them.
std::size_t partner(std::size_t i, std::size_t n) {
    return i + 1 + (i * 0x9E3779B97F4A7C15U >> 32U) % (n - 1 - i);
}

// The hits of all objects, which any thread may add to.
class AllHits {
public:
    AllHits(std::size_t n, std::size_t k) : locks_(new std::mutex[n / objects_per_lock + 1]) {
        best_.reserve(n);
        for (std::size_t i = 0; i < n; ++i) best_.emplace_back(k);
    }

    // Offers the values of the objects from `first`, `n_rows` of them, with those of a block.
    void offer(std::size_t first, std::size_t n_rows, Selection block, const double* values,
               const ScanProblem& problem) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::lock_guard lock(locks_[(first + i) / objects_per_lock]);
            TopK& best = best_[first + i];
            for (std::size_t j = 0; j < block.size; ++j) {
                offer_one(best, values[i * block.size + j], block[j], problem);
            }
        }
        for (std::size_t begin = 0; begin < block.size;) {
            const std::size_t group = block[begin] / objects_per_lock;
            const std::size_t end =
                std::min((group + 1) * objects_per_lock - block.begin, block.size);
            const std::lock_guard lock(locks_[group]);
            for (std::size_t i = 0; i < n_rows; ++i) {
                for (std::size_t j = begin; j < end; ++j) {
                    offer_one(best_[block[j]], values[i * block.size + j], first + i, problem);
                }
            }
            begin = end;
        }
    }

    [[nodiscard]] const std::vector<Hit>& sorted(std::size_t i) { return best_[i].sorted(); }

private:
    static void offer_one(TopK& best, double value, std::size_t other, const ScanProblem& problem) {
        if (value >= best.threshold()) best.offer({value, problem.name(other)});
    }

    std::vector<TopK> best_;
    std::unique_ptr<std::mutex[]> locks_;
};

// Some rows, each with the objects after it, of a range of columns.
class Tile {
public:
    Tile(const ScanProblem& problem, AllHits& hits, Worker& worker)
        : problem_(problem),
          objects_(problem.objects),
          hits_(hits),
          worker_(worker),
          block_size_(objects_) {}

    void run(std::size_t first, std::size_t last, std::size_t begin, std::size_t end) {
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t from = std::max(i + 1, begin), to = std::min(last, end);
            if (from >= to) continue;
            objects_.refill(row_, i);
            visit(*row_, Selection::range(from, to));
        }
        begin = std::max(begin, last);
        if (begin >= end) return;
        const auto batch = objects_.batch(first, last);
        while (begin < end) {
            const std::size_t to = std::min(begin + block_size_.next(), end);
            visit(*batch, Selection::range(begin, to));
            begin = to;
        }
    }

private:
    void visit(const QueryBatch& rows, Selection block) {
        values_.resize(rows.size * block.size);
        objects_.values(rows, block, values_.data());
        if (objects_.symmetry() == Symmetry::declared) check_symmetry(rows, block);
        hits_.offer(rows.begin, rows.size, block, values_.data(), problem_);
        worker_.advance(rows.size * block.size);
    }

    void check_symmetry(const QueryBatch& rows, Selection block) {
        for (std::size_t i = 0; i < rows.size; ++i) {
            const std::size_t row = rows.begin + i, column = partner(row, objects_.size());
            const std::size_t j = block.find(column);
            if (j == block.size) continue;
            const double there = values_[i * block.size + j];
            double back = 0.0;
            objects_.refill(column_, column);
            objects_.values(*column_, Selection::range(row, row + 1), &back);
            if (std::bit_cast<std::uint64_t>(there) != std::bit_cast<std::uint64_t>(back)) {
                throw AsymmetryFault{row, column, there, back};
            }
            worker_.advance(1);
        }
    }

    const ScanProblem& problem_;
    const Space& objects_;
    AllHits& hits_;
    Worker& worker_;
    BlockSize block_size_;
    std::vector<double> values_;
    std::unique_ptr<QueryBatch> row_, column_;
};

}  // namespace

std::size_t self_scan_evaluations(const Space& objects) noexcept {
    const std::size_t n = objects.size(), n_pairs = n * (n - 1) / 2;
    return n < 2 ? 0 : n_pairs + (objects.symmetry() == Symmetry::declared ? n - 1 : 0);
}

void scan_self(const Space& objects, const std::int64_t* names, std::size_t k, std::size_t threads,
               const Watch& watch, double* values, std::int64_t* positions) {
    const std::size_t n = objects.size();
    const ScanProblem problem{.objects = objects,
                              .queries = objects,
                              .among = Selection::range(0, n),
                              .skip_self = true,
                              .names = names};
    AllHits hits(n, k);
    const std::size_t n_rows =
        std::clamp<std::size_t>(n / (tasks_per_thread * threads), 1, largest_batch);
    const std::size_t n_across = (n + columns_per_task - 1) / columns_per_task;
    const std::size_t n_tasks = (n + n_rows - 1) / n_rows * n_across;
    parallel_for(n_tasks, threads, watch, [&](std::size_t task, Worker& worker) {
        const std::size_t row = task / n_across * n_rows;
        const std::size_t column = task % n_across * columns_per_task;
        Tile(problem, hits, worker)
            .run(row, std::min(row + n_rows, n), column, std::min(column + columns_per_task, n));
    });
    for (std::size_t i = 0; i < n; ++i) {
        const std::vector<Hit>& best = hits.sorted(i);
        for (std::size_t rank = 0; rank < k; ++rank) {
            values[problem.row(i) * k + rank] = best[rank].value;
            positions[problem.row(i) * k + rank] = best[rank].position;
        }
    }
}

}  // namespace fastmks
