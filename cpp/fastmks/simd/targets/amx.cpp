// x86_64: -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
// x86_64: -mavx512vnni -mavx512vpopcntdq -mamx-tile -mamx-int8
#define FASTMKS_ISA amx
#define FASTMKS_AVX512
#define FASTMKS_VNNI
#define FASTMKS_VPOPCNTDQ
#define FASTMKS_AMX
#define FASTMKS_WIDTH 8
#define FASTMKS_VECTOR_QUERIES 4
#define FASTMKS_VECTOR_ROWS 4
#define FASTMKS_BIT_ROWS 4
#define FASTMKS_MATRIX_ROWS 8
#include "fastmks/simd/loops.inl"
