#define FASTMKS_ISA avx2
#define FASTMKS_AVX2
#include "fastmks/simd/code_loops.inl"
