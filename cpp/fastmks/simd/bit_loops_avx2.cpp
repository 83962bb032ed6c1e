#define FASTMKS_ISA avx2
#define FASTMKS_WIDTH 4
#define FASTMKS_TILE_ROWS 4
#include "fastmks/simd/bit_loops.inl"
