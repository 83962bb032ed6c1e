#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/core/gil.hpp"
#include "fastmks/core/space.hpp"

/// What every binding includes: nanobind with the types that it converts.
namespace fastmks::bindings {

namespace nb = nanobind;
using namespace nb::literals;

using MutableSpace = std::shared_ptr<Space>;  // nanobind holds no pointers to const

/// For functions that run without the GIL from their first line to their last.
using Unlocked = nb::call_guard<WithoutGil>;

/// The instruction set of that name; throws std::invalid_argument where this CPU has none.
[[nodiscard]] Isa parse_isa(const std::string& name);

}  // namespace fastmks::bindings
