// The loops of code_loops.hpp, once per instruction set; see loops.inl. Where FASTMKS_AVX2,
// FASTMKS_VNNI, FASTMKS_AMX (and FASTMKS_VNNI) or FASTMKS_DOTPROD is defined, sums of products of
// bytes use that unit's instructions.

#include "fastmks/simd/code_loops.hpp"

#if defined(FASTMKS_VNNI) || defined(FASTMKS_AVX2)
#include <immintrin.h>
#elif defined(FASTMKS_DOTPROD)
#include <arm_neon.h>
#endif

namespace fastmks::FASTMKS_ISA::codes {
namespace {

constexpr float minus_infinity = -__builtin_inff();

template <std::size_t N>
struct Count {
    static constexpr std::size_t value = N;
};

// Calls run for all queries, up to four at a time.
template <class Run>
[[gnu::always_inline]] inline void in_fours(std::size_t n_queries, Run run) {
    std::size_t i = 0;
    for (; i + 4 <= n_queries; i += 4) run(Count<4>{}, i);
    switch (n_queries - i) {
        case 3:
            return run(Count<3>{}, i);
        case 2:
            return run(Count<2>{}, i);
        case 1:
            return run(Count<1>{}, i);
    }
}

#include "fastmks/simd/code_scan.inl"

// One number of each leaf of a group: loops over arrays of this size are vectorised the wrong way.
typedef float Floats __attribute__((vector_size(group_size * sizeof(float))));
typedef float UnalignedFloats
    __attribute__((vector_size(group_size * sizeof(float)), aligned(4), may_alias));

[[gnu::always_inline]] inline Floats load_floats(const float* from) {
    return *reinterpret_cast<const UnalignedFloats*>(from);
}

[[gnu::always_inline]] inline void store_floats(Floats numbers, float* to) {
    *reinterpret_cast<UnalignedFloats*>(to) = numbers;
}

[[gnu::always_inline]] inline Floats absolute(Floats x) {
    return x < 0.0f ? -x : x;
}

// 0 for what is negative, or not a number.
[[gnu::always_inline]] inline Floats positive(Floats x) {
    return x > 0.0f ? x : Floats{};
}

[[gnu::always_inline]] inline Floats square_roots(Floats x) {
    float numbers[group_size];
    store_floats(x, numbers);
    for (float& number : numbers) number = __builtin_sqrtf(number);
    return load_floats(numbers);
}

// A promise that is not a number promises everything.
[[gnu::always_inline]] inline Floats promised(Floats promise) {
    return promise == promise ? promise : Floats{} + __builtin_inff();
}

template <std::size_t Queries>
void bound_products_of(const LeafGroup& group, const LeafQuery* queries, float* scores,
                       float* promises, std::size_t stride) {
    Floats product[Queries] = {};
    Floats reach[Queries] = {};
    for (std::size_t c = 0; c < group.dimension; ++c) {
        const Floats centres = load_floats(group.centres + c * group_size);
        const Floats halves = load_floats(group.halves + c * group_size);
        for (std::size_t i = 0; i < Queries; ++i) {
            const float q = queries[i].row[c];
            product[i] += q * centres;
            reach[i] += __builtin_fabsf(q) * halves;
        }
    }
    for (std::size_t i = 0; i < Queries; ++i) {
        const LeafQuery query = queries[i];
        const Floats radii = load_floats(group.radii);
        const Floats ball = query.norm * radii;
        const Floats box = reach[i] + query.error * radii;
        const Floats beyond = (ball < box ? ball : box) + query.tail * load_floats(group.tails) +
                              query.slack * load_floats(group.lengths);
        const Floats score = product[i] - query.middle;
        const Floats side = query.is_two_sided ? absolute(score) : score;
        store_floats(product[i], scores + i * stride);
        store_floats(promised(side + beyond), promises + i * stride);
    }
}

template <std::size_t Queries>
void bound_distances_of(const LeafGroup& group, const LeafQuery* queries, float* scores,
                        float* promises, std::size_t stride) {
    Floats square[Queries] = {};
    Floats gap[Queries] = {};
    for (std::size_t c = 0; c < group.dimension; ++c) {
        const Floats centres = load_floats(group.centres + c * group_size);
        const Floats halves = load_floats(group.halves + c * group_size);
        for (std::size_t i = 0; i < Queries; ++i) {
            const Floats difference = absolute(queries[i].row[c] - centres);
            const Floats outside = positive(difference - halves);
            square[i] += difference * difference;
            gap[i] += outside * outside;
        }
    }
    for (std::size_t i = 0; i < Queries; ++i) {
        const LeafQuery query = queries[i];
        const Floats off = query.slack * (query.norm + load_floats(group.lengths)) + query.error;
        const Floats ball = positive(square_roots(square[i]) - off - load_floats(group.radii));
        const Floats box = positive(square_roots(gap[i]) - off);
        const Floats inside = ball > box ? ball : box;
        const Floats below = query.least_tail - load_floats(group.tails);
        const Floats above = load_floats(group.least_tails) - query.tail;
        const Floats outside = positive(below > above ? below : above);
        // Two squares and their sum round.
        const Floats bound = -0.5f * (inside * inside + outside * outside) * (1.0f - 0x1p-20f);
        store_floats(-0.5f * (square[i] + query.least_tail * query.least_tail),
                     scores + i * stride);
        store_floats(promised(bound - query.middle), promises + i * stride);
    }
}

void bound_products(const LeafGroup& group, const LeafQuery* queries, std::size_t n_queries,
                    float* scores, float* promises, std::size_t stride) {
    in_fours(n_queries, [=](auto count, std::size_t i) {
        bound_products_of<count.value>(group, queries + i, scores + i * stride,
                                       promises + i * stride, stride);
    });
}

void bound_distances(const LeafGroup& group, const LeafQuery* queries, std::size_t n_queries,
                     float* scores, float* promises, std::size_t stride) {
    in_fours(n_queries, [=](auto count, std::size_t i) {
        bound_distances_of<count.value>(group, queries + i, scores + i * stride,
                                        promises + i * stride, stride);
    });
}

std::size_t choose(const float* promises, std::size_t n, float least, std::uint32_t* out) {
    std::size_t n_chosen = 0;
    for (std::size_t begin = 0; begin < n; begin += group_size) {
        unsigned is_any = 0;
        for (std::size_t l = 0; l < group_size; ++l) is_any |= promises[begin + l] >= least;
        if (!is_any) continue;
        for (std::size_t l = 0; l < group_size; ++l) {
            const float promise = promises[begin + l];
            out[n_chosen] = static_cast<std::uint32_t>(begin + l);
            n_chosen += (promise >= least) & (promise > minus_infinity);
        }
    }
    return n_chosen;
}

std::size_t greatest(const float* promises, std::size_t n) {
    float best[group_size];
    for (std::size_t l = 0; l < group_size; ++l) best[l] = minus_infinity;
    for (std::size_t begin = 0; begin < n; begin += group_size) {
        for (std::size_t l = 0; l < group_size; ++l) {
            best[l] = promises[begin + l] > best[l] ? promises[begin + l] : best[l];
        }
    }
    float most = minus_infinity;
    for (std::size_t l = 0; l < group_size; ++l) most = best[l] > most ? best[l] : most;
    std::size_t first = 0;
    while (first + 1 < n && !(promises[first] == most)) ++first;
    return first;
}

float least_of_best(const float* promises, std::size_t n, std::size_t wanted) {
    constexpr int n_halvings = 20;
    float low = promises[0], high = promises[0];
    for (std::size_t i = 1; i < n; ++i) {
        low = promises[i] < low ? promises[i] : low;
        high = promises[i] > high ? promises[i] : high;
    }
    if (wanted >= n) return low;
    for (int halving = 0; halving < n_halvings; ++halving) {
        const float middle = 0.5f * low + 0.5f * high;
        std::uint32_t count = 0;
        for (std::size_t i = 0; i < n; ++i) count += promises[i] >= middle;
        if (count < wanted) {
            high = middle;
        } else {
            low = middle;
            if (count <= wanted + wanted / 4) break;
        }
    }
    return low;
}

Codes quantize(const float* numbers, const float* centre, std::size_t n_words, float* difference,
               std::int32_t* words) {
    typedef std::int32_t Ints __attribute__((vector_size(group_size * sizeof(std::int32_t))));
    typedef signed char Bytes __attribute__((vector_size(group_size), aligned(1), may_alias));
    const std::size_t n = n_words * bytes_per_word;
    Floats greatest{}, squares{};
    for (std::size_t j = 0; j < n; j += group_size) {
        Floats x = load_floats(numbers + j);
        if (centre) x -= load_floats(centre + j);
        *reinterpret_cast<UnalignedFloats*>(difference + j) = x;
        squares += x * x;
        const Floats length = absolute(x);
        greatest = length > greatest ? length : greatest;
    }
    float largest = 0.0f;
    for (std::size_t l = 0; l < group_size; ++l) {
        largest = greatest[l] > largest ? greatest[l] : largest;
    }
    const float scale = largest > 1e-30f ? largest / largest_code : 1.0f;
    const float inverse = 1.0f / scale;
    auto* bytes = reinterpret_cast<signed char*>(words);
    Floats squares_left{};
    Ints sums{};
    for (std::size_t j = 0; j < n; j += group_size) {
        const Floats x = load_floats(difference + j);
        // Whole numbers lie this far up: adding it rounds to one.
        const Floats rounded = (x * inverse + 0x1.8p23f) - 0x1.8p23f;
        const Floats left = x - rounded * scale;
        squares_left += left * left;
        const Ints v = __builtin_convertvector(rounded, Ints);
        sums += v;
        *reinterpret_cast<Bytes*>(bytes + j) = __builtin_convertvector(v, Bytes);
    }
    Codes codes{scale, 0, 0.0f, 0.0f};
    for (std::size_t l = 0; l < group_size; ++l) {
        codes.sum += sums[l];
        codes.error += squares_left[l];
        codes.square += squares[l];
    }
    return codes;
}

constexpr CodeLoops loops{scan,     bound_products, bound_distances, choose,
                          greatest, least_of_best,  quantize};

}  // namespace
}  // namespace fastmks::FASTMKS_ISA::codes
