#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "fastmks/spaces/share_space.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks {

/// Vectors without negative entries under the kernel sum min(x, y) / sum max(x, y).
///
/// The canonical value is m / ((a + b) - m), from the canonical sums a of x, b of y and m of the
/// smaller entries: a + b - m is the sum of the greater ones, and columns that only one vector has
/// need not be visited. It is 0 where both vectors are 0. Rounded sums keep the order of their
/// terms, so m <= min(a, b) and the value is at most 1; for x = y it is exactly 1. Sums must be
/// below 2^1022.
class MinMaxSpace final : public ShareSpace<MinMaxSpace, VectorStore> {
public:
    MinMaxSpace(std::shared_ptr<const VectorStore> store, Isa isa);

    bool is_zero(std::size_t position) const override { return sums_[position] == 0.0; }
    bool accepts(const Space& queries) const noexcept override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;
    /// The value with min(a, b) for m: never less, since rounded sums, differences and quotients
    /// keep the order of what they round.
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override;

private:
    const VectorLoops& loops_;
    std::vector<double> sums_;
};

}  // namespace fastmks
