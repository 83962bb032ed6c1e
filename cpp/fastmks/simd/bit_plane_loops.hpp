#pragma once

#include <cstddef>
#include <cstdint>

namespace fastmks {

/// Objects of one block: each has a bit in every line, and a score.
inline constexpr std::size_t block_size = 512;

/// One bit for each object of a block: 64 bytes, in files as well. That of object j is bit j % 64
/// of word j / 64.
struct alignas(64) PlaneLine {
    std::uint64_t words[block_size / 64];
};
static_assert(sizeof(PlaneLine) == 64);

/// Which lines of a block add up, and with what weights: those at planes[level_ends[l - 1]] ...
/// planes[level_ends[l]] count 2^l each. All weights add up to less than 2^n_levels, and n_levels
/// is at most 24, so that float32 holds every sum.
struct PlaneSum {
    const std::uint32_t* planes;
    const std::uint32_t* level_ends;
    std::size_t n_levels;
};

/// The loops of searches through inverted lists, built once per instruction set. Every one of them
/// computes the same bits.
struct PlaneLoops {
    /// Adds the weights of the lines that have an object's bit to the scores of all objects of a
    /// block. `next_lines` are those of the block asked for next. `spare` has room for one line
    /// more than there are planes.
    void (*add_planes)(const PlaneLine* lines, const PlaneLine* next_lines, PlaneSum sum,
                       PlaneLine* spare, float* scores);
    /// Multiplies the scores of a block.
    void (*scale)(const float* factors, float* scores);
    /// Raises each of `maxima` to the score of a block.
    void (*raise)(const float* scores, float* maxima);
    /// A bit for each of 64 scores that is not less than `cut`.
    std::uint64_t (*keep)(const float* scores, float cut);
};

}  // namespace fastmks
