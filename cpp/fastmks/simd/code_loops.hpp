#pragma once

#include <cstddef>
#include <cstdint>

namespace fastmks {

/// Codes of objects lie in groups of this many, four coordinates at a time: byte b of word w of
/// object l of a group is codes[(w * 16 + l) * 4 + b], so that one register holds a word of each.
inline constexpr std::size_t group_size = 16;
/// And four groups lie in a tile: as many objects as a word has bits.
inline constexpr std::size_t tile_size = 4 * group_size;
inline constexpr std::size_t bytes_per_word = 4;
/// Codes of objects are stored as u + code_bias, for u from -127 to 127.
inline constexpr int code_bias = 128;
inline constexpr int largest_code = 127;

/// One word of each object of a group: 64 bytes, in files as well.
struct alignas(64) CodeLine {
    std::uint8_t bytes[group_size * bytes_per_word];
};
static_assert(sizeof(CodeLine) == 64);

/// This many lines after the last group may be read, with any content.
inline constexpr std::size_t lines_behind = 15;

/// The objects of a leaf.
struct CodeBlock {
    const CodeLine* codes;  ///< word after word, group after group; more may be read after them
    std::size_t n_words;    ///< of each object
    std::size_t n_tiles;    ///< of tile_size objects
    const float* tails;
    const float* extras;  ///< null where all are 0
    float greatest_tail;
};

/// One query for one leaf. The score of an object with codes u and tail t is bounded by
///     scale * <v, u> + extra +- tail * t,
/// and the object is kept unless the upper one is below `high` and the lower one above `low`.
struct CodeQuery {
    const std::int32_t* words;  ///< four signed bytes v each
    std::int32_t bias;          ///< code_bias times the sum of v
    float scale;
    float tail;
    float high;
    float low;
};

/// The most queries of one call, and the most objects of a leaf.
inline constexpr std::size_t most_queries = 64;
inline constexpr std::size_t leaf_size = 256;

/// The objects of a leaf that one query keeps: bit j % tile_size of kept[j / tile_size], and their
/// bounds.
struct CodeBounds {
    std::uint64_t kept[leaf_size / tile_size];
    float upper[leaf_size];
};

/// Leaves lie in groups of 16 as well: coordinate c of leaf l of a group is at [c * 16 + l].
struct LeafGroup {
    std::size_t dimension;
    const float* centres;
    const float* halves;   ///< of the extent of the leaf's box along each axis
    const float* radii;    ///< of the objects' coordinates around the centre
    const float* lengths;  ///< of the centre, and the radius
    const float* tails;    ///< the greatest
    const float* least_tails;
};

/// A query in the form that leaves need; lengths err above.
struct LeafQuery {
    const float* row;
    float norm;  ///< of the row
    float tail;
    float least_tail;  ///< errs below
    float error;       ///< of the row
    float slack;       ///< share of lengths that rounding may change
    float middle;      ///< promises are distances from this score
    bool is_two_sided;
};

/// The result of rounding numbers to v * scale.
struct Codes {
    float scale;
    std::int32_t sum;  ///< of all v
    float error;       ///< squared length of the rest
    float square;      ///< squared length of the numbers
};

/// The loops of certified low-precision search, built once per instruction set. Every one of them
/// computes the same bits.
struct CodeLoops {
    /// Bounds the scores of up to most_queries queries with the objects of a leaf.
    void (*scan)(const CodeBlock& block, const CodeQuery* queries, std::size_t n_queries,
                 CodeBounds* out);
    /// For up to most_queries queries and a group of leaves: the score of each leaf's centre,
    /// and a promise: at least how far beyond the query's middle the score of one of its objects
    /// can lie. That of query i and leaf l is at [i * stride + l].
    void (*bound_products)(const LeafGroup& group, const LeafQuery* queries, std::size_t n_queries,
                           float* scores, float* promises, std::size_t stride);
    void (*bound_distances)(const LeafGroup& group, const LeafQuery* queries, std::size_t n_queries,
                            float* scores, float* promises, std::size_t stride);
    /// Writes the i < n with promises[i] of at least `least`, except minus infinity, and returns
    /// their number. `n` is a multiple of group_size.
    std::size_t (*choose)(const float* promises, std::size_t n, float least, std::uint32_t* out);
    /// The first of the greatest of n promises.
    std::size_t (*greatest)(const float* promises, std::size_t n);
    /// A number that at least `wanted` of n promises are not less than, and not many more.
    float (*least_of_best)(const float* promises, std::size_t n, std::size_t wanted);
    /// Puts n_words * 4 numbers, less those of `centre` unless that is null, into signed bytes
    /// v * scale that are nearest to them; `difference` is where they lie meanwhile. `n_words` is a
    /// multiple of 4.
    Codes (*quantize)(const float* numbers, const float* centre, std::size_t n_words,
                      float* difference, std::int32_t* words);
};

}  // namespace fastmks
