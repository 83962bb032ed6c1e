#pragma once

#include <cstddef>
#include <cstdint>

namespace fastmks {

/// Sums over columns run in this many interleaved partial sums: column c adds to sum c % 8, in
/// increasing c, and the eight are combined as ((0+4)+(2+6)) + ((1+5)+(3+7)). This order, with
/// every product rounded before it is added, *is* the canonical value; see
/// docs/how-it-works/rounding.md.
inline constexpr std::size_t n_lanes = 8;

/// Columns of a query row as the loops need it: rounded up to whole lanes, zeros in the rest.
[[nodiscard]] static constexpr std::size_t padded(std::size_t n_columns) noexcept {
    return (n_columns + n_lanes - 1) / n_lanes * n_lanes;
}

/// Rows of a dense block: `rows[j]` is the first column of object j. Memory may be read, though not
/// used, up to `end`: most rows are followed by others.
template <class T>
struct DenseBlock {
    const T* const* rows;
    std::size_t n_rows;
    std::size_t n_columns;
    const T* end;
};

/// Queries of a block: n_queries rows of padded(n_columns) doubles.
struct DenseQueries {
    const double* rows;
    std::size_t n_queries;
    std::size_t n_columns;
};

/// Differences are taken as (x * before - y * before) * after. Both are powers of two, and both are
/// 1 unless a kernel's bandwidth is so large or so small that squares would leave the float64
/// range.
struct DifferenceScale {
    double before = 1.0;
    double after = 1.0;
};

/// One row of a sparse matrix: columns increasing, no column twice.
template <class T>
struct SparseRow {
    const std::int32_t* columns;
    const T* values;
    std::size_t n_entries;
};

/// Up to eight sparse queries side by side: column c of query i is table[slots[c] * 8 + i], and
/// slots[c] < 0 where no query has the column.
struct SparseQueries {
    const std::int32_t* slots;
    const double* table;
    std::size_t n_queries;
};

/// One side of a normalisation; see normalizer.hpp.
struct QueryNorm {
    double mantissa;
    double scale;
};

/// The rounding of distances from kernel values; see geometry.hpp.
struct HilbertRounding {
    double square_share;  ///< K(x, y)^2 is at most this share of K(x, x) K(y, y)
    double square_spare;  ///< and this, for underflow
    double slack_share;   ///< a squared distance is off by this share of K(x, x) + K(y, y)
    double slack_lost;    ///< and this
};

/// The loops that touch every column of every pair, for rows of one type. `out` is always row-major
/// with `stride` doubles from one query to the next.
template <class T>
struct RowLoops {
    void (*products)(DenseQueries, DenseBlock<T>, double* out, std::size_t stride);
    void (*squared_distances)(DenseQueries, DenseBlock<T>, DifferenceScale, double* out,
                              std::size_t stride);
    /// Sums of the smaller of two entries; for vectors without negative ones.
    void (*minimums)(DenseQueries, DenseBlock<T>, double* out, std::size_t stride);
    void (*sparse_products)(SparseQueries, SparseRow<T>, double* out, std::size_t stride);
    void (*sparse_minimums)(SparseQueries, SparseRow<T>, double* out, std::size_t stride);
};

/// The loops over columns and over values, built once per instruction set.
struct VectorLoops {
    RowLoops<double> f64;
    RowLoops<float> f32;
    template <class T>
    [[nodiscard]] const RowLoops<T>& rows() const noexcept {
        if constexpr (sizeof(T) == sizeof(double)) {
            return f64;
        } else {
            return f32;
        }
    }

    // Elementwise, in place.
    void (*affine)(double* values, std::size_t n, double scale, double offset);
    void (*power)(double* values, std::size_t n, unsigned degree);
    void (*exponential)(double* values, std::size_t n);
    void (*hyperbolic_tangent)(double* values, std::size_t n);
    void (*square_root)(double* values, std::size_t n);
    void (*normalize)(double* values, std::size_t n, QueryNorm query, const double* mantissas,
                      const double* scales, double limit);

    /// distances[i] = sqrt(self + selves[i] - 2 values[i]), the distance of two objects from K(x,
    /// y), K(x, x) and K(y, y); 0 where the square is within its slack of 0. True when values[i]^2
    /// is within what the self values allow everywhere.
    bool (*hilbert_distances)(const double* values, const double* selves, std::size_t n,
                              double self, HilbertRounding rounding, double* distances);

    /// True when no value is NaN or infinite.
    bool (*all_finite)(const double* values, std::size_t n);
    /// How many values are greater than `threshold`.
    std::size_t (*count_above)(const double* values, std::size_t n, double threshold);
};

}  // namespace fastmks
