#define FASTMKS_ISA avx512
#include "alignment_loops.inl"
