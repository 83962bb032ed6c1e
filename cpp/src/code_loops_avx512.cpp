#define FASTMKS_ISA avx512
#define FASTMKS_VNNI
#include "code_loops.inl"
