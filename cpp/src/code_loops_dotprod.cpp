#define FASTMKS_ISA dotprod
#define FASTMKS_DOTPROD
#include "code_loops.inl"
