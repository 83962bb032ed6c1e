#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "fastmks/simd/isa.hpp"

namespace fastmks::bindings {

/// The instruction set of that name; throws std::invalid_argument where this CPU has none.
[[nodiscard]] Isa parse_isa(const std::string& name);

/// A new exception type of the module, for a fault of the core.
[[nodiscard]] nanobind::handle new_fault(nanobind::module_& m, const char* name);

}  // namespace fastmks::bindings
