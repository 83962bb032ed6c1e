#pragma once

#include "bindings/bindings.hpp"

#include "fastmks/core/archive.hpp"

/// The parts of structures as numpy arrays by name.
namespace fastmks::bindings {

/// Stands for an array of any numbers, in signatures only.
struct SomeArray;
using NamedArrays = nb::typed<nb::dict, nb::str, SomeArray>;

/// Read-only arrays without a copy, each of which keeps `structure` alive.
[[nodiscard]] NamedArrays to_dict(const Arrays& arrays, nb::handle structure);

/// Views of the arrays, without a copy; they are kept alive, and may be released without the GIL.
/// Throws std::invalid_argument for anything but an array of plain numbers in one piece.
[[nodiscard]] Arrays from_dict(const NamedArrays& arrays);

}  // namespace fastmks::bindings

template <>
struct nanobind::detail::type_caster<fastmks::bindings::SomeArray> {
    static constexpr auto Name = const_name("numpy.typing.NDArray[numpy.generic]");
};
