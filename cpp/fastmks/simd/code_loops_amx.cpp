#define FASTMKS_ISA amx
#define FASTMKS_VNNI
#define FASTMKS_AMX
#include "fastmks/simd/code_loops.inl"
