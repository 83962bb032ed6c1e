#define FASTMKS_ISA avx2
#include "fastmks/simd/alignment_loops.inl"
