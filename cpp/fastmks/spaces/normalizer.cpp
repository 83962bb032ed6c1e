#include "fastmks/spaces/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fastmks {

void Normalizer::set(std::size_t position, double self_value) {
    if (self_value == 0.0) {
        mantissas_[position] = std::numeric_limits<double>::infinity();
        scales_[position] = 1.0;
        return;
    }
    int exponent = 0;
    std::frexp(self_value, &exponent);  // self_value = f * 2^exponent, 1/2 <= f < 1
    const int e = (exponent - 1) >> 1;  // so that self_value / 4^e is in [1, 4)
    mantissas_[position] = std::ldexp(self_value, -2 * e);
    scales_[position] = std::ldexp(1.0, -e);
}

void Normalizer::apply(const Normalizer& queries, std::size_t query, Selection objects,
                       double limit, const VectorLoops& loops, double* values) const {
    const QueryNorm norm{queries.mantissas_[query], queries.scales_[query]};
    if (!objects.positions) {
        loops.normalize(values, objects.size, norm, mantissas_.data() + objects.begin,
                        scales_.data() + objects.begin, limit);
        return;
    }
    constexpr std::size_t chunk = 64;
    double mantissas[chunk], scales[chunk];
    for (std::size_t begin = 0; begin < objects.size; begin += chunk) {
        const std::size_t size = std::min(chunk, objects.size - begin);
        for (std::size_t j = 0; j < size; ++j) {
            mantissas[j] = mantissas_[objects[begin + j]];
            scales[j] = scales_[objects[begin + j]];
        }
        loops.normalize(values + begin, size, norm, mantissas, scales, limit);
    }
}

}  // namespace fastmks
