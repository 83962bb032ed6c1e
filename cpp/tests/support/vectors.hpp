#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fastmks/spaces/vector_space.hpp"
#include "tests/support/numbers.hpp"

namespace fastmks::test {

/// Row-major vectors.
struct Vectors {
    std::size_t n_rows;
    std::size_t n_columns;
    std::vector<double> data;

    [[nodiscard]] const double* row(std::size_t i) const { return data.data() + i * n_columns; }
};

/// Vectors whose entries are drawn one after the other: entry(draw, row, column) is each.
template <class Entry>
Vectors draw_rows(std::size_t n_rows, std::size_t n_columns, std::uint64_t seed, Entry entry) {
    Draw draw(seed);
    Vectors vectors{n_rows, n_columns, std::vector<double>(n_rows * n_columns)};
    for (std::size_t at = 0; at < vectors.data.size(); ++at) {
        vectors.data[at] = entry(draw, at / n_columns, at % n_columns);
    }
    return vectors;
}

/// Entries that float32 holds too, of sizes around 2^-largest to 2^largest; about half are zero.
/// The second row is empty.
inline Vectors draw_vectors(std::size_t n_rows, std::size_t n_columns, int largest,
                            std::uint64_t seed) {
    return draw_rows(n_rows, n_columns, seed, [=](Draw& draw, std::size_t row, std::size_t) {
        const double value = draw.short_wide(largest);
        return draw.below(2) == 0 && row != 1 ? value : 0.0;
    });
}

/// Rows of offset + spread * (unit numbers), each entry.
inline Vectors spread_out(std::size_t n, std::size_t n_columns, double offset, double spread,
                          std::uint64_t seed) {
    return draw_rows(n, n_columns, seed, [=](Draw& draw, std::size_t, std::size_t) {
        return offset + spread * draw.unit();
    });
}

/// Small whole numbers: every product and sum of them is exact.
inline Vectors whole_numbers(std::size_t n, std::size_t n_columns, std::uint64_t seed) {
    return draw_rows(n, n_columns, seed, [](Draw& draw, std::size_t, std::size_t) {
        return static_cast<double>(draw.below(41)) - 20.0;
    });
}

using StorePointer = std::shared_ptr<const VectorStore>;

/// The arrays of a sparse matrix.
template <class T>
struct Csr {
    explicit Csr(const Vectors& vectors) : offsets{0} {
        for (std::size_t at = 0; at < vectors.data.size(); ++at) {
            if (vectors.data[at] != 0.0) {
                columns.push_back(static_cast<std::int32_t>(at % vectors.n_columns));
                values.push_back(static_cast<T>(vectors.data[at]));
            }
            if ((at + 1) % vectors.n_columns == 0) end_row();
        }
    }
    Csr(std::vector<std::int64_t> offsets_, std::vector<std::int32_t> columns_,
        std::vector<T> values_)
        : offsets(std::move(offsets_)), columns(std::move(columns_)), values(std::move(values_)) {}

    void end_row() { offsets.push_back(static_cast<std::int64_t>(columns.size())); }
    /// Reads these arrays, which must outlive it.
    [[nodiscard]] StorePointer store(std::size_t n_columns) const {
        return make_sparse_store(offsets.data(), columns.data(), values.data(), offsets.size() - 1,
                                 n_columns, values.size());
    }

    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    std::vector<T> values;
};

enum class StoreKind { dense_f64, dense_f32, sparse_f64, sparse_f32 };

inline constexpr StoreKind store_kinds[] = {StoreKind::dense_f64, StoreKind::dense_f32,
                                            StoreKind::sparse_f64, StoreKind::sparse_f32};

inline std::string to_string(StoreKind kind) {
    constexpr const char* names[] = {"dense f64", "dense f32", "sparse f64", "sparse f32"};
    return names[static_cast<int>(kind)];
}

/// A store that keeps the arrays it reads alive.
template <class T>
StorePointer make_dense(const Vectors& vectors) {
    const auto data = std::make_shared<std::vector<T>>(vectors.data.begin(), vectors.data.end());
    const StorePointer store =
        make_dense_store(data->data(), vectors.n_rows, vectors.n_columns, vectors.n_columns);
    return {store.get(), [data, store](const VectorStore*) {}};
}

template <class T>
StorePointer make_sparse(Csr<T> rows, std::size_t n_columns) {
    const auto csr = std::make_shared<Csr<T>>(std::move(rows));
    const StorePointer store = csr->store(n_columns);
    return {store.get(), [csr, store](const VectorStore*) {}};
}

inline StorePointer make_store(const Vectors& vectors, StoreKind kind) {
    switch (kind) {
        case StoreKind::dense_f64:
            return make_dense<double>(vectors);
        case StoreKind::dense_f32:
            return make_dense<float>(vectors);
        case StoreKind::sparse_f64:
            return make_sparse(Csr<double>(vectors), vectors.n_columns);
        case StoreKind::sparse_f32:
            break;
    }
    return make_sparse(Csr<float>(vectors), vectors.n_columns);
}

inline VectorSpace space_of(const Vectors& vectors, const VectorKernel& kernel = {},
                            StoreKind kind = StoreKind::dense_f64,
                            Isa isa = available_isas().back()) {
    return VectorSpace(make_store(vectors, kind), kernel, isa);
}

}  // namespace fastmks::test
