#define FASTMKS_ISA amx
#define FASTMKS_VNNI
#define FASTMKS_AMX
#include "code_loops.inl"
