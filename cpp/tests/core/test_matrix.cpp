// Products and eigenvectors of our own, against sums in their plain order and against what
// eigenvectors are.

#include "fastmks/core/matrix.hpp"

#include "fastmks/simd/loops.hpp"
#include "tests/support/testing.hpp"

namespace {

MatrixWork work_of(Isa isa, std::size_t threads = 1) {
    return {loops_for(isa).matrices, threads, ignore};
}

Matrix draw_matrix(std::size_t n_rows, std::size_t n_columns, std::uint64_t seed) {
    Draw draw(seed);
    Matrix drawn(n_rows, n_columns);
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t j = 0; j < n_columns; ++j) drawn.row(i)[j] = draw.unit();
    }
    return drawn;
}

bool is_same(const Matrix& a, const Matrix& b) {
    bool same = a.n_rows() == b.n_rows() && a.n_columns() == b.n_columns();
    for (std::size_t i = 0; same && i < a.n_rows(); ++i) {
        for (std::size_t j = 0; j < a.n_columns(); ++j) {
            same = same && same_bits(a.row(i)[j], b.row(i)[j]);
        }
    }
    return same;
}

// The sum over t of factor(i, t) * b(t, j), in order.
template <class Factor>
Matrix plain_product(std::size_t n_rows, std::size_t n_terms, const Matrix& b, Factor factor) {
    Matrix out(n_rows, b.n_columns());
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t j = 0; j < b.n_columns(); ++j) {
            for (std::size_t t = 0; t < n_terms; ++t) out.row(i)[j] += factor(i, t) * b.row(t)[j];
        }
    }
    return out;
}

Matrix gram(const Matrix& rows, double scale = 1.0) {
    Matrix sum(rows.n_columns(), rows.n_columns());
    for (std::size_t i = 0; i < rows.n_columns(); ++i) {
        for (std::size_t j = 0; j < rows.n_columns(); ++j) {
            for (std::size_t t = 0; t < rows.n_rows(); ++t) {
                sum.row(i)[j] += scale * rows.row(t)[i] * rows.row(t)[j];
            }
        }
    }
    return sum;
}

Matrix copy(const Matrix& matrix) {
    Matrix other(matrix.n_rows(), matrix.n_columns());
    for (std::size_t i = 0; i < matrix.n_rows(); ++i) {
        for (std::size_t j = 0; j < matrix.n_columns(); ++j) other.row(i)[j] = matrix.row(i)[j];
    }
    return other;
}

// Whether these are the eigenvectors of a matrix, orthonormal, the greatest value first.
void check_eigen(const Matrix& matrix, Isa isa) {
    const std::size_t n = matrix.n_rows();
    const Eigen found = eigen(copy(matrix), work_of(isa));
    double greatest = 0.0, off = 0.0, defect = 0.0;
    for (std::size_t i = 0; i < n; ++i) greatest = std::max(greatest, std::abs(found.values[i]));
    bool is_ordered = true;
    for (std::size_t v = 0; v < n; ++v) {
        is_ordered = is_ordered && (v == 0 || found.values[v] <= found.values[v - 1]);
        const double* x = found.vectors.row(v);
        for (std::size_t i = 0; i < n; ++i) {
            double image = 0.0, product = 0.0;
            for (std::size_t j = 0; j < n; ++j) {
                image += matrix.row(i)[j] * x[j];
                product += found.vectors.row(i)[j] * x[j];
            }
            off = std::max(off, std::abs(image - found.values[v] * x[i]));
            defect = std::max(defect, std::abs(product - (i == v ? 1.0 : 0.0)));
        }
    }
    const double few = 4e-16 * static_cast<double>(n + 10);
    CHECK(is_ordered);
    CHECK(off <= few * greatest);
    CHECK(defect <= few);
}

}  // namespace

TEST(products_of_matrices_are_sums_in_order_on_every_instruction_set) {
    for (const Isa isa : available_isas()) {
        const check::Context at(to_string(isa));
        for (const std::size_t n : {1u, 7u, 16u, 70u}) {
            for (const std::size_t n_terms : {1u, 9u, 300u}) {
                for (const std::size_t n_columns : {1u, 8u, 17u, 260u}) {
                    const Matrix b = draw_matrix(n_terms, n_columns, 1);
                    const Matrix a = draw_matrix(n, n_terms, 2);
                    const Matrix across = draw_matrix(n_terms, n, 3);
                    Matrix ab(n, n_columns), cb(n, n_columns);
                    add_product(a, b, ab, work_of(isa, 2));
                    add_transposed_product(across, b, cb, work_of(isa));
                    CHECK(is_same(ab, plain_product(n, n_terms, b,
                                                    [&](auto i, auto t) { return a.row(i)[t]; })));
                    CHECK(is_same(cb, plain_product(n, n_terms, b, [&](auto i, auto t) {
                                      return across.row(t)[i];
                                  })));
                    Matrix sum(n_columns, n_columns), rest(n_columns, n_columns);
                    add_gram(b, sum, work_of(isa, 3));
                    complete(sum);
                    add_transposed_product(b, b, rest, work_of(isa));
                    CHECK(is_same(sum, rest));
                }
            }
        }
    }
}

TEST(columns_and_rows_can_be_given_up) {
    Matrix matrix = draw_matrix(5, 12, 4);
    const double kept = matrix.row(1)[2];
    matrix.keep_columns(3);
    matrix.keep_rows(2);
    CHECK(matrix.n_rows() == 2 && matrix.n_columns() == 3);
    CHECK(matrix.row(1)[2] == kept && matrix.row(1)[3] == 0.0 && matrix.row(1)[11] == 0.0);
    CHECK(matrix.stride() % 16 == 8);
}

TEST(eigenvectors_are_those_of_the_matrix) {
    for (const Isa isa : available_isas()) {
        const check::Context at(to_string(isa));
        for (const std::size_t n : {1u, 2u, 3u, 8u, 33u, 120u}) {
            const check::Context size(text("size", n));
            check_eigen(gram(draw_matrix(2 * n, n, n)), isa);
            check_eigen(gram(draw_matrix(n / 3 + 1, n, n)), isa);  // of less than full rank
            check_eigen(gram(draw_matrix(2 * n, n, n), 1e290), isa);
            check_eigen(gram(draw_matrix(2 * n, n, n), 1e-290), isa);
            check_eigen(Matrix(n, n), isa);
            Matrix mixed = draw_matrix(n, n, 5), steps(n, n), ones(n, n), graded(n, n);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    mixed.row(i)[j] = mixed.row(std::max(i, j))[std::min(i, j)];
                    ones.row(i)[j] = 1.0;
                    graded.row(i)[j] = std::exp2(-4.0 * static_cast<double>(i + j));
                }
                steps.row(i)[i] = static_cast<double>(i % 3) - 1.0;  // each value many times
            }
            check_eigen(mixed, isa);
            check_eigen(steps, isa);
            check_eigen(ones, isa);
            check_eigen(graded, isa);
        }
    }
}

TEST(eigenvectors_are_the_same_bits_on_every_instruction_set) {
    const Matrix matrix = gram(draw_matrix(90, 61, 7));
    const Eigen first = eigen(copy(matrix), work_of(Isa::baseline));
    for (const Isa isa : available_isas()) {
        const Eigen found = eigen(copy(matrix), work_of(isa, 2));
        CHECK(same_bits(found.values, first.values));
        CHECK(is_same(found.vectors, first.vectors));
    }
}
