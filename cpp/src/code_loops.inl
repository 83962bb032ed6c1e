// The loops of code_loops.hpp, once per instruction set: FASTMKS_ISA names the namespace. Where
// FASTMKS_VNNI or FASTMKS_AVX2 is defined, sums of products of bytes use that unit's instructions.
// Nothing here uses the standard library; see vector_loops.inl.

#include "fastmks/code_loops.hpp"

#if defined(FASTMKS_VNNI) || defined(FASTMKS_AVX2)
#include <immintrin.h>
#endif

namespace fastmks::FASTMKS_ISA {
namespace {

constexpr float minus_infinity = -__builtin_inff();

// The sums of products of some groups with each query, as whole numbers, less the query's bias.
#if defined(FASTMKS_VNNI)

template <std::size_t Queries, std::size_t Groups>
[[gnu::always_inline]] inline void add_up(const CodeBlock& block, std::size_t first_group,
                                          const CodeQuery* queries,
                                          std::int32_t (*sums)[Groups * group_size]) {
    const std::size_t group_bytes = block.n_words * group_size * bytes_per_word;
    const std::uint8_t* codes = block.codes + first_group * group_bytes;
    __m512i total[Queries][Groups];
    for (std::size_t i = 0; i < Queries; ++i) {
        for (std::size_t g = 0; g < Groups; ++g) total[i][g] = _mm512_set1_epi32(-queries[i].bias);
    }
    for (std::size_t w = 0; w < block.n_words; ++w) {
        __m512i objects[Groups];
        for (std::size_t g = 0; g < Groups; ++g) {
            objects[g] = _mm512_loadu_si512(codes + g * group_bytes + w * 64);
        }
        for (std::size_t i = 0; i < Queries; ++i) {
            const __m512i query = _mm512_set1_epi32(queries[i].words[w]);
            for (std::size_t g = 0; g < Groups; ++g) {
                total[i][g] = _mm512_dpbusd_epi32(total[i][g], objects[g], query);
            }
        }
    }
    for (std::size_t i = 0; i < Queries; ++i) {
        for (std::size_t g = 0; g < Groups; ++g) {
            _mm512_storeu_si512(sums[i] + g * group_size, total[i][g]);
        }
    }
}

#elif defined(FASTMKS_AVX2)

// Bytes become pairs of 16-bit numbers: the even ones and the odd ones of each word.
template <std::size_t Queries, std::size_t Groups>
[[gnu::always_inline]] inline void add_up(const CodeBlock& block, std::size_t first_group,
                                          const CodeQuery* queries,
                                          std::int32_t (*sums)[Groups * group_size]) {
    const std::size_t group_bytes = block.n_words * group_size * bytes_per_word;
    const __m256i low_bytes = _mm256_set1_epi16(0xff);
    for (std::size_t half = 0; half < 2 * Groups; ++half) {
        const std::uint8_t* codes =
            block.codes + (first_group + half / 2) * group_bytes + half % 2 * 32;
        __m256i total[Queries];
        for (std::size_t i = 0; i < Queries; ++i) total[i] = _mm256_set1_epi32(-queries[i].bias);
        for (std::size_t w = 0; w < block.n_words; ++w) {
            const __m256i both =
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + w * 64));
            const __m256i even = _mm256_and_si256(both, low_bytes);
            const __m256i odd = _mm256_srli_epi16(both, 8);
            for (std::size_t i = 0; i < Queries; ++i) {
                const __m256i word = _mm256_set1_epi32(queries[i].words[w]);
                const __m256i query_even = _mm256_srai_epi16(_mm256_slli_epi16(word, 8), 8);
                const __m256i query_odd = _mm256_srai_epi16(word, 8);
                total[i] =
                    _mm256_add_epi32(total[i], _mm256_add_epi32(_mm256_madd_epi16(even, query_even),
                                                                _mm256_madd_epi16(odd, query_odd)));
            }
        }
        for (std::size_t i = 0; i < Queries; ++i) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums[i] + half * 8), total[i]);
        }
    }
}

#else

template <std::size_t Queries, std::size_t Groups>
[[gnu::always_inline]] inline void add_up(const CodeBlock& block, std::size_t first_group,
                                          const CodeQuery* queries,
                                          std::int32_t (*sums)[Groups * group_size]) {
    const std::size_t group_bytes = block.n_words * group_size * bytes_per_word;
    for (std::size_t g = 0; g < Groups; ++g) {
        const std::uint8_t* codes = block.codes + (first_group + g) * group_bytes;
        for (std::size_t i = 0; i < Queries; ++i) {
            std::int32_t total[group_size];
            for (std::int32_t& sum : total) sum = -queries[i].bias;
            for (std::size_t w = 0; w < block.n_words; ++w) {
                const std::int32_t word = queries[i].words[w];
                const std::int32_t v[bytes_per_word] = {
                    static_cast<std::int8_t>(word), static_cast<std::int8_t>(word >> 8),
                    static_cast<std::int8_t>(word >> 16), static_cast<std::int8_t>(word >> 24)};
                const std::uint8_t* u = codes + w * group_size * bytes_per_word;
                for (std::size_t l = 0; l < group_size; ++l) {
                    total[l] += u[4 * l] * v[0] + u[4 * l + 1] * v[1] + u[4 * l + 2] * v[2] +
                                u[4 * l + 3] * v[3];
                }
            }
            for (std::size_t l = 0; l < group_size; ++l) sums[i][g * group_size + l] = total[l];
        }
    }
}

#endif

// The bounds of n objects, and a bit for each that is kept. A bound that is not a number keeps.
[[gnu::always_inline]] inline std::uint64_t keep(const CodeBlock& block, const CodeQuery& query,
                                                 std::size_t first, std::size_t n,
                                                 const std::int32_t* sums, CodeBounds& out) {
    float* upper = out.upper + first;
    const float* tails = block.tails + first;
    if (block.extras) {
        const float* extras = block.extras + first;
        for (std::size_t j = 0; j < n; ++j) {
            const float score = query.scale * static_cast<float>(sums[j]) + extras[j];
            upper[j] = score + query.tail * tails[j];
        }
    } else {
        for (std::size_t j = 0; j < n; ++j) {
            const float score = query.scale * static_cast<float>(sums[j]);
            upper[j] = score + query.tail * tails[j];
        }
    }
    std::uint64_t kept = 0;
    if (query.low > minus_infinity) {
        float* lower = out.lower + first;
        for (std::size_t j = 0; j < n; ++j) {
            const float score = query.scale * static_cast<float>(sums[j]);
            lower[j] = score - query.tail * tails[j];
        }
        for (std::size_t j = 0; j < n; ++j) {
            const bool is_out = (upper[j] < query.high) & (lower[j] > query.low);
            kept |= static_cast<std::uint64_t>(!is_out) << j;
        }
        return kept;
    }
#if defined(FASTMKS_VNNI)
    const __m512 high = _mm512_set1_ps(query.high);
    for (std::size_t j = 0; j < n; j += 16) {
        const __mmask16 is_kept = _mm512_cmp_ps_mask(_mm512_loadu_ps(upper + j), high, _CMP_NLT_UQ);
        kept |= static_cast<std::uint64_t>(is_kept) << j;
    }
#elif defined(FASTMKS_AVX2)
    const __m256 high = _mm256_set1_ps(query.high);
    for (std::size_t j = 0; j < n; j += 8) {
        const int is_kept =
            _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(upper + j), high, _CMP_NLT_UQ));
        kept |= static_cast<std::uint64_t>(static_cast<unsigned>(is_kept)) << j;
    }
#else
    for (std::size_t j = 0; j < n; ++j) {
        kept |= static_cast<std::uint64_t>(!(upper[j] < query.high)) << j;
    }
#endif
    return kept;
}

#if defined(FASTMKS_VNNI)

// The sums of one query with the four groups of a tile, each group from front to back: codes of one
// query come from memory, and memory likes that better than four groups side by side.
[[gnu::always_inline]] inline void add_up_alone(const std::uint8_t* codes, std::size_t n_words,
                                                const CodeQuery& query, __m512i* totals) {
    constexpr std::size_t n_sums = 4;
    for (std::size_t g = 0; g < 4; ++g, codes += n_words * 64) {
        __m512i sums[n_sums];
        for (__m512i& sum : sums) sum = _mm512_setzero_si512();
        std::size_t w = 0;
        for (; w + n_sums <= n_words; w += n_sums) {
            for (std::size_t s = 0; s < n_sums; ++s) {
                sums[s] = _mm512_dpbusd_epi32(sums[s], _mm512_loadu_si512(codes + (w + s) * 64),
                                              _mm512_set1_epi32(query.words[w + s]));
            }
        }
        for (; w < n_words; ++w) {
            sums[0] = _mm512_dpbusd_epi32(sums[0], _mm512_loadu_si512(codes + w * 64),
                                          _mm512_set1_epi32(query.words[w]));
        }
        totals[g] = _mm512_add_epi32(
            _mm512_add_epi32(_mm512_set1_epi32(-query.bias), _mm512_add_epi32(sums[0], sums[1])),
            _mm512_add_epi32(sums[2], sums[3]));
    }
}

// 64 objects for each query, from codes to bits without leaving the registers; bounds are written
// only where one is kept.
template <std::size_t Queries>
[[gnu::always_inline]] inline void scan_tile(const CodeBlock& block, std::size_t first_group,
                                             const CodeQuery* queries, CodeBounds* out) {
    constexpr std::size_t n_groups = 4;
    const std::size_t group_bytes = block.n_words * group_size * bytes_per_word;
    const std::uint8_t* codes = block.codes + first_group * group_bytes;
    __m512i total[Queries][n_groups];
    if constexpr (Queries == 1) {
        add_up_alone(codes, block.n_words, queries[0], total[0]);
    } else {
        for (std::size_t i = 0; i < Queries; ++i) {
            for (std::size_t g = 0; g < n_groups; ++g) {
                total[i][g] = _mm512_set1_epi32(-queries[i].bias);
            }
        }
        for (std::size_t w = 0; w < block.n_words; ++w) {
            __m512i objects[n_groups];
            for (std::size_t g = 0; g < n_groups; ++g) {
                objects[g] = _mm512_loadu_si512(codes + g * group_bytes + w * 64);
            }
            for (std::size_t i = 0; i < Queries; ++i) {
                const __m512i query = _mm512_set1_epi32(queries[i].words[w]);
                for (std::size_t g = 0; g < n_groups; ++g) {
                    total[i][g] = _mm512_dpbusd_epi32(total[i][g], objects[g], query);
                }
            }
        }
    }
    const std::size_t first = first_group * group_size;
    for (std::size_t i = 0; i < Queries; ++i) {
        const __m512 scale = _mm512_set1_ps(queries[i].scale);
        const __m512 tail = _mm512_set1_ps(queries[i].tail);
        const __m512 high = _mm512_set1_ps(queries[i].high);
        __m512 upper[n_groups];
        std::uint64_t kept = 0;
        for (std::size_t g = 0; g < n_groups; ++g) {
            const std::size_t at = first + g * group_size;
            __m512 score = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(total[i][g]));
            if (block.extras) score = _mm512_add_ps(score, _mm512_loadu_ps(block.extras + at));
            upper[g] = _mm512_add_ps(score, _mm512_mul_ps(tail, _mm512_loadu_ps(block.tails + at)));
            const __mmask16 is_kept = _mm512_cmp_ps_mask(upper[g], high, _CMP_NLT_UQ);
            kept |= static_cast<std::uint64_t>(is_kept) << (g * group_size);
        }
        out[i].kept[first_group / n_groups] = kept;
        if (kept == 0) continue;
        for (std::size_t g = 0; g < n_groups; ++g) {
            _mm512_storeu_ps(out[i].upper + first + g * group_size, upper[g]);
        }
    }
}

#endif

template <std::size_t Queries>
void scan_queries(const CodeBlock& block, const CodeQuery* queries, CodeBounds* out) {
    constexpr std::size_t groups_at_once = 4;  // 64 objects: the bits of one word
    for (std::size_t i = 0; i < Queries; ++i) {
        for (std::uint64_t& word : out[i].kept) word = 0;
    }
    std::size_t group = 0;
#if defined(FASTMKS_VNNI)
    bool is_one_sided = true;
    for (std::size_t i = 0; i < Queries; ++i) is_one_sided &= !(queries[i].low > minus_infinity);
    if (is_one_sided) {
        for (; group + groups_at_once <= block.n_groups; group += groups_at_once) {
            scan_tile<Queries>(block, group, queries, out);
        }
    }
#endif
    for (; group + groups_at_once <= block.n_groups; group += groups_at_once) {
        std::int32_t sums[Queries][groups_at_once * group_size];
        add_up<Queries, groups_at_once>(block, group, queries, sums);
        for (std::size_t i = 0; i < Queries; ++i) {
            out[i].kept[group / groups_at_once] =
                keep(block, queries[i], group * group_size, groups_at_once * group_size, sums[i],
                     out[i]);
        }
    }
    for (; group < block.n_groups; ++group) {
        std::int32_t sums[Queries][group_size];
        add_up<Queries, 1>(block, group, queries, sums);
        for (std::size_t i = 0; i < Queries; ++i) {
            const std::uint64_t kept =
                keep(block, queries[i], group * group_size, group_size, sums[i], out[i]);
            out[i].kept[group / groups_at_once] |= kept << (group % groups_at_once * group_size);
        }
    }
}

void scan(const CodeBlock& block, const CodeQuery* queries, std::size_t n_queries,
          CodeBounds* out) {
    switch (n_queries) {
        case 1:
            return scan_queries<1>(block, queries, out);
        case 2:
            return scan_queries<2>(block, queries, out);
        case 3:
            return scan_queries<3>(block, queries, out);
        case 4:
            return scan_queries<4>(block, queries, out);
    }
}

// A promise that is not a number promises everything.
[[gnu::always_inline]] inline float promised(float promise) {
    return promise == promise ? promise : __builtin_inff();
}

template <std::size_t Queries>
void bound_products_of(const LeafGroup& group, const LeafQuery* queries, float* scores,
                       float* promises, std::size_t stride) {
    float product[Queries][group_size] = {};
    float reach[Queries][group_size] = {};
    for (std::size_t c = 0; c < group.dimension; ++c) {
        const float* centres = group.centres + c * group_size;
        const float* halves = group.halves + c * group_size;
        for (std::size_t i = 0; i < Queries; ++i) {
            const float q = queries[i].row[c];
            const float length = __builtin_fabsf(q);
            for (std::size_t l = 0; l < group_size; ++l) product[i][l] += q * centres[l];
            for (std::size_t l = 0; l < group_size; ++l) reach[i][l] += length * halves[l];
        }
    }
    for (std::size_t i = 0; i < Queries; ++i) {
        const LeafQuery query = queries[i];
        for (std::size_t l = 0; l < group_size; ++l) {
            const float ball = query.norm * group.radii[l];
            const float box = reach[i][l] + query.error * group.radii[l];
            const float beyond = (ball < box ? ball : box) + query.tail * group.tails[l] +
                                 query.slack * group.lengths[l];
            const float score = product[i][l] - query.middle;
            const float side = query.is_two_sided ? __builtin_fabsf(score) : score;
            scores[i * stride + l] = product[i][l];
            promises[i * stride + l] = promised(side + beyond);
        }
    }
}

template <std::size_t Queries>
void bound_distances_of(const LeafGroup& group, const LeafQuery* queries, float* scores,
                        float* promises, std::size_t stride) {
    float square[Queries][group_size] = {};
    float gap[Queries][group_size] = {};
    for (std::size_t c = 0; c < group.dimension; ++c) {
        const float* centres = group.centres + c * group_size;
        const float* halves = group.halves + c * group_size;
        for (std::size_t i = 0; i < Queries; ++i) {
            const float q = queries[i].row[c];
            for (std::size_t l = 0; l < group_size; ++l) {
                const float difference = __builtin_fabsf(q - centres[l]);
                const float outside = difference - halves[l];
                const float positive = outside > 0.0f ? outside : 0.0f;
                square[i][l] += difference * difference;
                gap[i][l] += positive * positive;
            }
        }
    }
    for (std::size_t i = 0; i < Queries; ++i) {
        const LeafQuery query = queries[i];
        for (std::size_t l = 0; l < group_size; ++l) {
            const float length = __builtin_sqrtf(square[i][l]);
            const float off = query.slack * (query.norm + group.lengths[l]) + query.error;
            float ball = length - off - group.radii[l];
            ball = ball > 0.0f ? ball : 0.0f;
            float box = __builtin_sqrtf(gap[i][l]) - off;
            box = box > 0.0f ? box : 0.0f;
            const float inside = ball > box ? ball : box;
            const float below = query.least_tail - group.tails[l];
            const float above = group.least_tails[l] - query.tail;
            float outside = below > above ? below : above;
            outside = outside > 0.0f ? outside : 0.0f;
            // Two squares and their sum round.
            const float bound = -0.5f * (inside * inside + outside * outside) * (1.0f - 0x1p-20f);
            scores[i * stride + l] = -0.5f * (square[i][l] + query.least_tail * query.least_tail);
            promises[i * stride + l] = promised(bound - query.middle);
        }
    }
}

void bound_products(const LeafGroup& group, const LeafQuery* queries, std::size_t n_queries,
                    float* scores, float* promises, std::size_t stride) {
    switch (n_queries) {
        case 1:
            return bound_products_of<1>(group, queries, scores, promises, stride);
        case 2:
            return bound_products_of<2>(group, queries, scores, promises, stride);
        case 3:
            return bound_products_of<3>(group, queries, scores, promises, stride);
        case 4:
            return bound_products_of<4>(group, queries, scores, promises, stride);
    }
}

void bound_distances(const LeafGroup& group, const LeafQuery* queries, std::size_t n_queries,
                     float* scores, float* promises, std::size_t stride) {
    switch (n_queries) {
        case 1:
            return bound_distances_of<1>(group, queries, scores, promises, stride);
        case 2:
            return bound_distances_of<2>(group, queries, scores, promises, stride);
        case 3:
            return bound_distances_of<3>(group, queries, scores, promises, stride);
        case 4:
            return bound_distances_of<4>(group, queries, scores, promises, stride);
    }
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

float quantize(const float* numbers, std::size_t n_words, std::int32_t* words, std::int32_t* sum,
               float* error) {
    constexpr std::size_t n_parts = 16;
    const std::size_t n = n_words * bytes_per_word;
    float largest_of[n_parts] = {};
    std::size_t j = 0;
    for (; j + n_parts <= n; j += n_parts) {
        for (std::size_t l = 0; l < n_parts; ++l) {
            const float length = __builtin_fabsf(numbers[j + l]);
            largest_of[l] = length > largest_of[l] ? length : largest_of[l];
        }
    }
    float largest = 0.0f;
    for (; j < n; ++j) {
        const float length = __builtin_fabsf(numbers[j]);
        largest = length > largest ? length : largest;
    }
    for (std::size_t l = 0; l < n_parts; ++l) {
        largest = largest_of[l] > largest ? largest_of[l] : largest;
    }
    const float scale = largest > 1e-30f ? largest / largest_code : 1.0f;
    const float inverse = 1.0f / scale;
    auto* bytes = reinterpret_cast<signed char*>(words);
    float left_of[n_parts] = {};
    std::int32_t sum_of[n_parts] = {};
    for (j = 0; j + n_parts <= n; j += n_parts) {
        for (std::size_t l = 0; l < n_parts; ++l) {
            const float ratio = numbers[j + l] * inverse;
            // Whole numbers lie this far up: adding it rounds to one.
            const float rounded = (ratio + 0x1.8p23f) - 0x1.8p23f;
            const float left = numbers[j + l] - rounded * scale;
            left_of[l] += left * left;
            const auto v = static_cast<std::int32_t>(rounded);
            bytes[j + l] = static_cast<signed char>(v);
            sum_of[l] += v;
        }
    }
    for (; j < n; ++j) {
        const float ratio = numbers[j] * inverse;
        const float rounded = (ratio + 0x1.8p23f) - 0x1.8p23f;
        const float left = numbers[j] - rounded * scale;
        left_of[0] += left * left;
        const auto v = static_cast<std::int32_t>(rounded);
        bytes[j] = static_cast<signed char>(v);
        sum_of[0] += v;
    }
    *sum = 0;
    *error = 0.0f;
    for (std::size_t l = 0; l < n_parts; ++l) {
        *sum += sum_of[l];
        *error += left_of[l];
    }
    return scale;
}

}  // namespace

extern const CodeLoops code_loops;
const CodeLoops code_loops{scan,     bound_products, bound_distances, choose,
                           greatest, least_of_best,  quantize};

}  // namespace fastmks::FASTMKS_ISA
