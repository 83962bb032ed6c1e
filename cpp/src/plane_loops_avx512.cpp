#define FASTMKS_ISA avx512
#define FASTMKS_AVX512
#include "plane_loops.inl"
