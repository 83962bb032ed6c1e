#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/core/selection.hpp"
#include "fastmks/simd/bit_loops.hpp"

namespace fastmks {

/// Sets of a store taken out as queries, in the layout its loops need.
class SetQueries {
public:
    explicit SetQueries(std::size_t n_queries) : size(n_queries) {}
    virtual ~SetQueries() = default;
    std::size_t size;
};

/// Finite sets, compared by the number of members that two of them share. Sizes stay below 2^30, so
/// that sums of two are int32 numbers.
class SetStore {
public:
    virtual ~SetStore() = default;

    [[nodiscard]] std::size_t size() const noexcept { return sizes_.size(); }
    /// How many members each set has.
    [[nodiscard]] const std::vector<std::int32_t>& sizes() const noexcept { return sizes_; }
    /// How many of them the objects that this store is compared with may have.
    [[nodiscard]] virtual std::int32_t n_known(std::size_t i) const { return sizes_[i]; }

    /// Whether sets of `other` can be compared with those of this store.
    [[nodiscard]] virtual bool accepts(const SetStore& other) const noexcept = 0;

    /// The parity, for each of 512 classes, of the known members in it: two signatures differ in at
    /// most as many bits as two sets in members.
    virtual void signature(std::size_t i, std::uint64_t (&out)[longest_signature]) const = 0;

    /// Sets [begin, end) as queries for a store of the same kind.
    [[nodiscard]] virtual std::unique_ptr<SetQueries> queries(std::size_t begin,
                                                              std::size_t end) const = 0;
    /// Puts another set into queries of one set.
    virtual void refill(SetQueries& queries, std::size_t i) const = 0;

    /// out[i * stride + j] = how many members query i shares with selected set j.
    virtual void intersections(const SetQueries& queries, Selection objects, const BitLoops& loops,
                               double* out, std::size_t stride) const = 0;

protected:
    std::vector<std::int32_t> sizes_;
};

/// Rows of bits that the caller keeps alive: n_words words each. Throws std::invalid_argument
/// unless that is a multiple of words_per_line.
[[nodiscard]] std::shared_ptr<SetStore> make_bit_store(const std::uint64_t* words,
                                                       std::size_t n_rows, std::size_t n_words);

/// Sets of numbers below `n_known_members`, increasing within a set, in arrays that the caller
/// keeps alive. A query may have more members than are listed: `sizes` counts them all. Throws
/// std::invalid_argument when the arrays do not belong together.
[[nodiscard]] std::shared_ptr<SetStore> make_member_store(const std::int64_t* offsets,
                                                          const std::int32_t* members,
                                                          const std::int32_t* sizes,
                                                          std::size_t n_sets, std::size_t n_members,
                                                          std::size_t n_known_members);

}  // namespace fastmks
