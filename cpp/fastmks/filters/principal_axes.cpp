#include "fastmks/filters/principal_axes.hpp"

#include <cstdint>

namespace fastmks::choosing {
namespace {

constexpr double least_share = 1e-13;  // of a Gram matrix, whose rounding hides what is less

// matrix = matrix * other, some rows at a time.
void multiply(Matrix& matrix, const Matrix& other, const MatrixWork& work) {
    Matrix rows(std::min<std::size_t>(256, matrix.n_rows()), matrix.n_columns());
    Matrix products(rows.n_rows(), other.n_columns());
    const std::size_t most = rows.n_rows();
    for (std::size_t first = 0; first < matrix.n_rows(); first += most) {
        const std::size_t n = std::min(most, matrix.n_rows() - first);
        rows.keep_rows(n);
        products.keep_rows(n);
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(matrix.row(first + i), matrix.n_columns(), rows.row(i));
        }
        products.fill(0.0);
        add_product(rows, other, products, work);
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(products.row(i), other.n_columns(), matrix.row(first + i));
        }
    }
    matrix.keep_columns(other.n_columns());
}

Matrix transposed(const Matrix& matrix) {
    Matrix out(matrix.n_columns(), matrix.n_rows());
    for (std::size_t i = 0; i < matrix.n_rows(); ++i) {
        for (std::size_t j = 0; j < matrix.n_columns(); ++j) out.row(j)[i] = matrix.row(i)[j];
    }
    return out;
}

// Makes columns orthonormal; those that others span up to rounding are given up.
void orthonormalize(Matrix& columns, const MatrixWork& work) {
    for (int round = 0; round < 2; ++round) {  // the second one makes up for rounding in the first
        const std::size_t n = columns.n_columns();
        std::vector<double> lengths(n);
        for (std::size_t c = 0; c < columns.n_rows(); ++c) {
            const double* const row = columns.row(c);
            for (std::size_t i = 0; i < n; ++i) lengths[i] += row[i] * row[i];
        }
        for (double& length : lengths) length = length > 0.0 ? 1.0 / std::sqrt(length) : 0.0;
        for (std::size_t c = 0; c < columns.n_rows(); ++c) {
            for (std::size_t i = 0; i < n; ++i) columns.row(c)[i] *= lengths[i];
        }
        Matrix gram(n, n);
        add_gram(columns, gram, work);
        complete(gram);
        Eigen found = eigen(std::move(gram), work);
        std::size_t n_kept = 0;
        while (n_kept < n && found.values[n_kept] > least_share * found.values[0]) ++n_kept;
        found.vectors.keep_rows(n_kept);
        for (std::size_t i = 0; i < n_kept; ++i) {
            const double share = 1.0 / std::sqrt(found.values[i]);
            for (std::size_t j = 0; j < n; ++j) found.vectors.row(i)[j] *= share;
        }
        multiply(columns, transposed(found.vectors), work);
    }
}

// The principal axes of a sample as some orthonormal axes see it, as columns in terms of these.
// Adds to `turned` what the axes become when the sample's own covariance turns them.
Matrix principal(const View& view, const Places& sample, const Matrix& axes, Matrix* turned,
                 const MatrixWork& work) {
    Matrix gram(axes.n_columns(), axes.n_columns());
    view.for_blocks(sample, [&](const Matrix& block, std::size_t) {
        Matrix coordinates(block.n_rows(), axes.n_columns());
        add_product(block, axes, coordinates, work);
        add_gram(coordinates, gram, work);
        if (turned) add_transposed_product(block, coordinates, *turned, work);
    });
    complete(gram);
    return transposed(eigen(std::move(gram), work).vectors);
}

}  // namespace

Matrix all_axes(const View& view, const Places& sample, const MatrixWork& work) {
    Matrix gram(view.n_columns(), view.n_columns());
    view.for_blocks(sample, [&](const Matrix& block, std::size_t) { add_gram(block, gram, work); });
    complete(gram);
    return transposed(eigen(std::move(gram), work).vectors);
}

// A random part of the space that the vectors reach, turned towards their longest axes once.
Matrix first_axes(const View& view, const Places& sample, std::size_t n, const MatrixWork& work) {
    Matrix axes(view.n_columns(), n);
    std::uint64_t state = 1;
    view.for_blocks(sample, [&](const Matrix& block, std::size_t) {
        Matrix signs(block.n_rows(), n);
        for (std::size_t i = 0; i < signs.n_rows(); ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                signs.row(i)[j] = state >> 63 ? 1.0 : -1.0;
            }
        }
        add_transposed_product(block, signs, axes, work);
    });
    orthonormalize(axes, work);
    Matrix turned(view.n_columns(), axes.n_columns());
    const Matrix along = principal(view, sample, axes, &turned, work);
    axes = Matrix();
    multiply(turned, along, work);
    orthonormalize(turned, work);
    multiply(turned, principal(view, sample, turned, nullptr, work), work);
    return turned;
}

}  // namespace fastmks::choosing
