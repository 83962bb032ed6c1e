// Sparse queries in the layouts in which the columns of a row are looked up.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fastmks/stores/lane_sum.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks {

/// Queries are looked up this many at a time.
inline constexpr std::size_t queries_per_group = 8;

/// The term that a column adds to a value; none where the query does not have it.
struct ProductTerm {
    static double of(double x, double y) noexcept { return x * y; }
    template <class T>
    static void add_up(const VectorLoops& loops, SparseQueries queries, SparseRow<T> row,
                       double* out, std::size_t stride) {
        loops.rows<T>().sparse_products(queries, row, out, stride);
    }
};

/// The term of a minimum, for vectors without negative entries.
struct MinimumTerm {
    static double of(double x, double y) noexcept { return x < y ? x : y; }
    template <class T>
    static void add_up(const VectorLoops& loops, SparseQueries queries, SparseRow<T> row,
                       double* out, std::size_t stride) {
        loops.rows<T>().sparse_minimums(queries, row, out, stride);
    }
};

/// The columns that some queries have, each with a slot. Most columns of a row that no query has
/// are told apart by one bit of a small table, the others by a hash table.
class ColumnHash {
public:
    /// No columns; room for `n_columns`.
    void clear(std::size_t n_columns) {
        // Half full at most, so that a free place ends every search; 32 bits to a column.
        const unsigned bits = std::max(4U, static_cast<unsigned>(std::bit_width(2 * n_columns)));
        shift_ = 32 - std::min(bits, 31U);
        places_.assign(std::size_t{1} << (32 - shift_), {-1, 0});
        bit_shift_ = shift_ > 4 ? shift_ - 4 : 0;
        bits_.assign((std::size_t{1} << (32 - bit_shift_)) / 64, 0);
        n_slots_ = 0;
    }

    /// The slot of a column, a new one where it has none yet.
    std::int32_t insert(std::int32_t column) {
        const std::uint32_t hash = scrambled(column);
        bits_[hash >> bit_shift_ >> 6] |= std::uint64_t{1} << (hash >> bit_shift_ & 63);
        Place& place = places_[place_of(hash, column)];
        if (place.column < 0) place = {column, n_slots_++};
        return place.slot;
    }

    /// The slot of a column, or -1.
    [[nodiscard]] std::int32_t find(std::int32_t column) const noexcept {
        const std::uint32_t hash = scrambled(column);
        if (!(bits_[hash >> bit_shift_ >> 6] >> (hash >> bit_shift_ & 63) & 1)) return -1;
        const Place& place = places_[place_of(hash, column)];
        return place.column < 0 ? -1 : place.slot;
    }

    [[nodiscard]] std::size_t n_slots() const noexcept {
        return static_cast<std::size_t>(n_slots_);
    }

private:
    struct Place {
        std::int32_t column;  // negative where the place is free
        std::int32_t slot;
    };

    static std::uint32_t scrambled(std::int32_t column) noexcept {
        return static_cast<std::uint32_t>(column) * 0x9E3779B1U;
    }
    // Where a column is, or would be.
    [[nodiscard]] std::size_t place_of(std::uint32_t hash, std::int32_t column) const noexcept {
        std::size_t at = hash >> shift_;
        while (places_[at].column != column && places_[at].column >= 0) {
            at = (at + 1) & (places_.size() - 1);
        }
        return at;
    }

    unsigned shift_ = 31;
    unsigned bit_shift_ = 26;
    std::int32_t n_slots_ = 0;
    std::vector<Place> places_;
    std::vector<std::uint64_t> bits_;
};

/// One query with a number for every column.
class WideQuery {
public:
    void fill(const VectorEntries& query, std::size_t n_columns) {
        for (const std::int32_t column : filled_) row_[static_cast<std::size_t>(column)] = 0.0;
        row_.resize(n_columns);
        filled_ = query.columns;
        for (std::size_t e = 0; e < query.columns.size(); ++e) {
            row_[static_cast<std::size_t>(query.columns[e])] = query.values[e];
        }
    }

    template <class Term, class T>
    void add_up(SparseRow<T> row, double* out) const {
        LaneSum sum;
        for (std::size_t e = 0; e < row.n_entries; ++e) {
            const auto column = static_cast<std::size_t>(row.columns[e]);
            sum.add(column, Term::of(row_[column], static_cast<double>(row.values[e])));
        }
        *out = sum.total();
    }

private:
    std::vector<double> row_;
    std::vector<std::int32_t> filled_;  // the columns that are not zero
};

/// Up to N queries whose columns are looked up in a hash table.
template <std::size_t N>
class HashedQueries {
public:
    void fill(const VectorEntries* queries, std::size_t n_queries) {
        n_queries_ = n_queries;
        std::size_t n_entries = 0;
        for (std::size_t i = 0; i < n_queries; ++i) n_entries += queries[i].columns.size();
        hash_.clear(n_entries);
        table_.clear();
        for (std::size_t i = 0; i < n_queries; ++i) {
            for (std::size_t e = 0; e < queries[i].columns.size(); ++e) {
                const auto slot = static_cast<std::size_t>(hash_.insert(queries[i].columns[e]));
                if (slot * N == table_.size()) table_.resize(table_.size() + N);
                table_[slot * N + i] = queries[i].values[e];
            }
        }
    }

    template <class Term, class T>
    void add_up(SparseRow<T> row, double* out, std::size_t stride) const {
        std::array<LaneSum, N> sums;
        for (std::size_t e = 0; e < row.n_entries; ++e) {
            const std::int32_t slot = hash_.find(row.columns[e]);
            if (slot < 0) continue;
            const auto value = static_cast<double>(row.values[e]);
            const auto column = static_cast<std::size_t>(row.columns[e]);
            const double* const x = table_.data() + static_cast<std::size_t>(slot) * N;
            for (std::size_t i = 0; i < N; ++i) sums[i].add(column, Term::of(x[i], value));
        }
        for (std::size_t i = 0; i < n_queries_; ++i) out[i * stride] = sums[i].total();
    }

private:
    std::size_t n_queries_ = 0;
    ColumnHash hash_;
    std::vector<double> table_;  // N numbers to a slot
};

/// Eight queries side by side (SparseQueries), with a slot for every column.
class QueryGroup {
public:
    QueryGroup(const VectorEntries* queries, std::size_t n_queries, std::size_t n_columns);

    [[nodiscard]] SparseQueries view() const noexcept {
        return {slots_.data(), table_.data(), n_queries_};
    }

private:
    std::size_t n_queries_;
    std::vector<std::int32_t> slots_;
    std::vector<double> table_;
};

/// Rows taken out as queries. One of the four layouts is filled; each gives the same bits.
class SparseQueryRows final : public VectorQueries {
public:
    SparseQueryRows(std::vector<VectorEntries> taken, std::size_t n_columns);

    /// Another row in place of the only one.
    void refill(VectorEntries row);

    /// out[i * stride + j] = the sum of the terms of query i and row_of(j), for each j < n_rows.
    template <class Term, class RowOf>
    void add_up(std::size_t n_rows, RowOf row_of, const VectorLoops& loops, double* out,
                std::size_t stride) const;

    [[nodiscard]] const std::vector<VectorEntries>& rows() const noexcept { return rows_; }

private:
    std::size_t n_columns_;
    std::vector<VectorEntries> rows_;
    std::vector<WideQuery> wide_;
    std::vector<HashedQueries<1>> hashed_;
    std::vector<QueryGroup> groups_;
    std::vector<HashedQueries<queries_per_group>> hashed_groups_;
};

// All rows for a few queries, then for the next: what is looked up stays in the cache.
template <class Term, class RowOf>
void SparseQueryRows::add_up(std::size_t n_rows, RowOf row_of, const VectorLoops& loops,
                             double* out, std::size_t stride) const {
    for (const WideQuery& wide : wide_) {
        for (std::size_t j = 0; j < n_rows; ++j) wide.add_up<Term>(row_of(j), out + j);
    }
    for (const auto& hashed : hashed_) {
        for (std::size_t j = 0; j < n_rows; ++j)
            hashed.template add_up<Term>(row_of(j), out + j, stride);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        double* const to = out + g * queries_per_group * stride;
        const SparseQueries view = groups_[g].view();
        for (std::size_t j = 0; j < n_rows; ++j) {
            Term::add_up(loops, view, row_of(j), to + j, stride);
        }
    }
    for (std::size_t g = 0; g < hashed_groups_.size(); ++g) {
        double* const to = out + g * queries_per_group * stride;
        for (std::size_t j = 0; j < n_rows; ++j) {
            hashed_groups_[g].template add_up<Term>(row_of(j), to + j, stride);
        }
    }
}

}  // namespace fastmks
