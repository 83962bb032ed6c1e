#include "fastmks/simd/code_loops.hpp"

#include "fastmks/simd/isa.hpp"

namespace fastmks {

namespace baseline {
extern const CodeLoops code_loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const CodeLoops code_loops;
}
namespace avx512 {
extern const CodeLoops code_loops;
}
namespace amx {
extern const CodeLoops code_loops;
}
#elif defined(__aarch64__)
namespace dotprod {
extern const CodeLoops code_loops;
}
#endif

const CodeLoops& code_loops([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::amx) return amx::code_loops;
    if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vnni")) return avx512::code_loops;
    if (isa != Isa::baseline) return avx2::code_loops;
#elif defined(__aarch64__)
    if (isa == Isa::dotprod) return dotprod::code_loops;
#endif
    return baseline::code_loops;
}

}  // namespace fastmks
