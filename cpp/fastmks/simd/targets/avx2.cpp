// x86_64: -mavx2
#define FASTMKS_ISA avx2
#define FASTMKS_AVX2
#define FASTMKS_WIDTH 4
#define FASTMKS_VECTOR_QUERIES 2
#define FASTMKS_VECTOR_ROWS 2
#define FASTMKS_BIT_ROWS 4
#define FASTMKS_MATRIX_ROWS 4
#include "fastmks/simd/loops.inl"
