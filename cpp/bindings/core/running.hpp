#pragma once

#include "bindings/core/arrays.hpp"
#include "bindings/core/problem.hpp"
#include "bindings/core/watch.hpp"
#include "fastmks/core/answers.hpp"
#include "fastmks/core/stop_rule.hpp"

/// How an engine of the core runs for Python: without the GIL, watched, into arrays.
namespace fastmks::bindings {

/// A rule from the arguments of a search.
[[nodiscard]] inline StopRule stop_rule(double epsilon, double relative,
                                        std::optional<std::size_t> budget,
                                        std::optional<double> seconds) {
    StopRule stop{epsilon, relative, budget.value_or(SIZE_MAX), std::nullopt};
    constexpr double forever = 1e9;  // seconds; a clock cannot count many more
    if (seconds && *seconds < forever) stop.time = std::chrono::duration<double>(*seconds);
    return stop;
}

using TopKArrays = std::tuple<Result<double>, Result<std::int64_t>>;

/// The k values and positions that `run` writes for each of n queries; it runs without the GIL.
template <class Run>
TopKArrays run_top_k(std::size_t n, std::size_t k, const nb::object& progress, Run run) {
    auto values = std::make_unique<double[]>(n * k);
    auto positions = std::make_unique<std::int64_t[]>(n * k);
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        run(watch, values.get(), positions.get());
    }
    return {to_array(std::move(values), {n, k}), to_array(std::move(positions), {n, k})};
}

using ApproximateArrays = std::tuple<Result<double>, Result<std::int64_t>, Result<double>>;

/// The same with gaps, from run(watch, answers).
template <class Run>
ApproximateArrays run_approximate_top_k(std::size_t n, std::size_t k, const nb::object& progress,
                                        Run run) {
    auto gaps = std::make_unique<double[]>(n);
    TopKArrays found =
        run_top_k(n, k, progress, [&](const Watch& watch, double* values, std::int64_t* positions) {
            run(watch, TopKAnswers{values, positions, gaps.get()});
        });
    return std::tuple_cat(std::move(found), std::make_tuple(to_array(std::move(gaps), {n})));
}

/// run_top_k for a problem, checked.
template <class Run>
TopKArrays run_top_k(const ScanProblem& problem, std::size_t k, const nb::object& progress,
                     Run run) {
    check_k(problem.among.size, problem.skip_self, k);
    return run_top_k(problem.queries.size(), k, progress, run);
}

/// The answers that `run` returns; it runs without the GIL.
template <class Run>
HitArrays run_above(const Space& queries, const Thresholds& thresholds, const nb::object& progress,
                    Run run) {
    if (thresholds.size() != queries.size()) throw std::invalid_argument("one threshold per query");
    Flattened flattened;
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        flattened = flatten(run(watch));
    }
    return to_arrays(std::move(flattened));
}

}  // namespace fastmks::bindings
