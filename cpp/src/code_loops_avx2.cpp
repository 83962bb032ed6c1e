#define FASTMKS_ISA avx2
#define FASTMKS_AVX2
#include "code_loops.inl"
