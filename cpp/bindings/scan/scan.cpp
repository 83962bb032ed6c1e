#include "fastmks/scan/scan.hpp"

#include "bindings/core/arrays.hpp"
#include "bindings/core/running.hpp"

namespace fastmks::bindings {
namespace {

TopKArrays top_k(const Space& objects, const Space& queries, const std::optional<Positions>& among,
                 const std::optional<Positions>& names, bool skip_self, std::size_t k,
                 const std::optional<Thresholds>& floors, std::size_t threads,
                 const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names, floors);
    return run_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
        scan_top_k(problem, k, threads, watch, values, hits);
    });
}

TopKArrays self_top_k(const Space& objects, const std::optional<Positions>& names, std::size_t k,
                      std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, objects, std::nullopt, true, names);
    return run_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
        scan_self(objects, problem.names, k, threads, watch, values, hits);
    });
}

HitArrays above(const Space& objects, const Space& queries, const std::optional<Positions>& among,
                const std::optional<Positions>& names, const Thresholds& thresholds,
                std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    return run_above(queries, thresholds, progress, [&](const Watch& watch) {
        return scan_above(problem, thresholds.data(), threads, watch);
    });
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
          "skip_self"_a, "k"_a, "floors"_a.none(), "threads"_a, "progress"_a.none());
    m.def("scan_self", &self_top_k, "objects"_a, "names"_a.none(), "k"_a, "threads"_a,
          "progress"_a.none());
    m.def("self_scan_evaluations", &self_scan_evaluations, "objects"_a);
    m.def("scan_above", &above, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "thresholds"_a, "threads"_a, "progress"_a.none());
    m.def("scan_matrix", &matrix, "objects"_a, "queries"_a, "threads"_a);
}

}  // namespace fastmks::bindings
