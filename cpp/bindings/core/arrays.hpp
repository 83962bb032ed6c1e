#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "fastmks/core/space.hpp"
#include "fastmks/core/top_k.hpp"

namespace fastmks::bindings {

namespace nb = nanobind;

template <class T>
using Result = nb::ndarray<nb::numpy, T>;
/// An array of D dimensions that Python keeps.
template <class T, int D>
using Array = nb::ndarray<const T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
using Positions = Array<std::int64_t, 1>;
using Thresholds = Array<double, 1>;

/// Hands an array over to Python.
template <class T>
Result<T> to_array(std::unique_ptr<T[]> values, std::initializer_list<std::size_t> shape) {
    T* data = values.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Result<T>(data, shape, owner);
}

/// A copy of some numbers for Python.
template <class T>
Result<T> copied(const std::vector<T>& numbers, std::initializer_list<std::size_t> shape) {
    auto copy = std::make_unique<T[]>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), copy.get());
    return to_array(std::move(copy), shape);
}

/// The positions in `among`, checked, or all objects.
[[nodiscard]] Selection selection(const Space& objects, const std::optional<Positions>& among);

/// Hits of several queries one after the other: those of query i are offsets[i] ... offsets[i + 1].
struct Flattened {
    std::size_t n_queries = 0;
    std::unique_ptr<std::int64_t[]> offsets;
    std::unique_ptr<double[]> values;
    std::unique_ptr<std::int64_t[]> positions;
};

using HitArrays = std::tuple<Result<std::int64_t>, Result<double>, Result<std::int64_t>>;

[[nodiscard]] Flattened flatten(const std::vector<std::vector<Hit>>& answers);
[[nodiscard]] HitArrays to_arrays(Flattened flattened);

}  // namespace fastmks::bindings
