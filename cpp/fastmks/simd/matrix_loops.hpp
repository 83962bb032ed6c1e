#pragma once

#include <cstddef>

namespace fastmks {

/// Sums of rows: out[i][c] += sum over t of factor(i, t) * rows[t][c], added in increasing t, with
/// factor(i, t) = factors[i * factor_row + t * factor_term]. A product of matrices, either of the
/// left one or of its transpose.
struct RowSums {
    const double* factors;
    std::size_t factor_row;
    std::size_t factor_term;
    const double* rows;
    std::size_t row_stride;
    std::size_t n_terms;
    double* out;
    std::size_t out_stride;
    std::size_t n_out;
    std::size_t n_columns;  ///< a multiple of 8
};

/// Takes a_i * b + b_i * a from a row, where `a` and `b` are vectors with the entries a_i and b_i
/// for this row: a symmetric matrix loses ab^T + ba^T.
struct RowUpdate {
    const double* a;
    double a_i;
    const double* b;
    double b_i;
};

/// The loops over matrices, built once per instruction set; all give the same bits. Rows have a
/// multiple of 8 columns.
struct MatrixLoops {
    void (*add_row_sums)(const RowSums&);
    /// <x, y>, in eight interleaved partial sums.
    double (*product)(const double* x, const double* y, std::size_t n);
    /// y += factor * x.
    void (*add_multiple)(double* y, const double* x, double factor, std::size_t n);
    /// Updates a row, and returns its product with x.
    double (*update_and_product)(double* row, RowUpdate update, const double* x, std::size_t n);
    /// (x, y) becomes (c x - s y, s x + c y).
    void (*rotate)(double* x, double* y, double c, double s, std::size_t n);
};

}  // namespace fastmks
