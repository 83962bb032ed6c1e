#include "fastmks/tree/tree_search.hpp"

#include <mutex>

#include "fastmks/core/answers.hpp"
#include "fastmks/tree/query_search.hpp"

namespace fastmks {
namespace {

// Queries per task: few enough that threads share evenly, enough to be worth a task.
constexpr std::size_t queries_per_task = 16;

// Collects every hit at or above a threshold.
class AllAbove {
public:
    explicit AllAbove(double threshold) : threshold_(threshold) {}
    [[nodiscard]] double threshold() const noexcept { return threshold_; }
    [[nodiscard]] bool is_full() const noexcept { return true; }
    void offer(Hit hit) {
        if (hit.value >= threshold_) hits.push_back(hit);
    }
    std::vector<Hit> hits;

private:
    double threshold_;
};

// Uniform draws without replacement, increasing. The same seed and query give the same draws.
class Sampler {
public:
    Sampler(std::uint64_t seed, std::uint64_t query)
        : state_(mix(seed) ^ mix(query + 0x9e3779b97f4a7c15u)) {}

    /// `size` of the numbers below n, or of the given places.
    void draw(std::size_t n, std::size_t size, const PlaceList& from,
              std::vector<std::int64_t>& out) {
        out.clear();
        // Goes through the numbers and takes each with the probability that leaves every subset of
        // the size equally likely (selection sampling).
        for (std::size_t i = 0; i < n && size > 0; ++i) {
            if (below(n - i) < size) {
                out.push_back(from ? (*from)[i] : static_cast<std::int64_t>(i));
                --size;
            }
        }
    }

private:
    static std::uint64_t mix(std::uint64_t x) {  // splitmix64
        x += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }

    // A number below n < 2^32, all equally likely to one part in 2^32.
    std::size_t below(std::size_t n) {
        state_ += 0x9e3779b97f4a7c15u;
        return static_cast<std::size_t>(((mix(state_) >> 32) * n) >> 32);
    }

    std::uint64_t state_;
};

std::size_t row_of(const TreeProblem& problem, std::size_t query) {
    return problem.skip_self ? static_cast<std::size_t>(problem.tree.order[query]) : query;
}

// Calls answer(query, search, collector) for each query on up to `threads` threads, with a
// collector to use again and again; returns the cost.
template <class Collector, class Answer>
TreeCounts for_each_query(const TreeProblem& problem, const StopRule& stop, std::size_t threads,
                          const Watch& watch, const Collector& empty, Answer answer) {
    const std::size_t n = problem.queries.size();
    TreeCounts total;
    std::mutex mutex;
    const std::size_t n_tasks = (n + queries_per_task - 1) / queries_per_task;
    parallel_for(n_tasks, threads, watch, [&](std::size_t task, Worker& worker) {
        QuerySearch<Collector> search(problem, stop, [&] { worker.advance(0); });
        Collector collector = empty;
        const std::size_t end = std::min(n, (task + 1) * queries_per_task);
        for (std::size_t query = task * queries_per_task; query < end; ++query) {
            answer(query, search, collector);
            worker.advance(1);
        }
        const std::lock_guard lock(mutex);
        total += search.counts();
    });
    return total;
}

}  // namespace

TreeCounts& TreeCounts::operator+=(const TreeCounts& other) noexcept {
    evaluations += other.evaluations;
    self_evaluations += other.self_evaluations;
    bounds += other.bounds;
    nodes += other.nodes;
    for (std::size_t i = 0; i < n_bound_kinds; ++i) {
        pruned_before[i] += other.pruned_before[i];
        pruned_after[i] += other.pruned_after[i];
    }
    return *this;
}

TreeCounts tree_top_k(const TreeProblem& problem, std::size_t k, const StopRule& stop,
                      RankSample sample, std::size_t threads, const Watch& watch,
                      TopKAnswers answers) {
    Allowances allowances(stop, problem.queries.size(), threads);
    const auto answer = [&](std::size_t query, QuerySearch<TopK>& search, TopK& best) {
        best.clear();
        if (problem.floors) best.fill(problem.floors[row_of(problem, query)]);
        Places places{problem.among, problem.among, false, problem.skip_self ? query : SIZE_MAX};
        std::vector<std::int64_t> drawn;
        if (sample.size > 0) {
            const std::size_t n = problem.among ? problem.among->size() : problem.tree.size();
            Sampler(sample.seed, query).draw(n, sample.size, problem.among, drawn);
            places.among = drawn;
            places.is_sample = true;
        }
        const double missed = search.run(query, places, allowances.next(), best);
        write_answer(answers, row_of(problem, query), best, k, missed);
    };
    return for_each_query(problem, stop, threads, watch, TopK(k), answer);
}

TreeCounts tree_above(const TreeProblem& problem, const double* thresholds, std::size_t threads,
                      const Watch& watch, std::vector<std::vector<Hit>>& answers) {
    answers.resize(problem.queries.size());
    const StopRule exact;
    return for_each_query(problem, exact, threads, watch, AllAbove(0.0),
                          [&](std::size_t query, QuerySearch<AllAbove>& search, AllAbove& found) {
                              found = AllAbove(thresholds[query]);
                              search.run(query, {problem.among, problem.among}, {}, found);
                              std::sort(found.hits.begin(), found.hits.end(), ranks_before);
                              answers[query] = std::move(found.hits);
                          });
}

}  // namespace fastmks
