#define FASTMKS_ISA baseline
#include "fastmks/simd/bit_plane_loops.inl"
