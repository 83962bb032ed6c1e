#define FASTMKS_ISA avx512
#include "fastmks/simd/alignment_loops.inl"
