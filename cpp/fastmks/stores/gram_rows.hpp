// Rows of counts while they are built and joined.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fastmks/stores/grams.hpp"

namespace fastmks {

/// Adds up the counts of one row at a time: in a table of all columns where that is small, else by
/// sorting what was added.
class RowCounter {
public:
    explicit RowCounter(std::size_t n_columns) {
        if (n_columns <= most_in_table) table_.resize(n_columns);
    }

    void add(std::int32_t column, std::uint32_t count) {
        if (table_.empty()) {
            added_.push_back(static_cast<std::uint64_t>(column) << 32 | count);
            return;
        }
        auto& sum = table_[static_cast<std::size_t>(column)];
        if (sum == 0) added_.push_back(static_cast<std::uint64_t>(column) << 32);
        sum += count;
    }

    /// Calls put(column, count) in increasing order of columns, and is empty again.
    template <class Put>
    void finish(Put put) {
        std::sort(added_.begin(), added_.end());
        for (std::size_t i = 0; i < added_.size();) {
            const std::uint64_t column = added_[i] >> 32;
            std::uint32_t count = 0;
            for (; i < added_.size() && added_[i] >> 32 == column; ++i) {
                count += static_cast<std::uint32_t>(added_[i]);
            }
            if (!table_.empty()) {
                count = table_[static_cast<std::size_t>(column)];
                table_[static_cast<std::size_t>(column)] = 0;
            }
            put(static_cast<std::int32_t>(column), count);
        }
        added_.clear();
    }

private:
    static constexpr std::size_t most_in_table = std::size_t{1} << 18;
    std::vector<std::uint32_t> table_;
    std::vector<std::uint64_t> added_;  // column and count in one number
};

/// The rows of some sequences that follow each other.
struct RowPart {
    std::vector<std::int64_t> lengths;
    std::vector<std::int32_t> columns;
    std::vector<std::uint32_t> counts;
    std::size_t first_too_large = std::numeric_limits<std::size_t>::max();  // counted from here

    void take(RowCounter& row) {
        constexpr std::uint64_t most = std::uint64_t{1} << 53;
        const std::size_t before = columns.size();
        std::uint64_t square = 0;
        row.finish([&](std::int32_t column, std::uint32_t count) {
            columns.push_back(column);
            counts.push_back(count);
            // Each count is less than 2^31, so that the sum cannot wrap around before it is seen.
            if (square <= most) square += std::uint64_t{count} * count;
        });
        if (square > most) first_too_large = std::min(first_too_large, lengths.size());
        lengths.push_back(static_cast<std::int64_t>(columns.size() - before));
    }
};

/// Puts parts together; they are empty afterwards.
[[nodiscard]] GramCounts join(std::vector<RowPart>& parts, std::size_t n_rows,
                              std::size_t n_columns);

}  // namespace fastmks
