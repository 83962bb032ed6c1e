#include "fastmks/isa.hpp"

namespace fastmks {

std::vector<Isa> available_isas() {
    std::vector<Isa> isas{Isa::baseline};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) isas.push_back(Isa::avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        isas.push_back(Isa::avx512);
    }
#endif
    return isas;
}

std::string to_string(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return "avx512";
        case Isa::avx2:
            return "avx2";
        case Isa::baseline:
            break;
    }
    return "baseline";
}

}  // namespace fastmks
