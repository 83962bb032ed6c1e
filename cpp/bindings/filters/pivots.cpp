
#include "bindings/filters/filters.hpp"
#include "fastmks/filters/pivot_search.hpp"
#include "fastmks/spaces/traced_space.hpp"

namespace fastmks::bindings {
namespace {

std::shared_ptr<PivotProjection> pivot_projection(const Space& objects, const Positions& pivots) {
    const std::vector<std::int64_t> wanted(pivots.data(), pivots.data() + pivots.size());
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

std::shared_ptr<PivotTable> pivot_table(const std::shared_ptr<PivotProjection>& projection,
                                        std::size_t threads, const nb::object& progress) {
    return std::make_shared<PivotTable>(projection, threads, python_watch(progress));
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
        .def("find_fault", &PivotProjection::find_fault, Unlocked());
    bind_structure<PivotTable>(m, "PivotTable", "All objects on the span of pivots.");
    m.def("pivot_projection", &pivot_projection, "objects"_a, "pivots"_a, nb::keep_alive<0, 1>(),
          Unlocked());
    m.def("pivot_table", &pivot_table, "projection"_a, "threads"_a, "progress"_a.none(),
          nb::keep_alive<0, 1>(), Unlocked());
    m.def("restore_pivots", &restore, "objects"_a, "arrays"_a);
    const auto serves = [](const PivotTable& table, const Space& objects) {
        return &table.projection().objects() == &untraced(objects);
    };
    bind_searches<PivotTable>(m, "pivots", &pivots_top_k, &pivots_above, serves);
    bind_approximate<PivotTable>(m, "pivots", &pivots_approximate_top_k, serves);
}

}  // namespace fastmks::bindings
