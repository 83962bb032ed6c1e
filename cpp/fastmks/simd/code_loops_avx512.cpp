#define FASTMKS_ISA avx512
#define FASTMKS_VNNI
#include "fastmks/simd/code_loops.inl"
