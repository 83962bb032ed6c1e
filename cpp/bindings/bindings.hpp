#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "fastmks/simd/isa.hpp"

namespace fastmks::bindings {

/// The instruction set of that name; throws std::invalid_argument where this CPU has none.
[[nodiscard]] Isa parse_isa(const std::string& name);

}  // namespace fastmks::bindings
