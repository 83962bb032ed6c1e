#include "fastmks/filters/codes.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/core/archive.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/gil.hpp"
#include "bindings/core/running.hpp"
#include "fastmks/filters/axes.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

Counts to_counts(const BoundCounts& counts) {
    return {counts.evaluations, counts.projections, counts.bounds, counts.operations};
}

using Axes = std::shared_ptr<AxisProjection>;

Axes axis_projection(const Space& objects, const Matrix& axes,
                     const std::optional<Thresholds>& origin) {
    std::vector<double> from;
    if (origin) from.assign(origin->data(), origin->data() + origin->size());
    const std::size_t n_axes = axes.shape(0), n_columns = axes.shape(1);
    return std::make_shared<AxisProjection>(objects.score_kind(),
                                            padded_rows(axes.data(), n_axes, n_columns), n_axes,
                                            n_columns, std::move(from), objects.isa());
}

std::tuple<Axes, double, double> choose(const Space& objects, const Space* queries,
                                        std::optional<std::size_t> dimension, double n_hits,
                                        std::size_t threads, const nb::object& progress) {
    const Watch watch = python_watch(progress);
    const WithoutGil without_gil;
    ChosenAxes chosen =
        choose_axes(objects, {queries, dimension.value_or(0), n_hits}, threads, watch);
    return {std::move(chosen.projection), chosen.survivors, chosen.seconds_per_object};
}

Result<double> rows(const AxisProjection& projection) {
    const std::size_t n = projection.dimension(), n_columns = projection.n_columns();
    auto numbers = std::make_unique<double[]>(n * n_columns);
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(projection.axis(i), n_columns, numbers.get() + i * n_columns);
    }
    return to_array(std::move(numbers), {n, n_columns});
}

std::optional<Result<double>> origin(const AxisProjection& projection) {
    if (projection.origin().empty()) return std::nullopt;
    return copied(projection.origin(), {projection.n_columns()});
}

Axes axes_of(const CodeTable& table) {
    return std::const_pointer_cast<AxisProjection>(table.axes());  // nanobind has none to const
}

std::shared_ptr<CodeTable> code_table(const Space& objects,
                                      const std::shared_ptr<Projection>& projection,
                                      std::size_t threads, const nb::object& progress) {
    const Watch watch = python_watch(progress);
    const WithoutGil without_gil;
    return std::make_shared<CodeTable>(objects, projection, threads, watch);
}

std::string find_fault(const CodeTable& table, const Space& objects, std::size_t threads,
                       const nb::object& progress) {
    const Watch watch = python_watch(progress);
    const WithoutGil without_gil;
    return table.find_fault(objects, threads, watch);
}

NamedArrays arrays(const nb::handle_t<CodeTable>& self) {
    return to_dict(nb::cast<const CodeTable&>(self).arrays(), self);
}

std::shared_ptr<CodeTable> restore(const Space& objects, const NamedArrays& arrays) {
    const Arrays parts = from_dict(arrays);
    const WithoutGil without_gil;
    return std::make_shared<CodeTable>(objects, parts);
}

void check_table(const CodeTable& table, const Space& objects) {
    if (table.size() != objects.size()) {
        throw std::invalid_argument("the table is of other objects");
    }
}

auto top_k(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, const CodeTable& table, bool skip_self,
           std::size_t k, const std::optional<Thresholds>& floors, std::size_t threads,
           const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names, floors);
    check_table(table, objects);
    return count_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
        return to_counts(codes_top_k(problem, table, k, threads, watch, values, hits));
    });
}

auto above(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, const CodeTable& table,
           const Thresholds& thresholds, std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    check_table(table, objects);
    return count_above(problem, thresholds, progress, [&](const Watch& watch, auto& answers) {
        return to_counts(codes_above(problem, table, thresholds.data(), threads, watch, answers));
    });
}

}  // namespace

void register_codes(nb::module_& m) {
    static nb::handle coordinate_fault;
    coordinate_fault = new_fault(m, "CoordinateFault");
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* type) {
            try {
                std::rethrow_exception(thrown);
            } catch (const CoordinateFault& fault) {
                PyErr_SetString(static_cast<nb::handle*>(type)->ptr(), fault.what());
            }
        },
        &coordinate_fault);
    nb::class_<Projection>(m, "Projection", "Puts objects into a few coordinates.")
        .def_prop_ro("dimension", &Projection::dimension);
    nb::class_<AxisProjection, Projection>(m, "AxisProjection", "Puts vectors on axes.")
        .def("rows", &rows)
        .def("origin", &origin);
    nb::class_<CodeTable>(m, "CodeTable", "Objects in 8-bit codes that bound their scores.")
        .def("__len__", &CodeTable::size)
        .def_prop_ro("dimension", &CodeTable::dimension)
        .def_prop_ro("n_leaves", &CodeTable::n_leaves)
        .def_prop_ro("axes", &axes_of)
        .def("find_fault", &find_fault, "objects"_a, "threads"_a, "progress"_a.none())
        .def_prop_ro("n_bytes", &CodeTable::n_bytes)
        .def("arrays", &arrays);
    m.def("axis_projection", &axis_projection, "objects"_a, "axes"_a, "origin"_a.none());
    m.def("choose_axes", &choose, "objects"_a, "queries"_a.none(), "dimension"_a.none(), "n_hits"_a,
          "threads"_a, "progress"_a.none());
    m.def("guess_axes_seconds", &guess_axes_seconds, "n_objects"_a, "n_columns"_a);
    m.def("code_table", &code_table, "objects"_a, "projection"_a, "threads"_a, "progress"_a.none());
    m.def("restore_codes", &restore, "objects"_a, "arrays"_a);
    m.def("codes_top_k", &top_k, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "table"_a, "skip_self"_a, "k"_a, "floors"_a.none(), "threads"_a, "progress"_a.none());
    m.def("codes_above", &above, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "table"_a, "thresholds"_a, "threads"_a, "progress"_a.none());
}

}  // namespace fastmks::bindings
