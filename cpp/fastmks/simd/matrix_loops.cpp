#include "fastmks/simd/matrix_loops.hpp"

#include "fastmks/simd/isa.hpp"

namespace fastmks {

namespace baseline {
extern const MatrixLoops matrix_loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const MatrixLoops matrix_loops;
}
namespace avx512 {
extern const MatrixLoops matrix_loops;
}
#endif

const MatrixLoops& matrix_loops([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::avx512 || isa == Isa::amx) return avx512::matrix_loops;
    if (isa == Isa::avx2) return avx2::matrix_loops;
#endif
    return baseline::matrix_loops;
}

}  // namespace fastmks
