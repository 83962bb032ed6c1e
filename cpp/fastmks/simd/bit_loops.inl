// The loops of bit_loops.hpp, once per instruction set; see loops.inl. Where FASTMKS_VPOPCNTDQ is
// defined, that unit counts bits.

#include "fastmks/simd/bit_loops.hpp"

#if defined(FASTMKS_VPOPCNTDQ)
#include <immintrin.h>
#endif

namespace fastmks::FASTMKS_ISA::bits {
namespace {

constexpr std::size_t width = FASTMKS_WIDTH;
constexpr int tile_rows = FASTMKS_BIT_ROWS;

typedef std::uint64_t Words __attribute__((vector_size(width * 8)));
typedef std::uint64_t UnalignedWords __attribute__((vector_size(width * 8), aligned(8), may_alias));
typedef std::int32_t Counts __attribute__((vector_size(width * 4)));
typedef std::int32_t UnalignedCounts __attribute__((vector_size(width * 4), aligned(4), may_alias));

inline Words load(const std::uint64_t* from) {
    return *reinterpret_cast<const UnalignedWords*>(from);
}

// Bits are counted in two steps, so that the second is taken once for many words: partial counts
// may be added up this often before they are completed.
constexpr std::size_t most_added = 31;

#if defined(FASTMKS_VPOPCNTDQ)
// One instruction counts all bits of a word: a scan of 2048 bits takes half the time of the twin
// below in avx2 (benchmarks/objects/fingerprints.py with FASTMKS_ISA=avx2).
inline Words partial_counts(Words x) {
    return reinterpret_cast<Words>(_mm512_popcnt_epi64(reinterpret_cast<__m512i>(x)));
}
inline Words completed(Words counts) {
    return counts;
}
#else
// Partial counts are those of the eight bytes of a word, at most 8 each: 31 of them fit a byte.
inline Words partial_counts(Words x) {
    x = x - ((x >> 1) & 0x5555555555555555u);
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}
inline Words completed(Words counts) {
    counts = (counts & 0x00ff00ff00ff00ffu) + ((counts >> 8) & 0x00ff00ff00ff00ffu);
    counts = counts + (counts >> 16);
    return (counts + (counts >> 32)) & 0xffffu;
}
#endif

inline double sum(Words lanes) {
    std::uint64_t total = 0;
#pragma GCC unroll 8
    for (std::size_t l = 0; l < width; ++l) total += lanes[l];
    return static_cast<double>(static_cast<std::int64_t>(total));
}

template <int R>
inline void count_shared(const std::uint64_t* query, const std::uint64_t* const* rows,
                         std::size_t n_words, double* out) {
    Words totals[R] = {};
    for (std::size_t begin = 0; begin < n_words; begin += most_added * width) {
        const std::size_t end =
            n_words - begin < most_added * width ? n_words : begin + most_added * width;
        Words counts[R] = {};
        for (std::size_t w = begin; w < end; w += width) {
            const Words x = load(query + w);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                counts[r] = counts[r] + partial_counts(x & load(rows[r] + w));
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) totals[r] = totals[r] + completed(counts[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) out[r] = sum(totals[r]);
}

void intersections(const std::uint64_t* queries, std::size_t n_queries,
                   const std::uint64_t* const* rows, std::size_t n_rows, std::size_t n_words,
                   double* out, std::size_t stride) {
    std::size_t j = 0;
    for (; j + tile_rows <= n_rows; j += tile_rows) {
        for (std::size_t i = 0; i < n_queries; ++i) {
            count_shared<tile_rows>(queries + i * n_words, rows + j, n_words, out + i * stride + j);
        }
    }
    for (; j < n_rows; ++j) {
        for (std::size_t i = 0; i < n_queries; ++i) {
            count_shared<1>(queries + i * n_words, rows + j, n_words, out + i * stride + j);
        }
    }
}

void quotients(double* values, const std::int32_t* sizes, std::size_t n, std::int32_t n_members) {
    const auto query_size = static_cast<double>(n_members);
    for (std::size_t j = 0; j < n; ++j) {
        const double either = query_size + static_cast<double>(sizes[j]) - values[j];
        const double quotient = values[j] / either;
        values[j] = either > 0.0 ? quotient : 0.0;
    }
}

// differences[l] = bits in which the signatures of set l of a block and of the query differ.
inline void count_differences(const std::uint64_t* signature, const std::uint64_t* block,
                              std::size_t n_words, std::int32_t* differences) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < signature_block; part += width) {
        Words counts = {};
        for (std::size_t w = 0; w < n_words; ++w) {
            counts =
                counts + partial_counts(load(block + w * signature_block + part) ^ signature[w]);
        }
        *reinterpret_cast<UnalignedCounts*>(differences + part) =
            __builtin_convertvector(completed(counts), Counts);
    }
}

void signature_bounds(SetQuery query, const std::uint64_t* blocks, std::size_t n_words,
                      const std::int32_t* sizes, std::size_t n_blocks, double* out) {
    constexpr std::size_t most_blocks = 64;
    std::int32_t differences[most_blocks * signature_block];
    for (std::size_t first = 0; first < n_blocks; first += most_blocks) {
        const std::size_t n = n_blocks - first < most_blocks ? n_blocks - first : most_blocks;
        for (std::size_t b = 0; b < n; ++b) {
            count_differences(query.signature, blocks + (first + b) * n_words * signature_block,
                              n_words, differences + b * signature_block);
        }
        const std::int32_t* const size = sizes + first * signature_block;
        double* const bound = out + first * signature_block;
        for (std::size_t j = 0; j < n * signature_block; ++j) {
            // Not more than the smaller set has: a difference is at least that of the sizes.
            std::int32_t shared = (query.n_known + size[j] - differences[j]) >> 1;
            shared = shared < size[j] ? shared : size[j];
            shared = shared < query.n_known ? shared : query.n_known;
            const auto either = static_cast<double>(query.n_members + size[j] - shared);
            const double quotient = static_cast<double>(shared) / either;
            bound[j] = either > 0.0 ? quotient : 0.0;
        }
    }
}

constexpr BitLoops loops{intersections, quotients, signature_bounds};

}  // namespace
}  // namespace fastmks::FASTMKS_ISA::bits
