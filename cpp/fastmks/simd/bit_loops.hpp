#pragma once

#include <cstddef>
#include <cstdint>

namespace fastmks {

/// Rows of bits are whole groups of this many words: one cache line, 512 bits.
inline constexpr std::size_t words_per_line = 8;

/// The longest signature, in words; see SetSignatures.
inline constexpr std::size_t longest_signature = 8;

/// Signatures of consecutive sets lie in blocks of eight: word w of set 8b + l is
/// words[(b * n_words + w) * 8 + l], so that one register holds a word of eight sets.
inline constexpr std::size_t signature_block = 8;

/// The data of one query that its bounds need.
struct SetQuery {
    const std::uint64_t* signature;
    std::int32_t n_known;    ///< members that an object may have
    std::int32_t n_members;  ///< all of them
};

/// The loops over words of bits, built once per instruction set. All results are whole numbers or
/// one correctly rounded division of two, so every instruction set gives the same bits.
struct BitLoops {
    /// out[i * stride + j] = how many bits query i and row j share. Queries follow each other;
    /// n_words is a multiple of words_per_line.
    void (*intersections)(const std::uint64_t* queries, std::size_t n_queries,
                          const std::uint64_t* const* rows, std::size_t n_rows, std::size_t n_words,
                          double* out, std::size_t stride);

    /// values[j] = c / (n_members + sizes[j] - c) with c = values[j], and 0 for 0 / 0.
    void (*quotients)(double* values, const std::int32_t* sizes, std::size_t n,
                      std::int32_t n_members);

    /// out[j] >= the quotient of the query and set j of some whole blocks, from the signatures.
    void (*signature_bounds)(SetQuery query, const std::uint64_t* blocks, std::size_t n_words,
                             const std::int32_t* sizes, std::size_t n_blocks, double* out);
};

}  // namespace fastmks
