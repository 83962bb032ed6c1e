#pragma once

#include "fastmks/simd/alignment_loops.hpp"
#include "fastmks/simd/bit_loops.hpp"
#include "fastmks/simd/bit_plane_loops.hpp"
#include "fastmks/simd/code_loops.hpp"
#include "fastmks/simd/matrix_loops.hpp"
#include "fastmks/simd/vector_loops.hpp"

namespace fastmks {

enum class Isa : int;  // isa.hpp; not included, since it brings in the standard library

/// All loops, compiled for one instruction set. Every instruction set computes the same bits.
struct Loops {
    VectorLoops vectors;
    MatrixLoops matrices;
    CodeLoops codes;
    BitLoops bits;
    PlaneLoops planes;
    AlignmentLoops alignments;
};

/// The loops for one of available_isas().
[[nodiscard]] const Loops& loops_for(Isa isa);

}  // namespace fastmks
