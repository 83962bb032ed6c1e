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

std::tuple<Result<double>, Result<std::int64_t>> top_k(const Space& objects, const Space& queries,
                                                       const std::optional<Positions>& among,
                                                       const std::optional<Positions>& names,
                                                       bool skip_self, std::size_t k,
                                                       std::size_t threads,
                                                       const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names);
    check_k(problem, k);
    const std::size_t n = queries.size();
    auto values = std::make_unique<double[]>(n * k);
    auto positions = std::make_unique<std::int64_t[]>(n * k);
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        scan_top_k(problem, k, threads, watch, values.get(), positions.get());
    }
    return {to_array(std::move(values), {n, k}), to_array(std::move(positions), {n, k})};
}

HitArrays above(const Space& objects, const Space& queries, const std::optional<Positions>& among,
                const std::optional<Positions>& names, const Thresholds& thresholds,
                std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    const std::size_t n = queries.size();
    if (thresholds.size() != n) throw std::invalid_argument("one threshold per query");
    Flattened flattened;
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        flattened = flatten(scan_above(problem, thresholds.data(), threads, watch));
    }
    return to_arrays(std::move(flattened));
}

using Counts = std::tuple<std::size_t, std::size_t>;  // evaluations, bounds

std::tuple<Result<double>, Result<std::int64_t>, Counts> filtered_top_k(
    const Space& objects, const Space& queries, const std::optional<Positions>& among,
    const std::optional<Positions>& names, bool skip_self, std::size_t k, std::size_t threads,
    const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names);
    check_k(problem, k);
    const std::size_t n = queries.size();
    auto values = std::make_unique<double[]>(n * k);
    auto positions = std::make_unique<std::int64_t[]>(n * k);
    const Watch watch = python_watch(progress);
    FilterCounts counts;
    {
        const WithoutGil without_gil;
        counts = filter_top_k(problem, k, threads, watch, values.get(), positions.get());
    }
    return {to_array(std::move(values), {n, k}), to_array(std::move(positions), {n, k}),
            Counts{counts.evaluations, counts.bounds}};
}

std::tuple<HitArrays, Counts> filtered_above(const Space& objects, const Space& queries,
                                             const std::optional<Positions>& among,
                                             const std::optional<Positions>& names,
                                             const Thresholds& thresholds, std::size_t threads,
                                             const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    if (thresholds.size() != queries.size()) throw std::invalid_argument("one threshold per query");
    Flattened flattened;
    FilterCounts counts;
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        std::vector<std::vector<Hit>> answers;
        counts = filter_above(problem, thresholds.data(), threads, watch, answers);
        flattened = flatten(answers);
    }
    return {to_arrays(std::move(flattened)), Counts{counts.evaluations, counts.bounds}};
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
