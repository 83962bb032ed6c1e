#define FASTMKS_ISA avx2
#include "alignment_loops.inl"
