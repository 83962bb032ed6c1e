// All loops for one instruction set. A file of targets/ includes this once, after it has defined
//   FASTMKS_ISA             the namespace: the name that isa.cpp gives to the instruction set
//   FASTMKS_WIDTH           the doubles of a register: 2, 4 or 8
//   FASTMKS_VECTOR_QUERIES  and
//   FASTMKS_VECTOR_ROWS     a tile of vector_loops.inl, whose sums stay in registers
//   FASTMKS_BIT_ROWS        the rows of a tile of bit_loops.inl
//   FASTMKS_MATRIX_ROWS     the rows of a tile of matrix_loops.inl
// and, for each unit of the CPU that has intrinsics here, its name: FASTMKS_AVX2, FASTMKS_AVX512,
// FASTMKS_VNNI, FASTMKS_VPOPCNTDQ, FASTMKS_AMX, FASTMKS_DOTPROD.
//
// Everything has internal linkage, and nothing uses standard library code beyond <cstddef>-like
// headers: a function compiled for AVX-512 must never be the copy that the linker keeps for
// everyone. For the same reason nothing runs before main: the loops are constants.
// Floating point is strict (no contraction, no reassociation), so that each instruction set gives
// the same bits.
//
// Registers have a length that the compiler knows: the types are vector_size(8 * FASTMKS_WIDTH).
// SVE therefore takes a target for each length, compiled with -msve-vector-bits, and its row in
// isa.cpp must ask the CPU for that very length.

#include "fastmks/simd/alignment_loops.inl"
#include "fastmks/simd/bit_loops.inl"
#include "fastmks/simd/bit_plane_loops.inl"
#include "fastmks/simd/code_loops.inl"
#include "fastmks/simd/loops.hpp"
#include "fastmks/simd/matrix_loops.inl"
#include "fastmks/simd/vector_loops.inl"

namespace fastmks::FASTMKS_ISA {

extern const Loops loops;
constexpr Loops loops{vectors::loops, matrices::loops, codes::loops,
                      bits::loops,    planes::loops,   alignments::loops};

}  // namespace fastmks::FASTMKS_ISA
