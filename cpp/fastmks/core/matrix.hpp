#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "fastmks/core/parallel.hpp"
#include "fastmks/simd/isa.hpp"
#include "fastmks/simd/matrix_loops.hpp"

namespace fastmks {

/// A matrix of float64 numbers, at first zeros. Rows begin at whole cache lines, an odd number of
/// them apart, so that columns do not share one set of a cache; zeros lie between them.
class Matrix {
public:
    Matrix() = default;
    Matrix(std::size_t n_rows, std::size_t n_columns);

    [[nodiscard]] std::size_t n_rows() const noexcept { return n_rows_; }
    [[nodiscard]] std::size_t n_columns() const noexcept { return n_columns_; }
    [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
    [[nodiscard]] double* row(std::size_t i) noexcept { return numbers_.get() + i * stride_; }
    [[nodiscard]] const double* row(std::size_t i) const noexcept {
        return numbers_.get() + i * stride_;
    }
    /// Keeps the first n rows, or columns; the memory stays.
    void keep_rows(std::size_t n) noexcept { n_rows_ = n; }
    void keep_columns(std::size_t n) noexcept;
    void fill(double value) noexcept;

private:
    struct Free {
        void operator()(double* numbers) const noexcept {
            ::operator delete[](numbers, std::align_val_t{64});
        }
    };
    std::size_t n_rows_ = 0;
    std::size_t n_columns_ = 0;
    std::size_t stride_ = 0;
    std::unique_ptr<double[], Free> numbers_;
};

/// How products of matrices run: without any library, whose threads would need settings
/// and a shutdown. The same bits on every CPU and with any number of threads.
struct MatrixWork {
    const MatrixLoops& loops;
    std::size_t threads;
    const Watch& watch;
};

/// out += AB, of which as many columns as `out` has, from column `begin` on, a multiple of 8.
void add_product(const Matrix& a, const Matrix& b, Matrix& out, const MatrixWork& work,
                 std::size_t begin = 0);
/// out += A^T B.
void add_transposed_product(const Matrix& a, const Matrix& b, Matrix& out, const MatrixWork& work);
/// out += A^T A, of which the part above the diagonal may be missing: see `complete`.
void add_gram(const Matrix& a, Matrix& out, const MatrixWork& work);
/// Copies what lies on one side of the diagonal of a sum of Gram matrices to the other.
void complete(Matrix& gram);

/// Eigenvalues of a symmetric matrix, the greatest first, and their eigenvectors as rows.
struct Eigen {
    std::vector<double> values;
    Matrix vectors;
};

/// By Householder reflections and the QL method. The vectors are orthonormal to about n units of
/// the last place, whatever the matrix; it must be finite.
[[nodiscard]] Eigen eigen(Matrix matrix, const MatrixWork& work);

}  // namespace fastmks
