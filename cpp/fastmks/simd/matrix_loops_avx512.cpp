#define FASTMKS_ISA avx512
#define FASTMKS_WIDTH 8
#define FASTMKS_TILE_ROWS 8
#include "fastmks/simd/matrix_loops.inl"
