#define FASTMKS_ISA avx512
#define FASTMKS_AVX512
#include "fastmks/simd/bit_plane_loops.inl"
