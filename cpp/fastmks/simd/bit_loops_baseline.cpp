#define FASTMKS_ISA baseline
#define FASTMKS_WIDTH 2
#define FASTMKS_TILE_ROWS 2
#include "fastmks/simd/bit_loops.inl"
