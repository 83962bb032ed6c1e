#include "fastmks/space.hpp"

#include <cmath>

#include "fastmks/vector_loops.hpp"

namespace fastmks {

void Space::values(const QueryBatch& queries, Selection objects, double* out) const {
    evaluate(queries, objects, out, objects.size);
    const std::size_t n = queries.size * objects.size;
    if (vector_loops(isa()).all_finite(out, n)) return;
    for (std::size_t at = 0; at < n; ++at) {
        if (!std::isfinite(out[at])) {
            throw ValueFault(queries.begin + at / objects.size, objects[at % objects.size],
                             out[at]);
        }
    }
}

}  // namespace fastmks
