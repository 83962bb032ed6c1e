// The loops of vector_loops.hpp, once per instruction set; see loops.inl.

#include "fastmks/simd/exponential.inl"
#include "fastmks/simd/vector_loops.hpp"

namespace fastmks::FASTMKS_ISA::vectors {
namespace {

constexpr int width = FASTMKS_WIDTH;
constexpr int registers = 8 / width;  // that hold the eight partial sums of one pair
constexpr int tile_queries = FASTMKS_VECTOR_QUERIES;
constexpr int tile_rows = FASTMKS_VECTOR_ROWS;

typedef double Vector __attribute__((vector_size(width * 8)));
typedef double UnalignedVector __attribute__((vector_size(width * 8), aligned(8), may_alias));
typedef float UnalignedFloats __attribute__((vector_size(width * 4), aligned(4), may_alias));

typedef long long Bits __attribute__((vector_size(width * 8)));
typedef double Quad __attribute__((vector_size(32)));
typedef double Pair __attribute__((vector_size(16)));

struct Lanes {
    Vector part[registers];
};

// All ones for the columns that a row has, zeros behind.
struct Cut {
    Bits part[registers];
};

inline Lanes load(const double* from) {
    Lanes lanes;
#pragma GCC unroll 4
    for (int r = 0; r < registers; ++r) {
        lanes.part[r] = *reinterpret_cast<const UnalignedVector*>(from + r * width);
    }
    return lanes;
}

inline Lanes load(const float* from) {
    Lanes lanes;
#pragma GCC unroll 4
    for (int r = 0; r < registers; ++r) {
        lanes.part[r] = __builtin_convertvector(
            *reinterpret_cast<const UnalignedFloats*>(from + r * width), Vector);
    }
    return lanes;
}

// The last n < 8 columns of a row, zeros after them.
template <class T>
inline Lanes load_rest(const T* from, std::size_t n) {
    double rest[8] = {};
    for (std::size_t c = 0; c < n; ++c) rest[c] = static_cast<double>(from[c]);
    return load(rest);
}

// The last columns where all eight may be read: numbers after the row are cut off.
template <class T>
inline Lanes load_cut(const T* from, const Cut& cut) {
    Lanes lanes = load(from);
#pragma GCC unroll 4
    for (int r = 0; r < registers; ++r) {
        lanes.part[r] =
            reinterpret_cast<Vector>(reinterpret_cast<Bits>(lanes.part[r]) & cut.part[r]);
    }
    return lanes;
}

inline Cut cut_after(std::size_t n) {
    static constexpr long long columns[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    typedef long long UnalignedBits __attribute__((vector_size(width * 8), aligned(8), may_alias));
    Cut cut;
#pragma GCC unroll 4
    for (int r = 0; r < registers; ++r) {
        cut.part[r] = *reinterpret_cast<const UnalignedBits*>(columns + r * width) <
                      static_cast<long long>(n);
    }
    return cut;
}

inline double sum(Pair pair) {
    return pair[0] + pair[1];
}

// ((0+4)+(2+6)) + ((1+5)+(3+7)): halves are added until one number is left.
inline double combine(const Lanes& lanes) {
#if FASTMKS_WIDTH == 8
    const Vector v = lanes.part[0];
    const Quad quad =
        __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#elif FASTMKS_WIDTH == 4
    const Quad quad = lanes.part[0] + lanes.part[1];
#endif
#if FASTMKS_WIDTH > 2
    return sum(__builtin_shufflevector(quad, quad, 0, 1) +
               __builtin_shufflevector(quad, quad, 2, 3));
#else
    return sum((lanes.part[0] + lanes.part[2]) + (lanes.part[1] + lanes.part[3]));
#endif
}

struct Product {
    inline Vector operator()(Vector sum, Vector x, Vector y) const { return sum + x * y; }
};

struct Minimum {
    inline Vector operator()(Vector sum, Vector x, Vector y) const { return sum + (x < y ? x : y); }
};

struct SquaredDifference {
    inline Vector operator()(Vector sum, Vector x, Vector y) const {
        const Vector difference = x - y;
        return sum + difference * difference;
    }
};

struct ScaledSquaredDifference {
    double before;
    double after;
    inline Vector operator()(Vector sum, Vector x, Vector y) const {
        const Vector difference = (x * before - y * before) * after;
        return sum + difference * difference;
    }
};

// A tile of Q queries by R rows, whose partial sums all stay in registers.
template <int Q, int R, class Step, class T>
inline void tile(const double* queries, std::size_t query_stride, const T* const* rows,
                 std::size_t n_columns, bool can_overread, const Cut& cut, Step step, double* out,
                 std::size_t stride) {
    Lanes sums[Q][R] = {};
    const auto add = [&](const Lanes(&x)[Q], const Lanes(&y)[R]) {
#pragma GCC unroll 8
        for (int j = 0; j < R; ++j) {
#pragma GCC unroll 8
            for (int i = 0; i < Q; ++i) {
#pragma GCC unroll 4
                for (int r = 0; r < registers; ++r) {
                    sums[i][j].part[r] = step(sums[i][j].part[r], x[i].part[r], y[j].part[r]);
                }
            }
        }
    };
    const std::size_t whole = n_columns / 8 * 8;
    for (std::size_t c = 0; c < whole; c += 8) {
        Lanes x[Q], y[R];
#pragma GCC unroll 8
        for (int i = 0; i < Q; ++i) x[i] = load(queries + i * query_stride + c);
#pragma GCC unroll 8
        for (int j = 0; j < R; ++j) y[j] = load(rows[j] + c);
        add(x, y);
    }
    if (whole < n_columns) {
        Lanes x[Q], y[R];
#pragma GCC unroll 8
        for (int i = 0; i < Q; ++i) x[i] = load(queries + i * query_stride + whole);
        if (can_overread) {
#pragma GCC unroll 8
            for (int j = 0; j < R; ++j) y[j] = load_cut(rows[j] + whole, cut);
        } else {
#pragma GCC unroll 8
            for (int j = 0; j < R; ++j) y[j] = load_rest(rows[j] + whole, n_columns - whole);
        }
        add(x, y);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Q; ++i) {
#pragma GCC unroll 8
        for (int j = 0; j < R; ++j) out[i * stride + j] = combine(sums[i][j]);
    }
}

template <class Step, class T>
void for_each_pair(DenseQueries queries, DenseBlock<T> block, Step step, double* out,
                   std::size_t stride) {
    const std::size_t query_stride = padded(queries.n_columns);
    const std::size_t n_columns = block.n_columns;
    const Cut cut = cut_after(n_columns % 8);
    const auto can_overread = [&](const T* row) { return row + padded(n_columns) <= block.end; };
    std::size_t j = 0;
    for (; j + tile_rows <= block.n_rows; j += tile_rows) {
        const T* const* rows = block.rows + j;
        bool can = true;
        for (int r = 0; r < tile_rows; ++r) can &= can_overread(rows[r]);
        std::size_t i = 0;
        for (; i + tile_queries <= queries.n_queries; i += tile_queries) {
            tile<tile_queries, tile_rows>(queries.rows + i * query_stride, query_stride, rows,
                                          n_columns, can, cut, step, out + i * stride + j, stride);
        }
        for (; i < queries.n_queries; ++i) {
            tile<1, tile_rows>(queries.rows + i * query_stride, query_stride, rows, n_columns, can,
                               cut, step, out + i * stride + j, stride);
        }
    }
    for (; j < block.n_rows; ++j) {
        const bool can = can_overread(block.rows[j]);
        for (std::size_t i = 0; i < queries.n_queries; ++i) {
            tile<1, 1>(queries.rows + i * query_stride, query_stride, block.rows + j, n_columns,
                       can, cut, step, out + i * stride + j, stride);
        }
    }
}

template <class T>
void products(DenseQueries queries, DenseBlock<T> block, double* out, std::size_t stride) {
    for_each_pair(queries, block, Product{}, out, stride);
}

template <class T>
void minimums(DenseQueries queries, DenseBlock<T> block, double* out, std::size_t stride) {
    for_each_pair(queries, block, Minimum{}, out, stride);
}

template <class T>
void squared_distances(DenseQueries queries, DenseBlock<T> block, DifferenceScale scale,
                       double* out, std::size_t stride) {
    if (scale.before == 1.0 && scale.after == 1.0) {
        for_each_pair(queries, block, SquaredDifference{}, out, stride);
    } else {
        for_each_pair(queries, block, ScaledSquaredDifference{scale.before, scale.after}, out,
                      stride);
    }
}

// Eight queries at once: part r of `sums[lane]` holds queries r * width onwards. Columns that only
// one side has add nothing.
template <class Step, class T>
inline void add_shared_columns(SparseQueries queries, SparseRow<T> row, Step step, double* out,
                               std::size_t stride) {
    Lanes sums[8] = {};
    for (std::size_t e = 0; e < row.n_entries; ++e) {
        const std::int32_t column = row.columns[e];
        const std::int32_t slot = queries.slots[column];
        if (slot < 0) continue;
        const Vector value = Vector{} + static_cast<double>(row.values[e]);
        const Lanes x = load(queries.table + static_cast<std::size_t>(slot) * 8);
        Lanes& sum = sums[column & 7];
#pragma GCC unroll 4
        for (int r = 0; r < registers; ++r) sum.part[r] = step(sum.part[r], x.part[r], value);
    }
    double totals[8];
    for (int r = 0; r < registers; ++r) {
        const Vector total =
            ((sums[0].part[r] + sums[4].part[r]) + (sums[2].part[r] + sums[6].part[r])) +
            ((sums[1].part[r] + sums[5].part[r]) + (sums[3].part[r] + sums[7].part[r]));
        *reinterpret_cast<UnalignedVector*>(totals + r * width) = total;
    }
    for (std::size_t i = 0; i < queries.n_queries; ++i) out[i * stride] = totals[i];
}

template <class T>
void sparse_products(SparseQueries queries, SparseRow<T> row, double* out, std::size_t stride) {
    add_shared_columns(queries, row, Product{}, out, stride);
}

template <class T>
void sparse_minimums(SparseQueries queries, SparseRow<T> row, double* out, std::size_t stride) {
    add_shared_columns(queries, row, Minimum{}, out, stride);
}

void affine(double* values, std::size_t n, double scale, double offset) {
    for (std::size_t i = 0; i < n; ++i) values[i] = values[i] * scale + offset;
}

// Repeated squaring from the lowest bit of the degree up.
void power(double* values, std::size_t n, unsigned degree) {
    constexpr std::size_t chunk = 64;
    double base[chunk];
    for (std::size_t begin = 0; begin < n; begin += chunk) {
        double* const result = values + begin;
        const std::size_t size = n - begin < chunk ? n - begin : chunk;
        for (std::size_t i = 0; i < size; ++i) base[i] = result[i];
        for (std::size_t i = 0; i < size; ++i) result[i] = 1.0;
        for (unsigned rest = degree; rest != 0; rest >>= 1) {
            if (rest & 1) {
                for (std::size_t i = 0; i < size; ++i) result[i] *= base[i];
            }
            for (std::size_t i = 0; i < size; ++i) base[i] *= base[i];
        }
    }
}

// 2^k for -1022 <= k <= 1023.
inline double power_of_two(std::uint64_t k) {
    return from_bits((k + 1023) << 52);
}

void exponential(double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        double x = values[i];
        x = x < -746.0 ? -746.0 : x;  // below: 0
        x = x > 710.0 ? 710.0 : x;    // above: infinity
        const Reduced e = reduce(x);
        // In two steps, since 2^k alone may be out of range; only the last one can round.
        const std::uint64_t half = static_cast<std::uint64_t>(static_cast<std::int64_t>(e.k) >> 1);
        values[i] = ((1.0 + e.p) * power_of_two(half)) * power_of_two(e.k - half);
    }
}

// tanh(x) = (exp(2|x|) - 1) / (exp(2|x|) + 1), with the sign of x.
void hyperbolic_tangent(double* values, std::size_t n) {
    constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = bits_of(values[i]);
        double x = from_bits(bits & ~sign_bit);
        x = x > 20.0 ? 20.0 : x;  // tanh(20) rounds to 1
        const Reduced e = reduce(x + x);
        const double two_k = power_of_two(e.k);
        const double exp_minus_one = two_k * e.p + (two_k - 1.0);
        const double t = exp_minus_one / (exp_minus_one + 2.0);
        values[i] = from_bits(bits_of(t) | (bits & sign_bit));
    }
}

void square_root(double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values[i] = __builtin_sqrt(values[i]);
}

void normalize(double* values, std::size_t n, QueryNorm query, const double* mantissas,
               const double* scales, double limit) {
    for (std::size_t i = 0; i < n; ++i) {
        // The greater scale first: then only the result itself can underflow, and the order of the
        // two objects makes no difference.
        const double greater = query.scale > scales[i] ? query.scale : scales[i];
        const double smaller = query.scale > scales[i] ? scales[i] : query.scale;
        const double scaled = (values[i] * greater) * smaller;
        double result = scaled / __builtin_sqrt(query.mantissa * mantissas[i]);
        result = result > limit ? limit : result;
        result = result < -limit ? -limit : result;
        values[i] = result + 0.0;  // -0 becomes 0
    }
}

bool hilbert_distances(const double* values, const double* selves, std::size_t n, double self,
                       HilbertRounding rounding, double* distances) {
    std::uint64_t bad = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double square = self + selves[i] - 2.0 * values[i];
        const double slack = rounding.slack_share * (self + selves[i]) + rounding.slack_lost;
        distances[i] = square > slack ? square : 0.0;
        bad |= values[i] * values[i] >
               self * selves[i] * rounding.square_share + rounding.square_spare;
    }
    square_root(distances, n);
    return bad == 0;
}

bool all_finite(const double* values, std::size_t n) {
    constexpr std::uint64_t exponent = std::uint64_t{0x7ff} << 52;
    std::uint64_t bad = 0;
    for (std::size_t i = 0; i < n; ++i) bad |= (bits_of(values[i]) & exponent) == exponent;
    return bad == 0;
}

std::size_t count_above(const double* values, std::size_t n, double threshold) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) count += values[i] > threshold;
    return count;
}

template <class T>
constexpr RowLoops<T> row_loops{products<T>, squared_distances<T>, minimums<T>, sparse_products<T>,
                                sparse_minimums<T>};

constexpr VectorLoops loops{row_loops<double>, row_loops<float>,   affine,      power,
                            exponential,       hyperbolic_tangent, square_root, normalize,
                            hilbert_distances, all_finite,         count_above};

}  // namespace
}  // namespace fastmks::FASTMKS_ISA::vectors
