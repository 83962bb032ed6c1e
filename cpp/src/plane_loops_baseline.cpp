#define FASTMKS_ISA baseline
#include "plane_loops.inl"
