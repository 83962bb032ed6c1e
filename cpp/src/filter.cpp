#include "fastmks/filter.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace fastmks {
namespace {

constexpr std::size_t bounds_per_call = 4096;
constexpr std::size_t values_per_call = 256;
constexpr std::size_t first_block = 16;  // objects evaluated before the first look at a threshold

// The search of one query at a time; keeps its memory from query to query.
class FilterSearch {
public:
    FilterSearch(const ScanProblem& problem, Worker& worker) : problem_(problem), worker_(worker) {}

    void top_k(std::size_t query, std::size_t k, TopK& best) {
        start(query);
        std::size_t block = std::max(first_block, 2 * k);
        auto begin = candidates_.begin();
        while (begin != candidates_.end()) {
            // Equal values go by the smaller name: what might tie must be looked at.
            const double threshold = best.threshold();
            const auto end = std::partition(begin, candidates_.end(), [=](const Candidate& c) {
                return !(c.bound < threshold);
            });
            candidates_.erase(end, candidates_.end());
            const auto rest = static_cast<std::size_t>(candidates_.end() - begin);
            const auto next = begin + static_cast<std::ptrdiff_t>(std::min(block, rest));
            if (next != candidates_.end()) {
                std::nth_element(begin, next, candidates_.end(), has_greater_bound);
            }
            evaluate(begin, next, [&](Hit hit) { best.offer(hit); });
            begin = next;
            block *= 2;
        }
    }

    void above(std::size_t query, double threshold, std::vector<Hit>& found) {
        start(query);
        const auto end = std::partition(candidates_.begin(), candidates_.end(),
                                        [=](const Candidate& c) { return !(c.bound < threshold); });
        evaluate(candidates_.begin(), end, [&](Hit hit) {
            if (hit.value >= threshold) found.push_back(hit);
        });
        std::sort(found.begin(), found.end(), ranks_before);
    }

    [[nodiscard]] const FilterCounts& counts() const noexcept { return counts_; }

private:
    struct Candidate {
        double bound;
        std::int64_t position;
    };
    using Iterator = std::vector<Candidate>::iterator;

    static bool has_greater_bound(const Candidate& a, const Candidate& b) {
        return a.bound > b.bound || (a.bound == b.bound && a.position < b.position);
    }

    // Takes the query and bounds its values with all objects.
    void start(std::size_t query) {
        query_ = query;
        problem_.queries.refill(batch_, query);
        candidates_.clear();
        const std::size_t n = problem_.among.size;
        for (std::size_t begin = 0; begin < n; begin += bounds_per_call) {
            const Selection part = problem_.among.part(begin, std::min(begin + bounds_per_call, n));
            values_.resize(part.size);
            problem_.objects.bounds(*batch_, part, values_.data(), part.size);
            for (std::size_t j = 0; j < part.size; ++j) {
                if (problem_.skip_self && part[j] == query) continue;
                const double bound = std::isnan(values_[j]) ? HUGE_VAL : values_[j];
                candidates_.push_back({bound, static_cast<std::int64_t>(part[j])});
            }
            worker_.advance(0);
        }
        counts_.bounds += n;
    }

    template <class Offer>
    void evaluate(Iterator begin, Iterator end, Offer offer) {
        std::sort(begin, end, [](const Candidate& a, const Candidate& b) {
            return a.position < b.position;  // as they lie in memory
        });
        for (Iterator at = begin; at != end;) {
            const auto n =
                std::min<std::size_t>(values_per_call, static_cast<std::size_t>(end - at));
            positions_.resize(n);
            values_.resize(n);
            for (std::size_t j = 0; j < n; ++j) {
                positions_[j] = (at + static_cast<std::ptrdiff_t>(j))->position;
            }
            problem_.objects.values(*batch_, Selection::list(positions_.data(), n), values_.data());
            for (std::size_t j = 0; j < n; ++j, ++at) {
                const auto position = static_cast<std::size_t>(at->position);
                if (values_[j] > at->bound) {
                    throw BoundFault(query_, position, values_[j], at->bound);
                }
                offer(Hit{values_[j], problem_.name(position)});
            }
            counts_.evaluations += n;
            worker_.advance(0);
        }
    }

    const ScanProblem& problem_;
    Worker& worker_;
    FilterCounts counts_;
    std::size_t query_ = 0;
    std::unique_ptr<QueryBatch> batch_;
    std::vector<Candidate> candidates_;
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
};

// Calls answer(query, search) for each query on up to `threads` threads.
template <class Answer>
FilterCounts for_each_query(const ScanProblem& problem, std::size_t threads, const Watch& watch,
                            Answer answer) {
    constexpr std::size_t queries_per_task = 8;
    const std::size_t n = problem.queries.size();
    FilterCounts total;
    std::mutex mutex;
    const std::size_t n_tasks = (n + queries_per_task - 1) / queries_per_task;
    parallel_for(n_tasks, threads, watch, [&](std::size_t task, Worker& worker) {
        FilterSearch search(problem, worker);
        const std::size_t end = std::min(n, (task + 1) * queries_per_task);
        for (std::size_t query = task * queries_per_task; query < end; ++query) {
            answer(query, search);
            worker.advance(1);
        }
        const std::lock_guard lock(mutex);
        total.evaluations += search.counts().evaluations;
        total.bounds += search.counts().bounds;
    });
    return total;
}

}  // namespace

FilterCounts filter_top_k(const ScanProblem& problem, std::size_t k, std::size_t threads,
                          const Watch& watch, double* values, std::int64_t* positions) {
    return for_each_query(problem, threads, watch, [&](std::size_t query, FilterSearch& search) {
        TopK best(k);
        search.top_k(query, k, best);
        const std::vector<Hit>& hits = best.sorted();
        for (std::size_t rank = 0; rank < k; ++rank) {
            values[problem.row(query) * k + rank] = hits[rank].value;
            positions[problem.row(query) * k + rank] = hits[rank].position;
        }
    });
}

FilterCounts filter_above(const ScanProblem& problem, const double* thresholds, std::size_t threads,
                          const Watch& watch, std::vector<std::vector<Hit>>& answers) {
    answers.resize(problem.queries.size());
    return for_each_query(problem, threads, watch, [&](std::size_t query, FilterSearch& search) {
        search.above(query, thresholds[query], answers[query]);
    });
}

}  // namespace fastmks
