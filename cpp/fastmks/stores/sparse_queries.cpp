#include "fastmks/stores/sparse_queries.hpp"

#include <utility>

namespace fastmks {
namespace {

// Up to this many columns one query has a number for each, and a group a slot: they stay in the
// caches that a core has to itself (docs/reference/kernels/sequences.md has figures).
constexpr std::size_t most_wide = std::size_t{1} << 14;
constexpr std::size_t most_slots = std::size_t{1} << 16;

// Where a group has at least one column in this many, the others get a slot with zeros: one more
// product with zero is faster than a jump that is not predicted.
constexpr std::size_t columns_per_slot = 16;

}  // namespace

QueryGroup::QueryGroup(const VectorEntries* queries, std::size_t n_queries, std::size_t n_columns)
    : n_queries_(n_queries), slots_(n_columns, -1) {
    std::size_t n_slots = 0;
    for (std::size_t i = 0; i < n_queries; ++i) {
        for (const std::int32_t column : queries[i].columns) {
            auto& slot = slots_[static_cast<std::size_t>(column)];
            if (slot < 0) slot = static_cast<std::int32_t>(n_slots++);
        }
    }
    table_.resize((n_slots + 1) * queries_per_group);
    for (std::size_t i = 0; i < n_queries; ++i) {
        for (std::size_t e = 0; e < queries[i].columns.size(); ++e) {
            const auto slot = slots_[static_cast<std::size_t>(queries[i].columns[e])];
            table_[static_cast<std::size_t>(slot) * queries_per_group + i] = queries[i].values[e];
        }
    }
    if (n_slots * columns_per_slot < n_columns) return;
    for (std::int32_t& slot : slots_) {
        if (slot < 0) slot = static_cast<std::int32_t>(n_slots);
    }
}

SparseQueryRows::SparseQueryRows(std::vector<VectorEntries> taken, std::size_t n_columns)
    : VectorQueries(taken.size()), n_columns_(n_columns) {
    if (size == 1) {
        if (n_columns <= most_wide) {
            wide_.resize(1);
        } else {
            hashed_.resize(1);
        }
        rows_.resize(1);
        refill(std::move(taken[0]));
        return;
    }
    rows_ = std::move(taken);
    for (std::size_t i = 0; i < size; i += queries_per_group) {
        const std::size_t n = std::min(queries_per_group, size - i);
        if (n_columns <= most_slots) {
            groups_.emplace_back(rows_.data() + i, n, n_columns);
        } else {
            hashed_groups_.emplace_back().fill(rows_.data() + i, n);
        }
    }
}

void SparseQueryRows::refill(VectorEntries row) {
    rows_[0] = std::move(row);
    for (WideQuery& wide : wide_) wide.fill(rows_[0], n_columns_);
    for (auto& hashed : hashed_) hashed.fill(rows_.data(), 1);
}

}  // namespace fastmks
