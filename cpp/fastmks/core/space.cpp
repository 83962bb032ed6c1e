#include "fastmks/core/space.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "fastmks/core/faults.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {

void Space::values(const QueryBatch& queries, Selection objects, double* out) const {
    evaluate(queries, objects, out, objects.size);
    check_values(queries, objects, out);
}

void Space::check_values(const QueryBatch& queries, Selection objects, const double* values) const {
    const std::size_t n = queries.size * objects.size;
    if (loops_for(isa()).vectors.all_finite(values, n)) return;
    for (std::size_t at = 0; at < n; ++at) {
        if (!std::isfinite(values[at])) {
            throw ValueFault{queries.begin + at / objects.size, objects[at % objects.size],
                             values[at]};
        }
    }
}

std::size_t Space::evaluate_others(const QueryBatch& query, std::size_t self, double own,
                                   Selection objects, double* out) const {
    const std::size_t at = objects.find(self), n = objects.size;
    if (at > 0) evaluate(query, objects.part(0, at), out, at);
    if (at == n) return at;
    out[at] = own;
    if (at + 1 < n) evaluate(query, objects.part(at + 1, n), out + at + 1, n - at - 1);
    return n - 1;
}

EvaluationCost measure_cost(const Space& space) {
    using Clock = std::chrono::steady_clock;
    const auto batch = space.batch(0, 1);
    std::vector<std::int64_t> positions(std::min<std::size_t>(space.size(), 256));
    std::vector<double> values(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        positions[i] = static_cast<std::int64_t>(i * space.size() / positions.size());
    }
    const auto seconds = [&](std::size_t n) {
        double least = HUGE_VAL;
        for (int repeat = 0; repeat < 5; ++repeat) {
            const auto started = Clock::now();
            space.evaluate(*batch, Selection::list(positions.data(), n), values.data(), n);
            const std::chrono::duration<double> taken = Clock::now() - started;
            least = std::min(least, taken.count());
            if (taken > std::chrono::milliseconds(1)) break;  // slow enough to be exact
        }
        return least;
    };
    const double one = seconds(1);
    const std::size_t n =
        one > 1e-4 ? std::min<std::size_t>(positions.size(), 4) : positions.size();
    const double many = n > 1 ? seconds(n) : one;
    const double value = n > 1 ? std::max(0.0, many - one) / static_cast<double>(n - 1) : one;
    return {std::max(0.0, one - value), std::max(value, 1e-10)};
}

}  // namespace fastmks
