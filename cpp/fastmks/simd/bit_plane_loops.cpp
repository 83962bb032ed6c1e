#include "fastmks/simd/bit_plane_loops.hpp"

#include "fastmks/simd/isa.hpp"

namespace fastmks {

namespace baseline {
extern const PlaneLoops plane_loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const PlaneLoops plane_loops;
}
namespace avx512 {
extern const PlaneLoops plane_loops;
}
#endif

const PlaneLoops& plane_loops([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::avx512 || isa == Isa::amx) return avx512::plane_loops;
    if (isa != Isa::baseline) return avx2::plane_loops;
#endif
    return baseline::plane_loops;
}

}  // namespace fastmks
