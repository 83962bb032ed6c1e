#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/spaces/share_space.hpp"
#include "fastmks/stores/set_store.hpp"

namespace fastmks {

/// Short signatures of all sets of a store, from which values are bounded.
///
/// Members fall into 64 * n_words classes, and the signature S(x) has a bit for the parity of each
/// class. A member that only one of x and y has changes one bit, so |S(x) ^ S(y)| <= |x ^ y| =
/// |x| + |y| - 2c, where c is the number of members that they share:
///     c <= (|x| + |y| - |S(x) ^ S(y)|) / 2.
/// The value c / (|x| + |y| - c) rises with c, and a rounded quotient rises with the exact one, so
/// the same division with this c bounds the canonical value itself.
class SetSignatures {
public:
    explicit SetSignatures(const SetStore& store);

    /// out[j] bounds the value of the query and selected set j. `query` has the longest signature.
    void bounds(SetQuery query, Selection objects, const BitLoops& loops, double* out) const;

private:
    [[nodiscard]] double bound(SetQuery query, std::size_t i) const;
    void bound_blocks(SetQuery query, std::size_t begin, std::size_t n, const BitLoops& loops,
                      double* out) const;

    std::size_t n_words_;
    std::vector<std::uint64_t> blocks_;
    std::vector<std::int32_t> sizes_;  // whole blocks
};

/// Sets under the Tanimoto (Jaccard) kernel c / (|x| + |y| - c); an empty set has 0 with all.
class TanimotoSpace final : public ShareSpace<TanimotoSpace, SetStore> {
public:
    TanimotoSpace(std::shared_ptr<const SetStore> store, Isa isa);

    bool is_zero(std::size_t position) const override { return store_->sizes()[position] == 0; }
    bool accepts(const Space& queries) const noexcept override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override;

private:
    const BitLoops& loops_;
    SetSignatures signatures_;
};

}  // namespace fastmks
