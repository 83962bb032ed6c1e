#define FASTMKS_ISA avx2
#define FASTMKS_WIDTH 4
#define FASTMKS_TILE_QUERIES 2
#define FASTMKS_TILE_ROWS 2
#include "fastmks/simd/vector_loops.inl"
