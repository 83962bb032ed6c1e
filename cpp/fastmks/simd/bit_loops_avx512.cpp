#define FASTMKS_ISA avx512
#define FASTMKS_WIDTH 8
#define FASTMKS_TILE_ROWS 4
#include "fastmks/simd/bit_loops.inl"
