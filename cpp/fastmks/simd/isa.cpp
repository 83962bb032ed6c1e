#include "fastmks/simd/isa.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace fastmks {
namespace {

#if defined(__x86_64__)

// Tile registers: the CPU must have them for bytes, the system must save them, and a process has to
// ask for them first.
bool has_amx() {
#if defined(__linux__)
    static const bool has = [] {
        constexpr unsigned tile = 1u << 24, int8 = 1u << 25, saves_state = 1u << 27;
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & saves_state) == 0) return false;
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
        if ((d & tile) == 0 || (d & int8) == 0) return false;
        constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
        return syscall(SYS_arch_prctl, request, tile_data) == 0;
    }();
    return has;
#else
    return false;
#endif
}

#elif defined(__aarch64__)

bool has_dot_products() {
#if defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__APPLE__)
    return true;  // every Apple CPU of this kind has them
#else
    return false;
#endif
}

#endif

}  // namespace

std::vector<Isa> available_isas() {
    std::vector<Isa> isas{Isa::baseline};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) isas.push_back(Isa::avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        isas.push_back(Isa::avx512);
        if (__builtin_cpu_supports("avx512vnni") && has_amx()) isas.push_back(Isa::amx);
    }
#elif defined(__aarch64__)
    if (has_dot_products()) isas.push_back(Isa::dotprod);
#endif
    return isas;
}

std::string to_string(Isa isa) {
    switch (isa) {
        case Isa::amx:
            return "amx";
        case Isa::avx512:
            return "avx512";
        case Isa::avx2:
            return "avx2";
        case Isa::dotprod:
            return "dotprod";
        case Isa::baseline:
            break;
    }
    return "baseline";
}

}  // namespace fastmks
