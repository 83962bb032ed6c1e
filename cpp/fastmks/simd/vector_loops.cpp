#include "fastmks/simd/vector_loops.hpp"

#include "fastmks/simd/isa.hpp"

namespace fastmks {

namespace baseline {
extern const VectorLoops loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const VectorLoops loops;
}
namespace avx512 {
extern const VectorLoops loops;
}
#endif

const VectorLoops& vector_loops([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::avx512 || isa == Isa::amx) return avx512::loops;
    if (isa == Isa::avx2) return avx2::loops;
#endif
    return baseline::loops;
}

}  // namespace fastmks
