#include "fastmks/core/matrix.hpp"

#include <limits>

#include "bindings/core/arrays.hpp"
#include "fastmks/simd/loops.hpp"

// Products and eigenvectors for the package, which calls no BLAS: that of numpy may hang when
// Python ends while another thread is in it.
namespace fastmks::bindings {
namespace {

const Watch unwatched = [](std::size_t) {};

MatrixWork work() {
    return {loops_for(available_isas().back()).matrices, 1, unwatched};
}

Matrix read(const double* numbers, std::size_t n_rows, std::size_t n_columns) {
    Matrix matrix(n_rows, n_columns);
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::copy_n(numbers + i * n_columns, n_columns, matrix.row(i));
    }
    return matrix;
}

Result<double> write(const Matrix& matrix) {
    return copied_rows(matrix.n_rows(), matrix.n_columns(),
                       [&](std::size_t i) { return matrix.row(i); });
}

std::tuple<Result<double>, Result<double>> eigenvectors(const Array<double, 2>& symmetric) {
    const std::size_t n = symmetric.shape(0);
    if (symmetric.shape(1) != n) throw std::invalid_argument("the matrix must be square");
    Eigen found;
    {
        const WithoutGil without_gil;
        const double* const end = symmetric.data() + n * n;
        if (std::all_of(symmetric.data(), end, [](double x) { return std::isfinite(x); })) {
            found = eigen(read(symmetric.data(), n, n), work());
        } else {
            found.values.assign(n, std::numeric_limits<double>::quiet_NaN());
            found.vectors = Matrix(n, n);
            found.vectors.fill(std::numeric_limits<double>::quiet_NaN());
        }
    }
    return {copied(found.values, {n}), write(found.vectors)};
}

Result<double> gram(const Array<double, 2>& rows) {
    const std::size_t n = rows.shape(1);
    Matrix sum(n, n);
    {
        const WithoutGil without_gil;
        add_gram(read(rows.data(), rows.shape(0), n), sum, work());
        complete(sum);
    }
    return write(sum);
}

}  // namespace

void register_matrix(nb::module_& m) {
    m.def("eigenvectors", &eigenvectors, "symmetric"_a,
          "Eigenvalues, the greatest first, and eigenvectors as rows; NaN where the matrix is not "
          "finite.");
    m.def("gram", &gram, "rows"_a, "The products of all pairs of columns.");
}

}  // namespace fastmks::bindings
