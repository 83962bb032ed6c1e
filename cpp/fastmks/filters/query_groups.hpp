#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "fastmks/core/allowance.hpp"
#include "fastmks/core/answers.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/top_k.hpp"
#include "fastmks/filters/bound_counts.hpp"
#include "fastmks/scan/scan.hpp"

/// The common part of the searches of all filters. The search of a filter serves queries
/// [begin, end): it is built from (problem, parts..., begin, end, worker) and has counts(),
/// top_k(k, write) and above(thresholds, write), which write the answer to each query and advance
/// the worker by it.
namespace fastmks {

/// The queries [begin, end) of a problem, for one search of them.
class GroupOfQueries {
protected:
    GroupOfQueries(const ScanProblem& problem, std::size_t begin, std::size_t end, Worker& worker)
        : problem_(problem), begin_(begin), end_(end), worker_(worker) {}

    const ScanProblem& problem_;
    std::size_t begin_;
    std::size_t end_;
    Worker& worker_;
    BoundCounts counts_;
};

/// The search of a filter that serves one query after the other: `Search` has
/// find_best(query, k, best) and find_above(query, threshold, found), and for approximate searches
/// find_within(query, k, stop, allowance, best), which returns at least the value of anything that
/// it missed.
template <class Search>
class QueryByQuery : public GroupOfQueries {
public:
    template <class Write>
    void top_k(std::size_t k, Write write) {
        for (std::size_t query = begin_; query < end_; ++query) {
            TopK best(k, problem_.floor(query));
            static_cast<Search*>(this)->find_best(query, k, best);
            write(query, best);
            worker_.advance(1);
        }
    }

    template <class Write>
    void approximate_top_k(std::size_t k, const StopRule& stop, Allowances& allowances,
                           Write write) {
        for (std::size_t query = begin_; query < end_; ++query) {
            TopK best(k, problem_.floor(query));
            const double missed =
                static_cast<Search*>(this)->find_within(query, k, stop, allowances.next(), best);
            write(query, best, missed);
            worker_.advance(1);
        }
    }

    template <class Write>
    void above(const double* thresholds, Write write) {
        for (std::size_t query = begin_; query < end_; ++query) {
            std::vector<Hit> found;
            static_cast<Search*>(this)->find_above(query, thresholds[query], found);
            write(query, found);
            worker_.advance(1);
        }
    }

    [[nodiscard]] const BoundCounts& counts() const noexcept { return counts_; }

protected:
    using GroupOfQueries::GroupOfQueries;
};

/// Which objects a search is about, by position; empty where it is about all of them.
inline std::vector<char> allowed_objects(const ScanProblem& problem) {
    std::vector<char> allowed;
    if (problem.among.size == problem.objects.size()) return allowed;
    allowed.assign(problem.objects.size(), 0);
    for (std::size_t i = 0; i < problem.among.size; ++i) allowed[problem.among[i]] = 1;
    return allowed;
}

/// Calls answer(search) for the searches of groups of `size` queries on up to `threads`
/// threads, and adds up what they cost.
template <class Search, class Answer, class... Parts>
BoundCounts search_groups(const ScanProblem& problem, std::size_t size, std::size_t threads,
                          const Watch& watch, Answer answer, const Parts&... parts) {
    BoundCounts total;
    std::mutex mutex;
    const std::size_t n = problem.queries.size();
    parallel_for((n + size - 1) / size, threads, watch, [&](std::size_t task, Worker& worker) {
        const std::size_t begin = task * size;
        Search search(problem, parts..., begin, std::min(n, begin + size), worker);
        answer(search);
        const std::lock_guard lock(mutex);
        total += search.counts();
    });
    return total;
}

/// The k best of each query into row-major n_queries x k arrays.
template <class Search, class... Parts>
BoundCounts groups_top_k(const ScanProblem& problem, std::size_t k, std::size_t size,
                         std::size_t threads, const Watch& watch, double* values,
                         std::int64_t* positions, const Parts&... parts) {
    const auto answer = [&](Search& search) {
        search.top_k(k, [&](std::size_t query, TopK& best) {
            const std::vector<Hit>& hits = best_of(best, k);
            for (std::size_t rank = 0; rank < k; ++rank) {
                values[problem.row(query) * k + rank] = hits[rank].value;
                positions[problem.row(query) * k + rank] = hits[rank].position;
            }
        });
    };
    return search_groups<Search>(problem, size, threads, watch, answer, parts...);
}

/// The k best of each query as far as a rule allows.
template <class Search, class... Parts>
BoundCounts groups_approximate_top_k(const ScanProblem& problem, std::size_t k,
                                     const StopRule& stop, std::size_t size, std::size_t threads,
                                     const Watch& watch, TopKAnswers answers,
                                     const Parts&... parts) {
    Allowances allowances(stop, problem.queries.size(), threads);
    const auto answer = [&](Search& search) {
        search.approximate_top_k(k, stop, allowances,
                                 [&](std::size_t query, TopK& best, double missed) {
                                     write_answer(answers, problem.row(query), best, k, missed);
                                 });
    };
    return search_groups<Search>(problem, size, threads, watch, answer, parts...);
}

/// All hits of each query at or above its threshold, in the order of answers.
template <class Search, class... Parts>
BoundCounts groups_above(const ScanProblem& problem, const double* thresholds, std::size_t size,
                         std::size_t threads, const Watch& watch,
                         std::vector<std::vector<Hit>>& answers, const Parts&... parts) {
    answers.resize(problem.queries.size());
    const auto answer = [&](Search& search) {
        search.above(thresholds, [&](std::size_t query, std::vector<Hit>& found) {
            std::sort(found.begin(), found.end(), ranks_before);
            answers[query] = std::move(found);
        });
    };
    return search_groups<Search>(problem, size, threads, watch, answer, parts...);
}

}  // namespace fastmks
