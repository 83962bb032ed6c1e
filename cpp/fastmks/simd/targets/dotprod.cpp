// arm64: -march=armv8.2-a+dotprod
#define FASTMKS_ISA dotprod
#define FASTMKS_DOTPROD
#define FASTMKS_WIDTH 2
#define FASTMKS_VECTOR_QUERIES 2
#define FASTMKS_VECTOR_ROWS 1
#define FASTMKS_BIT_ROWS 2
#define FASTMKS_MATRIX_ROWS 4
#include "fastmks/simd/loops.inl"
