#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fastmks/stores/vector_store.hpp"
#include "tests/support/numbers.hpp"

namespace fastmks::test {

/// Row-major vectors.
struct Vectors {
    std::size_t n_rows;
    std::size_t n_columns;
    std::vector<double> data;

    [[nodiscard]] const double* row(std::size_t i) const { return data.data() + i * n_columns; }
};

/// Entries that float32 holds too, of sizes around 2^-largest to 2^largest; about half are zero.
/// The second row is empty.
inline Vectors draw_vectors(std::size_t n_rows, std::size_t n_columns, int largest,
                            std::uint64_t seed) {
    Draw draw(seed);
    Vectors vectors{n_rows, n_columns, std::vector<double>(n_rows * n_columns)};
    for (std::size_t at = 0; at < vectors.data.size(); ++at) {
        const double value = draw.short_wide(largest);
        if (draw.below(2) == 0 && at / n_columns != 1) vectors.data[at] = value;
    }
    return vectors;
}

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
    [[nodiscard]] SparseStore<T> store(std::size_t n_columns) const {
        return {offsets.data(),     columns.data(), values.data(),
                offsets.size() - 1, n_columns,      values.size()};
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

/// A store and the arrays it reads.
template <class T>
struct KeptDense {
    explicit KeptDense(const Vectors& vectors)
        : data(vectors.data.begin(), vectors.data.end()),
          store(data.data(), vectors.n_rows, vectors.n_columns) {}
    std::vector<T> data;
    DenseStore<T> store;
};

template <class T>
struct KeptSparse {
    explicit KeptSparse(const Vectors& vectors)
        : csr(vectors), store(csr.store(vectors.n_columns)) {}
    Csr<T> csr;
    SparseStore<T> store;
};

using StorePointer = std::shared_ptr<const VectorStore>;

template <class Kept>
StorePointer make_kept(const Vectors& vectors) {
    auto kept = std::make_shared<Kept>(vectors);
    return StorePointer(kept, &kept->store);
}

inline StorePointer make_store(const Vectors& vectors, StoreKind kind) {
    switch (kind) {
        case StoreKind::dense_f64:
            return make_kept<KeptDense<double>>(vectors);
        case StoreKind::dense_f32:
            return make_kept<KeptDense<float>>(vectors);
        case StoreKind::sparse_f64:
            return make_kept<KeptSparse<double>>(vectors);
        case StoreKind::sparse_f32:
            break;
    }
    return make_kept<KeptSparse<float>>(vectors);
}

}  // namespace fastmks::test
