#include "fastmks/stores/gram_rows.hpp"

namespace fastmks {
namespace {

// float32 holds every whole number up to here.
constexpr std::uint32_t largest_in_float = std::uint32_t{1} << 24;

// Appends a copy of a part's vector, and frees it.
template <class From, class To>
void move_behind(std::vector<From>& part, To* to) {
    std::transform(part.begin(), part.end(), to, [](From x) { return static_cast<To>(x); });
    part = {};
}

void set_offsets(std::vector<RowPart>& parts, GramCounts& joined) {
    joined.offsets = std::make_unique<std::int64_t[]>(joined.n_rows + 1);
    joined.first_too_large = joined.n_rows;
    std::size_t row = 0;
    for (const RowPart& part : parts) {
        if (part.first_too_large < part.lengths.size()) {
            joined.first_too_large = std::min(joined.first_too_large, row + part.first_too_large);
        }
        for (const std::int64_t length : part.lengths) {
            joined.offsets[row + 1] = joined.offsets[row] + length;
            ++row;
        }
    }
}

}  // namespace

GramCounts join(std::vector<RowPart>& parts, std::size_t n_rows, std::size_t n_columns) {
    GramCounts joined;
    joined.n_rows = n_rows;
    joined.n_columns = n_columns;
    set_offsets(parts, joined);
    std::uint32_t largest = 0;
    for (const RowPart& part : parts) {
        for (const std::uint32_t count : part.counts) largest = std::max(largest, count);
    }
    const auto n_entries = static_cast<std::size_t>(joined.offsets[n_rows]);
    joined.columns = std::make_unique_for_overwrite<std::int32_t[]>(n_entries);
    if (largest <= largest_in_float) {
        joined.floats = std::make_unique_for_overwrite<float[]>(n_entries);
    } else {
        joined.doubles = std::make_unique_for_overwrite<double[]>(n_entries);
    }
    std::size_t at = 0;
    for (RowPart& part : parts) {
        const std::size_t n = part.columns.size();
        move_behind(part.columns, joined.columns.get() + at);
        if (joined.floats) {
            move_behind(part.counts, joined.floats.get() + at);
        } else {
            move_behind(part.counts, joined.doubles.get() + at);
        }
        at += n;
    }
    return joined;
}

}  // namespace fastmks
