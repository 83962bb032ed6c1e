// x86_64: -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
#define FASTMKS_ISA avx512
#define FASTMKS_AVX2
#define FASTMKS_AVX512
#define FASTMKS_WIDTH 8
#define FASTMKS_VECTOR_QUERIES 4
#define FASTMKS_VECTOR_ROWS 4
#define FASTMKS_BIT_ROWS 4
#define FASTMKS_MATRIX_ROWS 8
#include "fastmks/simd/loops.inl"
