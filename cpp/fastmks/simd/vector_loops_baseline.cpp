#define FASTMKS_ISA baseline
#define FASTMKS_WIDTH 2
#define FASTMKS_TILE_QUERIES 2
#define FASTMKS_TILE_ROWS 1
#include "fastmks/simd/vector_loops.inl"
