#define FASTMKS_ISA dotprod
#define FASTMKS_DOTPROD
#include "fastmks/simd/code_loops.inl"
