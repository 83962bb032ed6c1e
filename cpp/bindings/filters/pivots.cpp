#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/core/archive.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/gil.hpp"
#include "bindings/core/running.hpp"
#include "fastmks/filters/pivot_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

using Counts = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>;

Counts to_counts(const BoundCounts& counts) {
    return {counts.evaluations, counts.projections, counts.self_evaluations, counts.bounds,
            counts.operations};
}

std::shared_ptr<PivotProjection> pivot_projection(const Space& objects, const Positions& pivots) {
    const std::vector<std::int64_t> wanted(pivots.data(), pivots.data() + pivots.size());
    const WithoutGil without_gil;
    return std::make_shared<PivotProjection>(objects, wanted);
}

// The coordinates of every object, as tests see them: each column by its name in C++.
nb::typed<nb::dict, nb::str, nb::object> project(const PivotProjection& projection,
                                                 const Space& objects) {
    Coordinates found;
    {
        const WithoutGil without_gil;
        projection.project(objects, 0, objects.size(), found);
    }
    const std::size_t n = objects.size();
    nb::dict table;
    table["rows"] = copied(found.rows, {n, found.dimension});
    table["errors"] = copied(found.errors, {n});
    table["tails"] = copied(found.tails, {n});
    table["least_tails"] = copied(found.least_tails, {n});
    table["norms"] = copied(found.norms, {n});
    table["exponents"] = copied(found.exponents, {n});
    return table;
}

std::string find_fault(const PivotProjection& projection) {
    const WithoutGil without_gil;
    return projection.find_fault();
}

std::shared_ptr<PivotTable> pivot_table(const std::shared_ptr<PivotProjection>& projection,
                                        std::size_t threads, const nb::object& progress) {
    const Watch watch = python_watch(progress);
    const WithoutGil without_gil;
    return std::make_shared<PivotTable>(projection, threads, watch);
}

NamedArrays arrays(const nb::handle_t<PivotTable>& self) {
    return to_dict(nb::cast<const PivotTable&>(self).arrays(), self);
}

// The table keeps the projection alive, and that the objects, which are a Python object.
std::tuple<std::shared_ptr<PivotProjection>, std::shared_ptr<PivotTable>> restore(
    const std::shared_ptr<Space>& objects, const NamedArrays& arrays) {
    const Arrays parts = from_dict(arrays);
    const WithoutGil without_gil;
    const ArrayReader reader(parts);
    const std::shared_ptr<PivotProjection> projection(
        new PivotProjection(*objects, reader),
        [objects](const PivotProjection* kept) { delete kept; });
    return {projection, std::make_shared<PivotTable>(projection, reader)};
}

void check_table(const PivotTable& table, const Space& objects) {
    if (&table.projection().objects() != &objects.untraced()) {
        throw std::invalid_argument("the pivots are of other objects");
    }
}

auto top_k(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, const PivotTable& table, bool skip_self,
           std::size_t k, const std::optional<Thresholds>& floors, std::size_t threads,
           const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names, floors);
    check_table(table, objects);
    return count_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
        return to_counts(pivots_top_k(problem, table, k, threads, watch, values, hits));
    });
}

auto above(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, const PivotTable& table,
           const Thresholds& thresholds, std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    check_table(table, objects);
    return count_above(problem, thresholds, progress, [&](const Watch& watch, auto& answers) {
        return to_counts(pivots_above(problem, table, thresholds.data(), threads, watch, answers));
    });
}

}  // namespace

void register_pivots(nb::module_& m) {
    nb::class_<PivotProjection, Projection>(m, "PivotProjection", "Objects on the span of a few.")
        .def_prop_ro("n_pivots", &PivotProjection::n_pivots)
        .def("pivots",
             [](const PivotProjection& projection) {
                 return copied(projection.pivots(), {projection.n_pivots()});
             })
        .def("project", &project, "objects"_a)
        .def_prop_ro("error_share", &PivotProjection::error_share)
        .def_prop_ro("build_evaluations", &PivotProjection::build_evaluations)
        .def("find_fault", &find_fault);
    nb::class_<PivotTable>(m, "PivotTable", "All objects on the span of pivots.")
        .def("__len__", &PivotTable::size)
        .def_prop_ro("n_bytes", &PivotTable::n_bytes)
        .def("arrays", &arrays);
    m.def("pivot_projection", &pivot_projection, "objects"_a, "pivots"_a, nb::keep_alive<0, 1>());
    m.def("pivot_table", &pivot_table, "projection"_a, "threads"_a, "progress"_a.none(),
          nb::keep_alive<0, 1>());
    m.def("restore_pivots", &restore, "objects"_a, "arrays"_a);
    m.def("pivots_top_k", &top_k, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "table"_a, "skip_self"_a, "k"_a, "floors"_a.none(), "threads"_a, "progress"_a.none());
    m.def("pivots_above", &above, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "table"_a, "thresholds"_a, "threads"_a, "progress"_a.none());
}

}  // namespace fastmks::bindings
