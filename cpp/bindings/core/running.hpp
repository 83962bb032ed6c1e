#pragma once

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/core/arrays.hpp"
#include "bindings/core/gil.hpp"
#include "bindings/core/problem.hpp"
#include "bindings/core/watch.hpp"

/// How an engine of the core runs for Python: without the GIL, watched, into arrays.
namespace fastmks::bindings {

using TopKArrays = std::tuple<Result<double>, Result<std::int64_t>>;

/// The k values and positions that `run` writes for each query; it runs without the GIL.
template <class Run>
TopKArrays run_top_k(const ScanProblem& problem, std::size_t k, const nb::object& progress,
                     Run run) {
    check_k(problem, k);
    const std::size_t n = problem.queries.size();
    auto values = std::make_unique<double[]>(n * k);
    auto positions = std::make_unique<std::int64_t[]>(n * k);
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        run(watch, values.get(), positions.get());
    }
    return {to_array(std::move(values), {n, k}), to_array(std::move(positions), {n, k})};
}

/// The answers that `run` returns; it runs without the GIL.
template <class Run>
HitArrays run_above(const ScanProblem& problem, const Thresholds& thresholds,
                    const nb::object& progress, Run run) {
    if (thresholds.size() != problem.queries.size()) {
        throw std::invalid_argument("one threshold per query");
    }
    Flattened flattened;
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        flattened = flatten(run(watch));
    }
    return to_arrays(std::move(flattened));
}

}  // namespace fastmks::bindings
