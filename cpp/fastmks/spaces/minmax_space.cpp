#include "fastmks/spaces/minmax_space.hpp"

#include <algorithm>

#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

double quotient(double smaller, double a, double b) {
    const double greater = (a + b) - smaller;
    return greater > 0.0 ? smaller / greater : 0.0;
}

// With n terms in a lane, each sum is off by at most n + 2 roundings of non-negative terms, a + b
// by one more, and a + b + m <= 3 (a + b - m): the greater sum is off by a share of at most
// 3 (n + 3) + 1 roundings, the smaller one by n + 2, and the quotient, at most 1, adds one.
// Dividing by what is off by a share g costs g / (1 - g).
Rounding rounding_of(const VectorStore& store) {
    const double lost = (4.0 * static_cast<double>(store.longest_sum()) + 16.0) * roundoff;
    const double share = lost / (1.0 - lost);
    return {share / (1.0 - share), 0.0};
}

}  // namespace

MinMaxSpace::MinMaxSpace(std::shared_ptr<const VectorStore> store, Isa isa)
    : ShareSpace(store, rounding_of(*store), isa), loops_(loops_for(isa).vectors), sums_(size()) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] = store_->sum(i);
}

bool MinMaxSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const MinMaxSpace*>(&queries);
    return other && other->store_->is_sparse() == store_->is_sparse() &&
           other->store_->n_columns() == store_->n_columns();
}

void MinMaxSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                           std::size_t stride) const {
    const auto& taken = static_cast<const Batch&>(queries);
    store_->minimums(*taken.queries, objects, loops_, out, stride);
    for (std::size_t i = 0; i < taken.size; ++i) {
        const double sum = taken.owner.sums_[taken.begin + i];
        double* const values = out + i * stride;
        for (std::size_t j = 0; j < objects.size; ++j) {
            values[j] = quotient(values[j], sum, sums_[objects[j]]);
        }
    }
}

void MinMaxSpace::bound_values(const QueryBatch& queries, Selection objects, double* out,
                               std::size_t stride) const {
    const auto& taken = static_cast<const Batch&>(queries);
    for (std::size_t i = 0; i < taken.size; ++i) {
        const double sum = taken.owner.sums_[taken.begin + i];
        for (std::size_t j = 0; j < objects.size; ++j) {
            const double other = sums_[objects[j]];
            out[i * stride + j] = quotient(std::min(sum, other), sum, other);
        }
    }
}

}  // namespace fastmks
