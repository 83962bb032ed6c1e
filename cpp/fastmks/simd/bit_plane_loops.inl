// The loops of bit_plane_loops.hpp, once per instruction set; see loops.inl. Where FASTMKS_AVX512
// is defined, its intrinsics are used.

#include "fastmks/simd/bit_plane_loops.hpp"

#if defined(FASTMKS_AVX512)
#include <immintrin.h>
#endif

namespace fastmks::FASTMKS_ISA::planes {
namespace {

constexpr std::size_t most_levels = 24;
constexpr std::size_t byte_levels = 8;  // that fit into a byte

#if defined(FASTMKS_AVX512)

using Lanes = __m512i;

[[gnu::always_inline]] inline Lanes load(const PlaneLine& line) {
    return _mm512_load_si512(line.words);
}

[[gnu::always_inline]] inline void store(PlaneLine& line, Lanes lanes) {
    _mm512_store_si512(line.words, lanes);
}

// Adds three bits of one weight: the sum stays in `bits`, the carry has twice the weight.
[[gnu::always_inline]] inline Lanes add(Lanes& bits, Lanes a, Lanes b) {
    const Lanes carry = _mm512_ternarylogic_epi64(bits, a, b, 0xE8);
    bits = _mm512_ternarylogic_epi64(bits, a, b, 0x96);
    return carry;
}

[[gnu::always_inline]] inline Lanes none() {
    return _mm512_setzero_si512();
}

// Adds the numbers whose bits are in `levels`.
constexpr __mmask16 all = 0xFFFF;  // without it, gcc 12 warns of what its own header leaves unset

void add_numbers(const PlaneLine* levels, std::size_t n_levels, float* scores) {
    const std::size_t n_low = n_levels < byte_levels ? n_levels : byte_levels;
    for (std::size_t w = 0; w < block_size / 64; ++w) {
        __m512i bytes = _mm512_setzero_si512();
        for (std::size_t l = 0; l < n_low; ++l) {
            bytes = _mm512_mask_add_epi8(bytes, levels[l].words[w], bytes,
                                         _mm512_set1_epi8(static_cast<char>(1 << l)));
        }
        alignas(64) std::uint8_t counts[64];
        _mm512_store_si512(counts, bytes);
        for (std::size_t p = 0; p < 4; ++p) {
            float* const at = scores + w * 64 + p * 16;
            const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(counts) + p);
            __m512 number = _mm512_maskz_cvtepi32_ps(all, _mm512_maskz_cvtepu8_epi32(all, part));
            for (std::size_t l = byte_levels; l < n_levels; ++l) {
                const auto mask = static_cast<__mmask16>(levels[l].words[w] >> (p * 16));
                number = _mm512_mask_add_ps(number, mask, number,
                                            _mm512_set1_ps(static_cast<float>(1U << l)));
            }
            _mm512_storeu_ps(at, _mm512_add_ps(_mm512_loadu_ps(at), number));
        }
    }
}

std::uint64_t keep(const float* scores, float cut) {
    std::uint64_t kept = 0;
    for (std::size_t j = 0; j < 64; j += 16) {
        const __mmask16 is_kept =
            _mm512_cmp_ps_mask(_mm512_loadu_ps(scores + j), _mm512_set1_ps(cut), _CMP_NLT_UQ);
        kept |= static_cast<std::uint64_t>(is_kept) << j;
    }
    return kept;
}

#else

typedef std::uint64_t Lanes __attribute__((vector_size(64)));

[[gnu::always_inline]] inline Lanes load(const PlaneLine& line) {
    return *reinterpret_cast<const Lanes*>(line.words);
}

[[gnu::always_inline]] inline void store(PlaneLine& line, Lanes lanes) {
    *reinterpret_cast<Lanes*>(line.words) = lanes;
}

[[gnu::always_inline]] inline Lanes add(Lanes& bits, Lanes a, Lanes b) {
    const Lanes either = bits ^ a;
    const Lanes carry = (bits & a) | (either & b);
    bits = either ^ b;
    return carry;
}

[[gnu::always_inline]] inline Lanes none() {
    return Lanes{};
}

// The bits of a byte, each as a byte.
struct Spread {
    constexpr Spread() {
        for (unsigned byte = 0; byte < 256; ++byte) {
            for (unsigned i = 0; i < 8; ++i) bytes[byte][i] = byte >> i & 1;
        }
    }
    std::uint8_t bytes[256][8] = {};
};
constexpr Spread spread;

void add_numbers(const PlaneLine* levels, std::size_t n_levels, float* scores) {
    const std::size_t n_low = n_levels < byte_levels ? n_levels : byte_levels;
    for (std::size_t w = 0; w < block_size / 64; ++w) {
        std::uint8_t bytes[64] = {};
        for (std::size_t l = 0; l < n_low; ++l) {
            for (std::size_t b = 0; b < 8; ++b) {
                const std::uint8_t* bits = spread.bytes[levels[l].words[w] >> (8 * b) & 255];
                for (std::size_t i = 0; i < 8; ++i) {
                    bytes[8 * b + i] = static_cast<std::uint8_t>(bytes[8 * b + i] | bits[i] << l);
                }
            }
        }
        float numbers[64];
        for (std::size_t i = 0; i < 64; ++i) numbers[i] = static_cast<float>(bytes[i]);
        for (std::size_t l = byte_levels; l < n_levels; ++l) {
            const auto weight = static_cast<float>(1U << l);
            for (std::size_t i = 0; i < 64; ++i) {
                numbers[i] += weight * static_cast<float>(levels[l].words[w] >> i & 1);
            }
        }
        for (std::size_t i = 0; i < 64; ++i) scores[w * 64 + i] += numbers[i];
    }
}

std::uint64_t keep(const float* scores, float cut) {
    int n_kept = 0;
    for (std::size_t j = 0; j < 64; ++j) n_kept += !(scores[j] < cut);
    std::uint64_t kept = 0;
    for (std::size_t j = 0; n_kept > 0 && j < 64; ++j) {
        kept |= static_cast<std::uint64_t>(!(scores[j] < cut)) << j;
    }
    return kept;
}

#endif

// Two lines of one weight at a time are added to the bits of that weight; their carries are lines
// of twice the weight, and join those of the next level.
void add_planes(const PlaneLine* lines, const PlaneLine* next_lines, PlaneSum sum, PlaneLine* spare,
                float* scores) {
    const auto line = [&](std::uint32_t at) {
        __builtin_prefetch(next_lines + sum.planes[at], 0, 2);
        return load(lines[sum.planes[at]]);
    };
    PlaneLine levels[most_levels];
    std::size_t n_carries = 0;
    std::uint32_t next = 0;
    for (std::size_t l = 0; l < sum.n_levels; ++l) {
        const std::uint32_t end = sum.level_ends[l];
        Lanes bits = none();
        std::size_t n_out = 0, at = 0;
        for (; at + 2 <= n_carries; at += 2) {
            store(spare[n_out++], add(bits, load(spare[at]), load(spare[at + 1])));
        }
        if (at < n_carries) {
            const Lanes other = next < end ? line(next++) : none();
            store(spare[n_out++], add(bits, load(spare[at]), other));
        }
        for (; next + 2 <= end; next += 2) {
            const Lanes a = line(next);
            store(spare[n_out++], add(bits, a, line(next + 1)));
        }
        if (next < end) {
            store(spare[n_out++], add(bits, line(next++), none()));
        }
        store(levels[l], bits);
        n_carries = n_out;
    }
    add_numbers(levels, sum.n_levels, scores);
}

void raise(const float* scores, float* maxima) {
    for (std::size_t i = 0; i < block_size; ++i) {
        maxima[i] = scores[i] > maxima[i] ? scores[i] : maxima[i];
    }
}

void scale(const float* factors, float* scores) {
    for (std::size_t i = 0; i < block_size; ++i) scores[i] *= factors[i];
}

constexpr PlaneLoops loops{add_planes, scale, raise, keep};

}  // namespace
}  // namespace fastmks::FASTMKS_ISA::planes
