#pragma once

#include "bindings/bindings.hpp"

#include "fastmks/core/top_k.hpp"

namespace fastmks::bindings {

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

/// n numbers for Python; read(i) gives each.
template <class T, class Read>
Result<T> array_of(std::size_t n, Read read) {
    auto values = std::make_unique<T[]>(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = read(i);
    return to_array(std::move(values), {n});
}

/// A copy of n rows for Python; row(i) points to each.
template <class Row>
Result<double> copied_rows(std::size_t n, std::size_t n_columns, Row row) {
    auto numbers = std::make_unique<double[]>(n * n_columns);
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(row(i), n_columns, numbers.get() + i * n_columns);
    }
    return to_array(std::move(numbers), {n, n_columns});
}

/// Rows that may have spare room after them.
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

/// Numbers from one row to the next; throws std::invalid_argument where those of a row are apart.
template <class T>
std::size_t checked_stride(const Rows<T>& rows) {
    const auto n_columns = static_cast<std::int64_t>(rows.shape(1));
    const std::int64_t stride = rows.shape(0) > 1 ? rows.stride(0) : n_columns;
    if (rows.shape(0) > 0 && ((n_columns > 1 && rows.stride(1) != 1) || stride < n_columns)) {
        throw std::invalid_argument("the numbers of a row must lie side by side");
    }
    return static_cast<std::size_t>(stride);
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
