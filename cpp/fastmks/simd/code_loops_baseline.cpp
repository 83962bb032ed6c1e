#define FASTMKS_ISA baseline
#include "fastmks/simd/code_loops.inl"
