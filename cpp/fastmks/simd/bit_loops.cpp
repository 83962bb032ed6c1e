#include "fastmks/simd/bit_loops.hpp"

#include "fastmks/simd/isa.hpp"

namespace fastmks {

namespace baseline {
extern const BitLoops bit_loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const BitLoops bit_loops;
}
namespace avx512 {
extern const BitLoops bit_loops;
}
#endif

const BitLoops& bit_loops([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
    const bool is_wide = isa == Isa::avx512 || isa == Isa::amx;
    if (is_wide && __builtin_cpu_supports("avx512vpopcntdq")) return avx512::bit_loops;
    if (isa != Isa::baseline) return avx2::bit_loops;
#endif
    return baseline::bit_loops;
}

}  // namespace fastmks
