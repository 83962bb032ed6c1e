// Kernels of the user's own: Python functions, compiled functions, matrices of values.

#include "bindings/core/arrays.hpp"
#include "bindings/spaces/python_space.hpp"
#include "fastmks/spaces/function_space.hpp"
#include "fastmks/spaces/precomputed_space.hpp"

namespace fastmks::bindings {
namespace {

MutableSpace python_space(nb::handle calls, double relative, bool is_symmetric,
                          const std::string& isa) {
    return std::make_shared<PythonSpace>(calls, StatedFacts{relative, is_symmetric},
                                         parse_isa(isa));
}

MutableSpace function_space(const Rows<double>& rows, nb::handle, std::uintptr_t address,
                            double relative, bool is_symmetric, const std::string& isa) {
    if (address == 0) throw std::invalid_argument("no function there");
    return std::make_shared<FunctionSpace>(
        DoubleRows{rows.data(), rows.shape(0), rows.shape(1), checked_stride(rows)},
        reinterpret_cast<PairFunction>(address), StatedFacts{relative, is_symmetric},
        parse_isa(isa));
}

MutableSpace precomputed_space(const Rows<double>& values, const Positions& places,
                               bool has_columns, std::size_t n_columns,
                               const Thresholds& self_values, double relative,
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
    m.def("python_space", &python_space, "calls"_a, "relative"_a, "is_symmetric"_a, "isa"_a,
          "The space does not keep `calls` alive.");
    m.def("function_space", &function_space, "rows"_a.noconvert(), "owner"_a, "address"_a,
          "relative"_a, "is_symmetric"_a, "isa"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
          "A function double(const double*, const double*, intp) that `owner` keeps alive.");
    m.def("precomputed_space", &precomputed_space, "values"_a.noconvert(), "places"_a,
          "has_columns"_a, "n_columns"_a, "self_values"_a, "relative"_a, "isa"_a,
          nb::keep_alive<0, 1>());
    m.def("capsule_address", &capsule_address, "capsule"_a, "Where a capsule points.");
}

}  // namespace fastmks::bindings
