#define FASTMKS_ISA baseline
#include "alignment_loops.inl"
