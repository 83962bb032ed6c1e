#include "fastmks/filters/codes.hpp"

#include "bindings/filters/filters.hpp"
#include "fastmks/filters/axes.hpp"

namespace fastmks::bindings {
namespace {

using Axes = std::shared_ptr<AxisProjection>;

Axes axis_projection(const Space& objects, const Array<double, 2>& axes,
                     const std::optional<Thresholds>& origin) {
    std::vector<double> from;
    if (origin) from.assign(origin->data(), origin->data() + origin->size());
    const std::size_t n_axes = axes.shape(0), n_columns = axes.shape(1);
    return std::make_shared<AxisProjection>(scores_of(objects).kind,
                                            padded_rows(axes.data(), n_axes, n_columns), n_axes,
                                            n_columns, std::move(from), objects.isa());
}

std::tuple<Axes, double, double> choose(const Space& objects, const Space* queries,
                                        std::optional<std::size_t> dimension, double n_hits,
                                        std::size_t threads, const nb::object& progress) {
    const Watch watch = python_watch(progress);
    ChosenAxes chosen =
        choose_axes(objects, {queries, dimension.value_or(0), n_hits}, threads, watch);
    return {std::move(chosen.projection), chosen.survivors, chosen.seconds_per_object};
}

Result<double> rows(const AxisProjection& projection) {
    return copied_rows(projection.dimension(), projection.n_columns(),
                       [&](std::size_t i) { return projection.axis(i); });
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
    return std::make_shared<CodeTable>(objects, projection, threads, python_watch(progress));
}

std::string find_fault(const CodeTable& table, const Space& objects, std::size_t threads,
                       const nb::object& progress) {
    return table.find_fault(objects, threads, python_watch(progress));
}

}  // namespace

void register_codes(nb::module_& m) {
    nb::class_<Projection>(m, "Projection", "Puts objects into a few coordinates.")
        .def_prop_ro("dimension", &Projection::dimension);
    nb::class_<AxisProjection, Projection>(m, "AxisProjection", "Puts vectors on axes.")
        .def("rows", &rows)
        .def("origin", &origin);
    bind_structure<CodeTable>(m, "CodeTable", "Objects in 8-bit codes that bound their scores.")
        .def_prop_ro("dimension", &CodeTable::dimension)
        .def_prop_ro("n_leaves", &CodeTable::n_leaves)
        .def_prop_ro("axes", &axes_of)
        .def("find_fault", &find_fault, "objects"_a, "threads"_a, "progress"_a.none(), Unlocked());
    m.def("axis_projection", &axis_projection, "objects"_a, "axes"_a, "origin"_a.none());
    m.def("choose_axes", &choose, "objects"_a, "queries"_a.none(), "dimension"_a.none(), "n_hits"_a,
          "threads"_a, "progress"_a.none(), Unlocked());
    m.def("guess_axes_seconds", &guess_axes_seconds, "n_objects"_a, "n_columns"_a);
    m.def("code_table", &code_table, "objects"_a, "projection"_a, "threads"_a, "progress"_a.none(),
          Unlocked());
    m.def("restore_codes", &restore_structure<CodeTable>, "objects"_a, "arrays"_a);
    const auto serves = [](const CodeTable& table, const Space& objects) {
        return table.size() == objects.size();
    };
    bind_searches<CodeTable>(m, "codes", &codes_top_k, &codes_above, serves);
    bind_approximate<CodeTable>(m, "codes", &codes_approximate_top_k, serves);
}

}  // namespace fastmks::bindings
