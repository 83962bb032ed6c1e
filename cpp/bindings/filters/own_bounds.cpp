#include "fastmks/filters/own_bounds.hpp"

#include "bindings/filters/filters.hpp"

namespace fastmks::bindings {

void register_own_bounds(nb::module_& m) {
    const auto serves = [](const Space&) { return true; };
    bind_searches(m, "own_bounds", &own_bounds_top_k, &own_bounds_above, serves);
    bind_approximate(m, "own_bounds", &own_bounds_approximate_top_k, serves);
}

}  // namespace fastmks::bindings
