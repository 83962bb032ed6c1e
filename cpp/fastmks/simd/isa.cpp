#include "fastmks/simd/isa.hpp"

#include <iterator>

#include "fastmks/simd/loops.hpp"

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

// Each is defined by a file of targets/.
namespace baseline {
extern const Loops loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Loops loops;
}
namespace avx512 {
extern const Loops loops;
}
namespace cascadelake {
extern const Loops loops;
}
namespace icelake {
extern const Loops loops;
}
namespace amx {
extern const Loops loops;
}
#elif defined(__aarch64__)
namespace dotprod {
extern const Loops loops;
}
#endif

namespace {

bool runs_everywhere() {
    return true;
}

#if defined(__x86_64__)

bool has_avx2() {
    return __builtin_cpu_supports("avx2");
}

bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

bool has_cascadelake() {
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

bool has_icelake() {
    return has_cascadelake() && __builtin_cpu_supports("avx512vpopcntdq");
}

// Tile registers: the CPU must have them for bytes, the system must save them, and a process has to
// ask for them first.
bool has_tiles() {
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

bool has_amx() {
    return has_icelake() && has_tiles();
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

struct Target {
    const char* name;
    bool (*runs_here)();
    const Loops& loops;
};

// Weakest first: the last that runs is taken, unless FASTMKS_ISA names another.
constexpr Target targets[] = {
    {"baseline", runs_everywhere, baseline::loops},
#if defined(__x86_64__)
    {"avx2", has_avx2, avx2::loops},
    {"avx512", has_avx512, avx512::loops},
    {"cascadelake", has_cascadelake, cascadelake::loops},
    {"icelake", has_icelake, icelake::loops},
    {"amx", has_amx, amx::loops},
#elif defined(__aarch64__)
    {"dotprod", has_dot_products, dotprod::loops},
#endif
};

const Target& target(Isa isa) {
    return targets[static_cast<int>(isa)];
}

}  // namespace

std::vector<Isa> available_isas() {
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    std::vector<Isa> isas;
    for (int i = 0; i < static_cast<int>(std::size(targets)); ++i) {
        if (targets[i].runs_here()) isas.push_back(static_cast<Isa>(i));
    }
    return isas;
}

std::string to_string(Isa isa) {
    return target(isa).name;
}

const Loops& loops_for(Isa isa) {
    return target(isa).loops;
}

}  // namespace fastmks
