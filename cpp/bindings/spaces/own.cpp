// Kernels of the user's own: Python functions, compiled functions, matrices of values.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/spaces/python_space.hpp"
#include "fastmks/spaces/function_space.hpp"
#include "fastmks/spaces/precomputed_space.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using SpaceHandle = std::shared_ptr<Space>;  // nanobind holds no pointers to const

SpaceHandle python_space(nb::handle calls, double relative, const std::string& isa) {
    return std::make_shared<PythonSpace>(calls, relative, parse_isa(isa));
}

// Numbers from one row to the next.
std::size_t checked_stride(const Rows& rows) {
    const auto n_columns = static_cast<std::int64_t>(rows.shape(1));
    const std::int64_t stride = rows.shape(0) > 1 ? rows.stride(0) : n_columns;
    if (rows.shape(0) > 0 && ((n_columns > 1 && rows.stride(1) != 1) || stride < n_columns)) {
        throw std::invalid_argument("the numbers of a row must lie side by side");
    }
    return static_cast<std::size_t>(stride);
}

SpaceHandle function_space(const Rows& rows, nb::handle, std::uintptr_t address, double relative,
                           const std::string& isa) {
    if (address == 0) throw std::invalid_argument("no function there");
    return std::make_shared<FunctionSpace>(
        DoubleRows{rows.data(), rows.shape(0), rows.shape(1), checked_stride(rows)},
        reinterpret_cast<PairFunction>(address), relative, parse_isa(isa));
}

SpaceHandle precomputed_space(const Rows& values, const Positions& places, bool has_columns,
                              std::size_t n_columns, const Thresholds& self_values, double relative,
                              const std::string& isa) {
    const auto limit = static_cast<std::int64_t>(has_columns ? std::min(values.shape(0), n_columns)
                                                             : values.shape(0));
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places.data()[i] < 0 || places.data()[i] >= limit) {
            throw std::invalid_argument("places must exist");
        }
    }
    if (n_columns > values.shape(1)) throw std::invalid_argument("too few columns");
    return std::make_shared<PrecomputedSpace>(
        ValueTable{values.data(), n_columns, checked_stride(values)},
        std::vector<std::int64_t>(places.data(), places.data() + places.size()), has_columns,
        std::vector<double>(self_values.data(), self_values.data() + self_values.size()), relative,
        parse_isa(isa));
}

std::uintptr_t capsule_address(const nb::capsule& capsule) {
    return reinterpret_cast<std::uintptr_t>(capsule.data());
}

}  // namespace

void register_own(nb::module_& m) {
    m.def("python_space", &python_space, "calls"_a, "relative"_a, "isa"_a,
          "The space does not keep `calls` alive.");
    m.def("function_space", &function_space, "rows"_a.noconvert(), "owner"_a, "address"_a,
          "relative"_a, "isa"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
          "A function double(const double*, const double*, intp) that `owner` keeps alive.");
    m.def("precomputed_space", &precomputed_space, "values"_a.noconvert(), "places"_a,
          "has_columns"_a, "n_columns"_a, "self_values"_a, "relative"_a, "isa"_a,
          nb::keep_alive<0, 1>());
    m.def("capsule_address", &capsule_address, "capsule"_a, "Where a capsule points.");
}

}  // namespace fastmks::bindings
