#include "fastmks/simd/alignment_loops.hpp"

#include "fastmks/simd/isa.hpp"

namespace fastmks {

namespace baseline {
extern const AlignmentLoops alignments;
}
#if defined(__x86_64__)
namespace avx2 {
extern const AlignmentLoops alignments;
}
namespace avx512 {
extern const AlignmentLoops alignments;
}
#endif

const AlignmentLoops& alignment_loops([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::avx512 || isa == Isa::amx) return avx512::alignments;
    if (isa == Isa::avx2) return avx2::alignments;
#endif
    return baseline::alignments;
}

}  // namespace fastmks
