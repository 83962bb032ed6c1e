#include "fastmks/filters/own_bounds.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/running.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

std::tuple<std::size_t, std::size_t> to_counts(const BoundCounts& counts) {
    return {counts.evaluations, counts.bounds};
}

auto top_k(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, bool skip_self, std::size_t k,
           const std::optional<Thresholds>& floors, std::size_t threads,
           const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names, floors);
    return count_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
        return to_counts(own_bounds_top_k(problem, k, threads, watch, values, hits));
    });
}

auto above(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, const Thresholds& thresholds, std::size_t threads,
           const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    return count_above(problem, thresholds, progress, [&](const Watch& watch, auto& answers) {
        return to_counts(own_bounds_above(problem, thresholds.data(), threads, watch, answers));
    });
}

}  // namespace

void register_own_bounds(nb::module_& m) {
    m.def("own_bounds_top_k", &top_k, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "skip_self"_a, "k"_a, "floors"_a.none(), "threads"_a, "progress"_a.none());
    m.def("own_bounds_above", &above, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "thresholds"_a, "threads"_a, "progress"_a.none());
}

}  // namespace fastmks::bindings
