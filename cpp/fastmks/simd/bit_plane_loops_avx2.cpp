#define FASTMKS_ISA avx2
#include "fastmks/simd/bit_plane_loops.inl"
