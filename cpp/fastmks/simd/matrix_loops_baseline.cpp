#define FASTMKS_ISA baseline
#define FASTMKS_WIDTH 2
#define FASTMKS_TILE_ROWS 4
#include "fastmks/simd/matrix_loops.inl"
