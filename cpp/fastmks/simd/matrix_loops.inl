// The loops of matrix_loops.hpp, once per instruction set; see loops.inl.

#include "fastmks/simd/matrix_loops.hpp"

namespace fastmks::FASTMKS_ISA::matrices {
namespace {

constexpr std::size_t width = FASTMKS_WIDTH;
constexpr std::size_t registers = 8 / width;  // that hold eight columns
constexpr std::size_t tile_rows = FASTMKS_MATRIX_ROWS;
constexpr std::size_t terms_at_once = 256;  // whose columns of a tile stay in the cache

typedef double Vector __attribute__((vector_size(width * 8)));
typedef double UnalignedVector __attribute__((vector_size(width * 8), aligned(8), may_alias));

inline Vector load(const double* from) {
    return *reinterpret_cast<const UnalignedVector*>(from);
}

inline void store(double* to, Vector v) {
    *reinterpret_cast<UnalignedVector*>(to) = v;
}

// R rows of the result by P registers.
template <std::size_t R, std::size_t P>
inline void add_tile(const RowSums& sums, std::size_t i, std::size_t c, std::size_t begin,
                     std::size_t end) {
    Vector tile[R][P];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 4
        for (std::size_t p = 0; p < P; ++p) {
            tile[r][p] = load(sums.out + (i + r) * sums.out_stride + c + p * width);
        }
    }
    const double* factors = sums.factors + i * sums.factor_row + begin * sums.factor_term;
    const double* row = sums.rows + begin * sums.row_stride + c;
    for (std::size_t t = begin; t < end; ++t) {
        Vector x[P];
#pragma GCC unroll 4
        for (std::size_t p = 0; p < P; ++p) x[p] = load(row + p * width);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) {
            const Vector factor = Vector{} + factors[r * sums.factor_row];
#pragma GCC unroll 4
            for (std::size_t p = 0; p < P; ++p) tile[r][p] = tile[r][p] + factor * x[p];
        }
        factors += sums.factor_term;
        row += sums.row_stride;
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 4
        for (std::size_t p = 0; p < P; ++p) {
            store(sums.out + (i + r) * sums.out_stride + c + p * width, tile[r][p]);
        }
    }
}

template <std::size_t P>
inline void add_columns(const RowSums& sums, std::size_t c, std::size_t begin, std::size_t end) {
    std::size_t i = 0;
    for (; i + tile_rows <= sums.n_out; i += tile_rows) {
        add_tile<tile_rows, P>(sums, i, c, begin, end);
    }
    for (; i < sums.n_out; ++i) add_tile<1, P>(sums, i, c, begin, end);
}

void add_row_sums(const RowSums& sums) {
    constexpr std::size_t wide = 2 * width;
    for (std::size_t begin = 0; begin < sums.n_terms; begin += terms_at_once) {
        const std::size_t rest = sums.n_terms - begin;
        const std::size_t end = begin + (rest < terms_at_once ? rest : terms_at_once);
        std::size_t c = 0;
        for (; c + wide <= sums.n_columns; c += wide) add_columns<2>(sums, c, begin, end);
        for (; c < sums.n_columns; c += width) add_columns<1>(sums, c, begin, end);
    }
}

struct Lanes {
    Vector part[registers];

    [[nodiscard]] inline double sum() const {
        double lanes[8];
        for (std::size_t r = 0; r < registers; ++r) store(lanes + r * width, part[r]);
        return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
               ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    }
};

double product(const double* x, const double* y, std::size_t n) {
    Lanes sums = {};
    for (std::size_t c = 0; c < n; c += 8) {
#pragma GCC unroll 4
        for (std::size_t r = 0; r < registers; ++r) {
            const std::size_t at = c + r * width;
            sums.part[r] = sums.part[r] + load(x + at) * load(y + at);
        }
    }
    return sums.sum();
}

void add_multiple(double* y, const double* x, double factor, std::size_t n) {
    for (std::size_t c = 0; c < n; c += width) store(y + c, load(y + c) + factor * load(x + c));
}

double update_and_product(double* row, RowUpdate update, const double* x, std::size_t n) {
    Lanes sums = {};
    for (std::size_t c = 0; c < n; c += 8) {
#pragma GCC unroll 4
        for (std::size_t r = 0; r < registers; ++r) {
            const std::size_t at = c + r * width;
            const Vector now = load(row + at) - (update.a_i * load(update.b + at) +
                                                 update.b_i * load(update.a + at));
            store(row + at, now);
            sums.part[r] = sums.part[r] + now * load(x + at);
        }
    }
    return sums.sum();
}

void rotate(double* x, double* y, double c, double s, std::size_t n) {
    for (std::size_t i = 0; i < n; i += width) {
        const Vector a = load(x + i), b = load(y + i);
        store(x + i, c * a - s * b);
        store(y + i, s * a + c * b);
    }
}

constexpr MatrixLoops loops{add_row_sums, product, add_multiple, update_and_product, rotate};

}  // namespace
}  // namespace fastmks::FASTMKS_ISA::matrices
