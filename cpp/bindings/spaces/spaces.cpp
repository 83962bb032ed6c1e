

#include "bindings/core/arrays.hpp"
#include "fastmks/core/pulse.hpp"
#include "fastmks/spaces/algebra.hpp"
#include "fastmks/spaces/traced_space.hpp"
#include "fastmks/spaces/vector_space.hpp"

namespace fastmks::bindings {
namespace {

MutableSpace handed_out(const SpacePointer& space) {
    return std::const_pointer_cast<Space>(space);
}

std::vector<SpacePointer> taken_in(const std::vector<MutableSpace>& spaces) {
    return {spaces.begin(), spaces.end()};
}

MutableSpace vector_space(const std::shared_ptr<VectorStore>& store, const std::string& isa,
                          const std::string& form, unsigned degree, double scale, double offset,
                          double bandwidth) {
    const VectorKernel kernel{form, degree, scale, offset, bandwidth};
    return std::make_shared<VectorSpace>(store, kernel, parse_isa(isa));
}

MutableSpace normalized_space(const MutableSpace& space, bool is_mercer) {
    return handed_out(make_normalized(space, is_mercer));
}

Result<double> self_values(const Space& space) {
    auto values = std::make_unique<double[]>(space.size());
    {
        const WithoutGil without_gil;
        for (std::size_t i = 0; i < space.size(); ++i) {
            pulse_sometimes();
            values[i] = space.self_value(i);
        }
    }
    return to_array(std::move(values), {space.size()});
}

Result<bool> seen(const TracedSpace& space) {
    return array_of<bool>(space.size(), [&](std::size_t i) { return space.is_seen(i); });
}

}  // namespace

Isa parse_isa(const std::string& name) {
    for (const Isa isa : available_isas()) {
        if (to_string(isa) == name) return isa;
    }
    throw std::invalid_argument("no such instruction set here: " + name);
}

void register_spaces(nb::module_& m) {
    nb::class_<Space>(m, "Space", "Objects under one kernel.")
        .def("__len__", &Space::size)
        .def_prop_ro(
            "rounding",
            [](const Space& space) {
                const Rounding rounding = space.rounding();
                return std::pair(rounding.relative, rounding.absolute);
            },
            "(relative, absolute): |value - exact| <= relative * sqrt(K(x,x) K(y,y)) + absolute.")
        .def_prop_ro("isa", [](const Space& space) { return to_string(space.isa()); })
        .def_prop_ro(
            "has_bounds", [](const Space& space) { return space.bounds() != nullptr; },
            "Whether it has upper bounds of its own, far less expensive than values.")
        .def_prop_ro(
            "score",
            [](const Space& space) -> std::optional<std::string> {
                const ScoreMap* const scores = space.scores();
                if (!scores) return std::nullopt;
                switch (scores->kind) {
                    case ScoreKind::product:
                        return "product";
                    case ScoreKind::cosine:
                        return "cosine";
                    case ScoreKind::distance:
                        return "distance";
                }
                return std::nullopt;
            },
            "The kind of score that orders the values, or None.")
        .def_prop_ro("is_parallel", &Space::is_parallel,
                     "Whether several threads may evaluate at once.")
        .def_prop_ro("halves_self_scan", &Space::halves_self_scan,
                     "Whether a search of all objects for all should evaluate each pair once.")
        .def(
            "measure_cost",
            [](const Space& space) {
                const EvaluationCost cost = fastmks::measure_cost(space);
                return std::pair(cost.call, cost.value);
            },
            "(seconds per call, seconds per value in it)", Unlocked())
        .def_prop_ro("build_self_evaluations", &Space::build_self_evaluations,
                     "Evaluations of some K(x, x) that building it took.")
        .def("self_values", &self_values, "K(x, x) of every object.");

    nb::class_<TracedSpace, Space>(m, "TracedSpace",
                                   "Another space, which records the objects evaluated.")
        .def("seen", &seen, "Whether each object was evaluated.");

    m.def("available_isas", [] {
        std::vector<std::string> names;
        for (const Isa isa : available_isas()) names.push_back(to_string(isa));
        return names;
    });
    m.def("vector_space", &vector_space, "store"_a, "isa"_a, "form"_a, "degree"_a = 1,
          "scale"_a = 1.0, "offset"_a = 0.0, "bandwidth"_a = 1.0, Unlocked());
    m.def(
        "sum_space",
        [](const std::vector<MutableSpace>& terms) {
            return handed_out(make_sum(taken_in(terms)));
        },
        "terms"_a);
    m.def(
        "product_space",
        [](const std::vector<MutableSpace>& factors) {
            return handed_out(make_product(taken_in(factors)));
        },
        "factors"_a);
    m.def(
        "scaled_space",
        [](const MutableSpace& space, double factor) {
            return handed_out(make_scaled(space, factor));
        },
        "space"_a, "factor"_a);
    m.def("normalized_space", &normalized_space, "space"_a, "is_mercer"_a, Unlocked());
    m.def(
        "traced_space",
        [](const MutableSpace& space) { return std::make_shared<TracedSpace>(space); }, "space"_a);
}

}  // namespace fastmks::bindings
