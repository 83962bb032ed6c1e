// The loops of alignment_loops.hpp, once per instruction set; see loops.inl.
//
// Cell (i, j), 1 <= i <= n and 1 <= j <= m, lies on antidiagonal d = i + j, at index i of the
// arrays of that antidiagonal. It needs (i - 1, j) and (i, j - 1) of antidiagonal d - 1, at indices
// i - 1 and i, and (i - 1, j - 1) of d - 2, at index i - 1. Letter j of y is y_backwards[m - j].

#include "fastmks/simd/alignment_loops.hpp"
#include "fastmks/simd/exponential.inl"

namespace fastmks::FASTMKS_ISA::alignments {
namespace {

using Exponent = std::int64_t;

// 2^exponent up to 2^1023; 0 below the normal range.
inline double two_to(Exponent exponent) {
    const Exponent biased = exponent + 1023;
    return from_bits(static_cast<std::uint64_t>(biased > 0 ? biased : 0) << 52);
}

// Of a normal number > 0; -1023 of 0.
inline Exponent exponent_of(double x) {
    return static_cast<Exponent>(bits_of(x) >> 52) - 1023;
}

inline Exponent greater(Exponent a, Exponent b) {
    return a > b ? a : b;
}

// Indices [begin, end) of an antidiagonal.
struct Range {
    std::size_t begin;
    std::size_t end;
};

inline Range inside(std::size_t d, std::size_t n, std::size_t m) {
    return {d > m ? d - m : 1, d <= n ? d : n + 1};
}

// Calls a function after each two million cells: some milliseconds of work. An antidiagonal counts
// as 64 cells more than it has, for what it costs apart from them.
class Pulses {
public:
    explicit Pulses(Pulse pulse) : pulse_(pulse) {}

    void after(Range range) {
        n_cells_ += 64 + (range.end > range.begin ? range.end - range.begin : 0);
        if (n_cells_ < cells_between) return;
        n_cells_ = 0;
        pulse_();
    }

private:
    static constexpr std::size_t cells_between = std::size_t{1} << 21;
    Pulse pulse_;
    std::size_t n_cells_ = 0;
};

// Finds the entry of `letters` for each cell of an antidiagonal.
template <class T>
void look_up(const StringPair& pair, const T* letters, std::size_t n_letters, std::size_t d,
             Range at, T* found) {
    const std::uint8_t* const y = pair.y_backwards + pair.m - d;  // y[i] is letter d - i
#pragma GCC ivdep
    for (std::size_t i = at.begin; i < at.end; ++i) {
        found[i] = letters[pair.x[i - 1] * n_letters + y[i]];
    }
}

// --- Local alignment kernel
// -----------------------------------------------------------------------
//
//     M(i, j) = exp(beta S(x_i, y_j)) * T(i-1, j-1)        pairs ending in x_i with y_j
//     X(i, j) = open * M(i-1, j) + extend * X(i-1, j)      then a gap over x
//     Y(i, j) = open * (M + X)(i, j-1) + extend * Y(i, j-1)    then one over y
//     T(i, j) = 1 + M + X + Y
//
// T is at least 1. While it is small, plain doubles hold everything. From then on each cell has an
// exponent, that of its T, and M, X, Y and T are multiples of 2^exponent.
// docs/how-it-works/proofs/rounding.md shows that nothing that matters is lost: neighbours differ
// by too little.

struct Parts {
    double* match;    // M
    double* over_x;   // X
    double* match_x;  // M + X
    double* over_y;   // Y
};

struct Totals {
    double* value;  // T
    Exponent* exponent;
};

void plain_diagonal(Range at, const AlignmentFactors& factors, const double* __restrict letter,
                    const double* __restrict total2, const Parts& before, const Parts& now,
                    double* __restrict total, double* __restrict sums) {
    const double open = factors.gap_open, extend = factors.gap_extend;
    const double* __restrict match1 = before.match;
    const double* __restrict over_x1 = before.over_x;
    const double* __restrict match_x1 = before.match_x;
    const double* __restrict over_y1 = before.over_y;
    double* __restrict match = now.match;
    double* __restrict over_x = now.over_x;
    double* __restrict match_x = now.match_x;
    double* __restrict over_y = now.over_y;
#pragma GCC ivdep
    for (std::size_t i = at.begin; i < at.end; ++i) {
        const double m = letter[i] * total2[i - 1];
        const double x = open * match1[i - 1] + extend * over_x1[i - 1];
        const double y = open * match_x1[i] + extend * over_y1[i];
        const double mx = m + x;
        match[i] = m;
        over_x[i] = x;
        match_x[i] = mx;
        over_y[i] = y;
        total[i] = (mx + y) + 1.0;
        sums[i] += m;
    }
}

void wide_diagonal(Range at, const AlignmentFactors& factors, const double* __restrict letter,
                   const Totals& totals2, const Totals& totals1, const Parts& before,
                   const Parts& now, const Totals& totals, double* __restrict sums,
                   Exponent* __restrict sum_exponents) {
    const double open = factors.gap_open, extend = factors.gap_extend;
    const double* __restrict total2 = totals2.value;
    const Exponent* __restrict exponent2 = totals2.exponent;
    const Exponent* __restrict exponent1 = totals1.exponent;
    const double* __restrict match1 = before.match;
    const double* __restrict over_x1 = before.over_x;
    const double* __restrict match_x1 = before.match_x;
    const double* __restrict over_y1 = before.over_y;
    double* __restrict match = now.match;
    double* __restrict over_x = now.over_x;
    double* __restrict match_x = now.match_x;
    double* __restrict over_y = now.over_y;
    double* __restrict total = totals.value;
    Exponent* __restrict exponent = totals.exponent;
#pragma GCC ivdep
    for (std::size_t i = at.begin; i < at.end; ++i) {
        const Exponent e2 = exponent2[i - 1], ex = exponent1[i - 1], ey = exponent1[i];
        const Exponent common = greater(e2, greater(ex, ey));
        const double m = letter[i] * (total2[i - 1] * two_to(e2 - common));
        const double x = (open * match1[i - 1] + extend * over_x1[i - 1]) * two_to(ex - common);
        const double y = (open * match_x1[i] + extend * over_y1[i]) * two_to(ey - common);
        const double mx = m + x;
        const double t = (mx + y) + two_to(-common);
        const Exponent shift = exponent_of(t), mine = common + shift;
        const double scale = two_to(-shift);
        match[i] = m * scale;
        over_x[i] = x * scale;
        match_x[i] = mx * scale;
        over_y[i] = y * scale;
        total[i] = t * scale;
        exponent[i] = mine;
        const Exponent widest = greater(sum_exponents[i], mine);
        sums[i] = sums[i] * two_to(sum_exponents[i] - widest) + (m * scale) * two_to(mine - widest);
        sum_exponents[i] = widest;
    }
}

double greatest_of(Range at, const double* values) {
    double greatest = 0.0;
    for (std::size_t i = at.begin; i < at.end; ++i) {
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    return greatest;
}

// The memory of one pair: arrays over i.
struct LocalAlignment {
    LocalAlignment(std::size_t n, double* doubles, Exponent* integers) : size(n + 2) {
        const auto array = [&](std::size_t which) { return doubles + which * size; };
        sums = array(0);
        letter = array(1);
        for (std::size_t r = 0; r < 3; ++r) totals[r] = {array(2 + r), integers + (1 + r) * size};
        for (std::size_t r = 0; r < 2; ++r) {
            parts[r] = {array(5 + 4 * r), array(6 + 4 * r), array(7 + 4 * r), array(8 + 4 * r)};
        }
        sum_exponents = integers;
        for (std::size_t i = 0; i < 13 * size; ++i) doubles[i] = 0.0;
        for (std::size_t i = 2 * size; i < 5 * size; ++i) doubles[i] = 1.0;
        for (std::size_t i = 0; i < 4 * size; ++i) integers[i] = 0;
    }

    // From plain doubles to cells with exponents, where antidiagonal d came last.
    void widen(std::size_t d) {
        const Parts& last = parts[d % 2];
        const double* const scales = totals[d % 3].value;
        for (std::size_t i = 0; i < size; ++i) {
            const double scale = two_to(-exponent_of(scales[i]));
            last.match[i] *= scale;
            last.over_x[i] *= scale;
            last.match_x[i] *= scale;
            last.over_y[i] *= scale;
        }
        for (const Totals& part : totals) {
            for (std::size_t i = 0; i < size; ++i) {
                part.exponent[i] = exponent_of(part.value[i]);
                part.value[i] *= two_to(-part.exponent[i]);
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            sum_exponents[i] = sums[i] > 0.0 ? exponent_of(sums[i]) : 0;
            sums[i] *= two_to(-sum_exponents[i]);
        }
    }

    std::size_t size;
    double* sums;
    double* letter;
    Totals totals[3];  // of antidiagonal d in totals[d % 3]
    Parts parts[2];    // in parts[d % 2]
    Exponent* sum_exponents;
};

void local_alignment(StringPair pair, AlignmentFactors factors, double* doubles,
                     std::int64_t* integers, Pulse pulse) {
    LocalAlignment at(pair.n, doubles, integers);
    // Totals grow by at most four times the greatest factor from one antidiagonal to the next.
    constexpr double large = 0x1p400;
    const auto growth = static_cast<std::size_t>(exponent_of(factors.greatest) + 3);
    const std::size_t between_looks = 500 / growth;
    bool is_wide = false;
    Pulses pulses(pulse);
    for (std::size_t d = 2; d <= pair.n + pair.m; ++d) {
        const Range range = inside(d, pair.n, pair.m);
        pulses.after(range);
        const Totals &now = at.totals[d % 3], &last = at.totals[(d - 2) % 3];
        const Parts &parts = at.parts[d % 2], &before = at.parts[(d - 1) % 2];
        look_up(pair, factors.letters, factors.n_letters, d, range, at.letter);
        if (is_wide) {
            wide_diagonal(range, factors, at.letter, last, at.totals[(d - 1) % 3], before, parts,
                          now, at.sums, at.sum_exponents);
            continue;
        }
        plain_diagonal(range, factors, at.letter, last.value, before, parts, now.value, at.sums);
        if (d % between_looks == 0 && greatest_of(range, now.value) > large) {
            at.widen(d);
            is_wide = true;
        }
    }
}

// --- The best local alignment
// ---------------------------------------------------------------------
//
//     X(i, j) = max(H(i-1, j) - open, X(i-1, j) - extend)      ends in a gap over x
//     Y(i, j) = max(H(i, j-1) - open, Y(i, j-1) - extend)      ends in a gap over y
//     H(i, j) = max(0, H(i-1, j-1) + S(x_i, y_j), X, Y)
//
// At the borders X and Y may be 0: what comes of it is never above 0, and H never below.

template <class T>
inline T best_of(T a, T b) {
    return a > b ? a : b;
}

template <class T>
void gapped_diagonal(Range at, T open, T extend, const T* __restrict letter,
                     const T* __restrict score2, const T* __restrict score1,
                     const T* __restrict over_x1, const T* __restrict over_y1, T* __restrict score,
                     T* __restrict over_x, T* __restrict over_y, T* __restrict best) {
#pragma GCC ivdep
    for (std::size_t i = at.begin; i < at.end; ++i) {
        const T x = best_of<T>(score1[i - 1] - open, over_x1[i - 1] - extend);
        const T y = best_of<T>(score1[i] - open, over_y1[i] - extend);
        const T match = best_of<T>(score2[i - 1] + letter[i], 0);
        const T h = best_of<T>(match, best_of<T>(x, y));
        over_x[i] = x;
        over_y[i] = y;
        score[i] = h;
        best[i] = best_of<T>(best[i], h);
    }
}

template <class T>
void ungapped_diagonal(Range at, const T* __restrict letter, const T* __restrict score2,
                       T* __restrict score, T* __restrict best) {
#pragma GCC ivdep
    for (std::size_t i = at.begin; i < at.end; ++i) {
        const T h = best_of<T>(score2[i - 1] + letter[i], 0);
        score[i] = h;
        best[i] = best_of<T>(best[i], h);
    }
}

template <class T>
T best_alignment(StringPair pair, AlignmentScores<T> scores, T* scratch, Pulse pulse) {
    const std::size_t size = pair.n + 2;
    for (std::size_t i = 0; i < 9 * size; ++i) scratch[i] = 0;
    T* const best = scratch;
    T* const letter = scratch + size;
    T* const score = scratch + 2 * size;  // three antidiagonals of H, then two of X and two of Y
    T* const over_x = scratch + 5 * size;
    T* const over_y = scratch + 7 * size;
    Pulses pulses(pulse);
    for (std::size_t d = 2; d <= pair.n + pair.m; ++d) {
        const Range range = inside(d, pair.n, pair.m);
        pulses.after(range);
        const std::size_t now = d % 2 * size, before = (d + 1) % 2 * size;
        look_up(pair, scores.letters, scores.n_letters, d, range, letter);
        T* const mine = score + d % 3 * size;
        const T* const last = score + (d - 2) % 3 * size;
        if (scores.has_gaps) {
            gapped_diagonal<T>(range, scores.gap_open, scores.gap_extend, letter, last,
                               score + (d - 1) % 3 * size, over_x + before, over_y + before, mine,
                               over_x + now, over_y + now, best);
        } else {
            ungapped_diagonal<T>(range, letter, last, mine, best);
        }
    }
    T greatest = 0;
    for (std::size_t i = 0; i < size; ++i) greatest = best_of<T>(greatest, best[i]);
    return greatest;
}

// --- Global alignment kernel
// ----------------------------------------------------------------------
//
//     M(i, j) = k(i, j) * (M(i-1, j-1) + (M(i-1, j) + M(i, j-1))),   M(0, 0) = 1, other borders 0
//     k(i, j) = v / (2 - v),   v = weight(|i - j|) * exp(-|x_i - y_j|^2 / (2 bandwidth^2))
//
// M is kept as a mantissa in [1, 2) or 0, and an exponent. exp(-t) is (1 + p) * 2^k with any k; t
// is cut where even the sum over all paths would be nothing beside K(x, x) >= 1.

constexpr double greatest_t = 0x1p30;
constexpr Exponent exponent_of_zero = -(Exponent{1} << 60);

struct WideArray {
    double* mantissa;
    Exponent* exponent;
};

inline void set_zero(const WideArray& array, std::size_t i) {
    array.mantissa[i] = 0.0;
    array.exponent[i] = exponent_of_zero;
}

template <bool is_weighted>
void series_diagonal(Range at, const double* __restrict distances, const double* __restrict weights,
                     const WideArray& last, const WideArray& before, const WideArray& now) {
    const double* __restrict m2 = last.mantissa;
    const Exponent* __restrict e2 = last.exponent;
    const double* __restrict m1 = before.mantissa;
    const Exponent* __restrict e1 = before.exponent;
    double* __restrict mantissa = now.mantissa;
    Exponent* __restrict exponent = now.exponent;
#pragma GCC ivdep
    for (std::size_t i = at.begin; i < at.end; ++i) {
        const double t = 0.5 * distances[i];
        const Reduced e = reduce(t < greatest_t ? -t : -greatest_t);
        const auto k = static_cast<Exponent>(e.k);
        double v = 1.0 + e.p;
        if (is_weighted) v = weights[i] * v;
        const double local = v / (2.0 - v * two_to(k));
        const Exponent common = greater(e2[i - 1], greater(e1[i - 1], e1[i]));
        const double side = m1[i - 1] * two_to(e1[i - 1] - common) + m1[i] * two_to(e1[i] - common);
        const double value = local * (m2[i - 1] * two_to(e2[i - 1] - common) + side);
        const Exponent shift = exponent_of(value);
        mantissa[i] = value * two_to(-shift);
        exponent[i] = value > 0.0 ? common + k + shift : exponent_of_zero;
    }
}

// Cells with |i - j| < n_weights only.
inline Range within_weights(Range range, std::size_t d, std::size_t n_weights) {
    // |2 i - d| < n_weights
    const std::size_t begin = d >= n_weights ? (d - n_weights) / 2 + 1 : 0;
    const std::size_t end = (d + n_weights + 1) / 2;
    return {begin > range.begin ? begin : range.begin, end < range.end ? end : range.end};
}

void add_distances(const SeriesPair& pair, double inverse_bandwidth, std::size_t d, Range at,
                   double* __restrict distances) {
    for (std::size_t i = at.begin; i < at.end; ++i) distances[i] = 0.0;
    for (std::size_t c = 0; c < pair.n_channels; ++c) {
        const double* __restrict x = pair.x + c * pair.n;
        const double* __restrict y = pair.y_backwards + c * pair.m + pair.m - d;
#pragma GCC ivdep
        for (std::size_t i = at.begin; i < at.end; ++i) {
            const double z = (x[i - 1] - y[i]) * inverse_bandwidth;
            distances[i] += z * z;
        }
    }
}

void global_alignment(SeriesPair pair, SeriesForm form, double* doubles, std::int64_t* integers,
                      Pulse pulse) {
    const std::size_t size = pair.n + 2;
    double* const distances = doubles;
    double* const weights = doubles + size;
    WideArray arrays[3];
    for (std::size_t r = 0; r < 3; ++r) {
        arrays[r] = {doubles + (2 + r) * size, integers + r * size};
        for (std::size_t i = 0; i < size; ++i) set_zero(arrays[r], i);
    }
    arrays[0].mantissa[0] = 1.0;
    arrays[0].exponent[0] = 0;
    Pulses pulses(pulse);
    for (std::size_t d = 2; d <= pair.n + pair.m; ++d) {
        Range range = inside(d, pair.n, pair.m);
        pulses.after(range);
        const WideArray &now = arrays[d % 3], &before = arrays[(d - 1) % 3],
                        &last = arrays[(d - 2) % 3];
        if (form.weights) {
            range = within_weights(range, d, form.n_weights);
            for (std::size_t i = range.begin; i < range.end; ++i) {
                weights[i] = form.weights[2 * i > d ? 2 * i - d : d - 2 * i];
            }
            add_distances(pair, form.inverse_bandwidth, d, range, distances);
            series_diagonal<true>(range, distances, weights, last, before, now);
        } else {
            add_distances(pair, form.inverse_bandwidth, d, range, distances);
            series_diagonal<false>(range, distances, weights, last, before, now);
        }
        // Cells beside the range are 0 for the next antidiagonals.
        set_zero(now, range.begin - 1);
        set_zero(now, range.end);
        if (d == 2) set_zero(last, 0);
    }
    const WideArray& end = arrays[(pair.n + pair.m) % 3];
    const double mantissa = end.mantissa[pair.n];
    const Exponent exponent = end.exponent[pair.n];
    doubles[0] = mantissa;
    integers[0] = mantissa > 0.0 ? exponent : 0;
}

constexpr AlignmentLoops loops{local_alignment, best_alignment<std::int32_t>,
                               best_alignment<double>, global_alignment};

}  // namespace
}  // namespace fastmks::FASTMKS_ISA::alignments
