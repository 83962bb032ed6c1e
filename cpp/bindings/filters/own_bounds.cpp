#include "fastmks/filters/own_bounds.hpp"

#include "bindings/filters/filters.hpp"

namespace fastmks::bindings {

void register_own_bounds(nb::module_& m) {
    bind_searches(m, "own_bounds", &own_bounds_top_k, &own_bounds_above,
                  [](const Space&) { return true; });
}

}  // namespace fastmks::bindings
