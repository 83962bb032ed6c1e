#include "fastmks/scan.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fastmks/filter.hpp"
#include "gil.hpp"
#include "problem.hpp"
#include "watch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

using TopKArrays = std::tuple<Result<double>, Result<std::int64_t>>;

/// What `run` writes for each query, k values and positions; it runs without the GIL.
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

TopKArrays top_k(const Space& objects, const Space& queries, const std::optional<Positions>& among,
                 const std::optional<Positions>& names, bool skip_self, std::size_t k,
                 std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names);
    return run_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
        scan_top_k(problem, k, threads, watch, values, hits);
    });
}

HitArrays above(const Space& objects, const Space& queries, const std::optional<Positions>& among,
                const std::optional<Positions>& names, const Thresholds& thresholds,
                std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    return run_above(problem, thresholds, progress, [&](const Watch& watch) {
        return scan_above(problem, thresholds.data(), threads, watch);
    });
}

using Counts = std::tuple<std::size_t, std::size_t>;  // evaluations, bounds

std::tuple<Result<double>, Result<std::int64_t>, Counts> filtered_top_k(
    const Space& objects, const Space& queries, const std::optional<Positions>& among,
    const std::optional<Positions>& names, bool skip_self, std::size_t k, std::size_t threads,
    const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names);
    FilterCounts counts;
    auto found =
        run_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
            counts = filter_top_k(problem, k, threads, watch, values, hits);
        });
    return std::tuple_cat(std::move(found),
                          std::make_tuple(Counts{counts.evaluations, counts.bounds}));
}

std::tuple<HitArrays, Counts> filtered_above(const Space& objects, const Space& queries,
                                             const std::optional<Positions>& among,
                                             const std::optional<Positions>& names,
                                             const Thresholds& thresholds, std::size_t threads,
                                             const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    FilterCounts counts;
    HitArrays found = run_above(problem, thresholds, progress, [&](const Watch& watch) {
        std::vector<std::vector<Hit>> answers;
        counts = filter_above(problem, thresholds.data(), threads, watch, answers);
        return answers;
    });
    return {std::move(found), Counts{counts.evaluations, counts.bounds}};
}

Result<double> matrix(const Space& objects, const Space& queries, std::size_t threads) {
    const ScanProblem problem = scan_problem(objects, queries, std::nullopt);
    auto values = std::make_unique<double[]>(queries.size() * objects.size());
    const nb::object no_progress = nb::none();
    const Watch watch = python_watch(no_progress);
    {
        const WithoutGil without_gil;
        scan_matrix(problem, threads, watch, values.get());
    }
    return to_array(std::move(values), {queries.size(), objects.size()});
}

}  // namespace

void register_scan(nb::module_& m) {
    m.def("scan_top_k", &top_k, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "skip_self"_a, "k"_a, "threads"_a, "progress"_a.none());
    m.def("scan_above", &above, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "thresholds"_a, "threads"_a, "progress"_a.none());
    m.def("filter_top_k", &filtered_top_k, "objects"_a, "queries"_a, "among"_a.none(),
          "names"_a.none(), "skip_self"_a, "k"_a, "threads"_a, "progress"_a.none());
    m.def("filter_above", &filtered_above, "objects"_a, "queries"_a, "among"_a.none(),
          "names"_a.none(), "thresholds"_a, "threads"_a, "progress"_a.none());
    m.def("scan_matrix", &matrix, "objects"_a, "queries"_a, "threads"_a);
}

}  // namespace fastmks::bindings
