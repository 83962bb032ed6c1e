#include "fastmks/core/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fastmks/core/rounding.hpp"

namespace fastmks {
namespace {

constexpr std::size_t rows_of_task = 64;
constexpr std::size_t columns_of_task = 256;
constexpr std::size_t terms_of_step = 1024;  // a few milliseconds
constexpr std::size_t most_sweeps = 64;      // for one eigenvalue; few need more than three
constexpr double nothing = 1e-290;           // beside a greatest entry near 1

std::size_t whole_lines(std::size_t n) {
    return (n + 7) / 8 * 8;
}

// Adds in tasks of some rows and columns of the result; columns before the first row of a task are
// skipped where only those on and above the diagonal are needed.
void add(const RowSums& sums, bool is_upper, const MatrixWork& work) {
    const std::size_t n_down = (sums.n_out + rows_of_task - 1) / rows_of_task;
    const std::size_t n_across = (sums.n_columns + columns_of_task - 1) / columns_of_task;
    parallel_for(n_down * n_across, work.threads, work.watch, [&](std::size_t t, Worker& worker) {
        const std::size_t i = t / n_across * rows_of_task;
        const std::size_t end = std::min(sums.n_columns, (t % n_across + 1) * columns_of_task);
        std::size_t c = t % n_across * columns_of_task;
        if (is_upper) c = std::max(c, i);  // of whole lines, both
        RowSums part = sums;
        part.out += i * sums.out_stride + c;
        part.n_out = std::min(rows_of_task, sums.n_out - i);
        for (std::size_t begin = 0; c < end && begin < sums.n_terms; begin += terms_of_step) {
            part.factors = sums.factors + i * sums.factor_row + begin * sums.factor_term;
            part.rows = sums.rows + begin * sums.row_stride + c;
            part.n_terms = std::min(terms_of_step, sums.n_terms - begin);
            part.n_columns = end - c;
            work.loops.add_row_sums(part);
            worker.advance(0);
        }
    });
}

void add_transposed(const Matrix& a, const Matrix& b, Matrix& out, bool is_upper,
                    const MatrixWork& work) {
    add({a.row(0), 1, a.stride(), b.row(0), b.stride(), a.n_rows(), out.row(0), out.stride(),
         a.n_columns(), whole_lines(b.n_columns())},
        is_upper, work);
}

// A symmetric matrix as a tridiagonal one and the reflections applied to it: the one of step k is
// 1 - factors[k] * h h^T, with h the row k of the matrix, which has no other use then.
struct Tridiagonal {
    std::vector<double> diagonal;
    std::vector<double> beside;  // beside[k] lies at (k, k + 1)
    std::vector<double> factors;
};

Tridiagonal reduce(Matrix& a, const MatrixWork& work) {
    const std::size_t n = a.n_rows();
    const std::size_t whole = whole_lines(n);
    Tridiagonal found{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
    std::vector<double> reflected(whole), products(n);
    const std::vector<double> none(whole);
    for (std::size_t k = 0; k < n; ++k) {
        // Rows get the update of the step before together with their product with this one.
        double* const h = a.row(k);
        const double* const last = k > 0 ? a.row(k - 1) : nullptr;
        if (last) {
            static_cast<void>(work.loops.update_and_product(
                h, {last, last[k], reflected.data(), reflected[k]}, none.data(), whole));
        }
        found.diagonal[k] = h[k];
        std::fill_n(h, k + 1, 0.0);
        if (k + 1 == n) break;
        const double square = work.loops.product(h, h, whole);
        const double first = h[k + 1];
        const double side = first > 0.0 ? -std::sqrt(square) : std::sqrt(square);
        const double half = square - first * side;  // of the square of the reflection's vector
        const double factor = half > nothing ? 1.0 / half : 0.0;
        found.beside[k] = factor > 0.0 ? side : first;
        found.factors[k] = factor;
        if (factor > 0.0) h[k + 1] = first - side;
        const std::size_t begin = (k + 1) / 8 * 8;
        for (std::size_t i = k + 1; i < n; ++i) {
            double* const row = a.row(i) + begin;
            products[i] =
                last ? work.loops.update_and_product(
                           row, {last + begin, last[i], reflected.data() + begin, reflected[i]},
                           h + begin, whole - begin)
                     : work.loops.product(row, h + begin, whole - begin);
        }
        double quadratic = 0.0;
        for (std::size_t i = k + 1; i < n; ++i) quadratic += products[i] * h[i];
        const double share = 0.5 * factor * (factor * quadratic);
        std::fill(reflected.begin(), reflected.end(), 0.0);
        for (std::size_t i = k + 1; i < n; ++i) reflected[i] = factor * products[i] - share * h[i];
        work.watch(0);
    }
    return found;
}

// The transpose of the product of all reflections.
Matrix unfold(const Matrix& reflections, const std::vector<double>& factors,
              const MatrixWork& work) {
    const std::size_t n = reflections.n_rows();
    const std::size_t whole = whole_lines(n);
    Matrix basis(n, n);
    for (std::size_t i = 0; i < n; ++i) basis.row(i)[i] = 1.0;
    for (std::size_t k = n; k-- > 0;) {
        const std::size_t begin = std::min(k + 1, n - 1) / 8 * 8;
        const double* const h = reflections.row(k) + begin;
        for (std::size_t i = k + 1; i < n && factors[k] > 0.0; ++i) {
            double* const row = basis.row(i) + begin;
            const double along = work.loops.product(row, h, whole - begin);
            work.loops.add_multiple(row, h, -factors[k] * along, whole - begin);
        }
        work.watch(0);
    }
    return basis;
}

// The QL method with implicit shifts: makes a tridiagonal matrix diagonal, and rotates the rows of
// a basis along.
void diagonalize(Tridiagonal& t, Matrix& basis, const MatrixWork& work) {
    const std::size_t n = t.diagonal.size();
    const std::size_t whole = whole_lines(n);
    double* const d = t.diagonal.data();
    double* const e = t.beside.data();
    for (std::size_t l = 0; l < n; ++l) {
        for (std::size_t sweep = 0; sweep < most_sweeps; ++sweep) {
            std::size_t end = l;  // of the block that begins at l
            while (end + 1 < n &&
                   std::abs(e[end]) >
                       roundoff * (std::abs(d[end]) + std::abs(d[end + 1])) + nothing) {
                ++end;
            }
            if (end == l) break;
            const double gap = (d[l + 1] - d[l]) / (2.0 * e[l]);
            double g =
                d[end] - d[l] + e[l] / (gap + std::copysign(std::sqrt(gap * gap + 1.0), gap));
            double s = 1.0, c = 1.0, shift = 0.0;
            bool is_split = false;
            for (std::size_t i = end; i-- > l;) {
                const double f = s * e[i], b = c * e[i];
                const double r = std::sqrt(f * f + g * g);
                e[i + 1] = r;
                if (r == 0.0) {
                    d[i + 1] -= shift;
                    is_split = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - shift;
                const double step = (d[i] - g) * s + 2.0 * c * b;
                shift = s * step;
                d[i + 1] = g + shift;
                g = c * step - b;
                work.loops.rotate(basis.row(i), basis.row(i + 1), c, s, whole);
            }
            e[end] = 0.0;
            if (!is_split) {
                d[l] -= shift;
                e[l] = g;
            }
            work.watch(0);
        }
    }
}

}  // namespace

Matrix::Matrix(std::size_t n_rows, std::size_t n_columns)
    : n_rows_(n_rows), n_columns_(n_columns), stride_((n_columns + 7) / 8 * 8) {
    if (stride_ / 8 % 2 == 0) stride_ += 8;
    const std::size_t n = std::max<std::size_t>(1, n_rows * stride_);
    numbers_.reset(
        static_cast<double*>(::operator new[](n * sizeof(double), std::align_val_t{64})));
    fill(0.0);
}

void Matrix::fill(double value) noexcept {
    std::fill_n(numbers_.get(), n_rows_ * stride_, value);
}

void Matrix::keep_columns(std::size_t n) noexcept {
    for (std::size_t i = 0; i < n_rows_; ++i) std::fill(row(i) + n, row(i) + n_columns_, 0.0);
    n_columns_ = n;
}

void add_product(const Matrix& a, const Matrix& b, Matrix& out, const MatrixWork& work,
                 std::size_t begin) {
    add({a.row(0), a.stride(), 1, b.row(0) + begin, b.stride(), b.n_rows(), out.row(0),
         out.stride(), a.n_rows(), whole_lines(out.n_columns())},
        false, work);
}

void add_transposed_product(const Matrix& a, const Matrix& b, Matrix& out, const MatrixWork& work) {
    add_transposed(a, b, out, false, work);
}

void add_gram(const Matrix& a, Matrix& out, const MatrixWork& work) {
    add_transposed(a, a, out, true, work);
}

void complete(Matrix& gram) {
    for (std::size_t i = 0; i < gram.n_rows(); ++i) {
        for (std::size_t j = 0; j < i; ++j) gram.row(i)[j] = gram.row(j)[i];
    }
}

Eigen eigen(Matrix matrix, const MatrixWork& work) {
    const std::size_t n = matrix.n_rows();
    // In units of the greatest entry, so that no square leaves the range of numbers.
    double greatest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            greatest = std::max(greatest, std::abs(matrix.row(i)[j]));
        }
    }
    const int exponent = greatest > 0.0 ? std::ilogb(greatest) : 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            matrix.row(i)[j] = std::ldexp(matrix.row(i)[j], -exponent);
        }
    }
    Tridiagonal reduced = reduce(matrix, work);
    Matrix basis = unfold(matrix, reduced.factors, work);
    matrix = Matrix();
    diagonalize(reduced, basis, work);

    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return reduced.diagonal[a] > reduced.diagonal[b];
    });
    Eigen found{std::vector<double>(n), Matrix(n, n)};
    for (std::size_t i = 0; i < n; ++i) {
        found.values[i] = std::ldexp(reduced.diagonal[order[i]], exponent);
        std::copy_n(basis.row(order[i]), n, found.vectors.row(i));
    }
    return found;
}

}  // namespace fastmks
