// any: SSE2 or NEON, which every 64-bit CPU has
#define FASTMKS_ISA baseline
#define FASTMKS_WIDTH 2
#define FASTMKS_VECTOR_QUERIES 2
#define FASTMKS_VECTOR_ROWS 1
#define FASTMKS_BIT_ROWS 2
#define FASTMKS_MATRIX_ROWS 4
#include "fastmks/simd/loops.inl"
