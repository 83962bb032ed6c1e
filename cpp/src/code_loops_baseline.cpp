#define FASTMKS_ISA baseline
#include "code_loops.inl"
