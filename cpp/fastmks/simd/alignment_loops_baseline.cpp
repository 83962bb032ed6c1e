#define FASTMKS_ISA baseline
#include "fastmks/simd/alignment_loops.inl"
