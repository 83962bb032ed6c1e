#define FASTMKS_ISA avx2
#include "plane_loops.inl"
