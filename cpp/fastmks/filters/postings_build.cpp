#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>

#include "fastmks/filters/postings.hpp"
#include "fastmks/filters/postings_length.hpp"
#include "fastmks/spaces/score_map.hpp"

namespace fastmks {
namespace {

constexpr std::size_t most_planes = Postings::most_planes;
// A plane must take the place of this many postings in a block of 512 objects: a line costs about
// as much time as one or two of them, and as much room as eight (docs/how-it-works/postings.md
// has figures).
constexpr std::size_t postings_per_line = 3;
// Beyond this many columns for each entry, they are found by bisection.
constexpr std::size_t columns_per_entry = 16;
constexpr std::size_t few_columns = std::size_t{1} << 20;
constexpr std::size_t rows_per_look = 1024;

std::size_t n_blocks(std::size_t n) {
    return (n + block_size - 1) / block_size;
}

// Entries of a column by the bits they need, from 1 on; the last also holds all longer ones.
struct Widths {
    std::array<std::uint32_t, most_planes + 1> counts{};
    bool has_planes = true;  // only small whole numbers above 0 can have them

    void add(double x) {
        const bool is_whole = x > 0.0 && x == std::trunc(x);
        has_planes = has_planes && is_whole;
        const bool is_short = is_whole && x < (1 << most_planes);
        const auto width = is_short
                               ? static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(x)))
                               : most_planes + 1;
        ++counts[width - 1];
    }
    [[nodiscard]] std::size_t longer_than(std::size_t n_planes) const {
        return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(n_planes), counts.end(),
                               std::size_t{0});
    }
    // The number of planes that saves most.
    [[nodiscard]] std::size_t best_planes(std::size_t cost) const {
        std::size_t best = 0, least = longer_than(0);
        for (std::size_t n = 1; has_planes && n <= most_planes; ++n) {
            const std::size_t total = longer_than(n) + n * cost;
            if (total < least) {
                least = total;
                best = n;
            }
        }
        return best;
    }
};

}  // namespace

// The data that only building needs.
struct Postings::Draft {
    bool is_cosine;
    std::size_t n_columns;
    std::size_t n_entries = 0;
    std::vector<Length> lengths;  // by position
    std::vector<Widths> widths;   // by slot

    [[nodiscard]] int exponent(std::size_t position, int common) const {
        return is_cosine ? lengths[position].exponent : common;
    }
};

bool Postings::fits(const Space& objects) noexcept {
    const ScoreMap* const scores = objects.scores();
    return scores && scores->kind != ScoreKind::distance && scores->is_increasing &&
           scores->vectors->is_sparse() &&
           objects.size() < std::numeric_limits<std::uint32_t>::max();
}

Postings::Postings(const Space& objects, const Watch& watch) {
    if (!fits(objects)) {
        throw std::invalid_argument("postings need sparse vectors and an increasing score");
    }
    const ScoreMap& scores = scores_of(objects);
    const VectorStore& store = *scores.vectors;
    Draft draft{scores.kind == ScoreKind::cosine, store.n_columns(), 0, {}, {}};
    find_columns(store, draft);
    watch(0);
    order(draft);
    share_out(store, draft);
    watch(0);
    fill(store, draft, watch);
}

// Finds the columns with entries, and the lengths of the vectors.
void Postings::find_columns(const VectorStore& store, Draft& draft) {
    draft.lengths.resize(store.size());
    for (std::size_t i = 0; i < store.size(); ++i) {
        const VectorEntries entries = store.entries(i);
        draft.lengths[i] = length_of(entries);
        draft.n_entries += entries.columns.size();
    }
    has_all_columns_ =
        draft.n_columns <= std::max(few_columns, columns_per_entry * draft.n_entries);
    if (has_all_columns_) {
        n_slots_ = draft.n_columns;
        return;
    }
    std::vector<std::int32_t> columns;
    columns.reserve(draft.n_entries);
    for (std::size_t i = 0; i < store.size(); ++i) {
        const VectorEntries entries = store.entries(i);
        columns.insert(columns.end(), entries.columns.begin(), entries.columns.end());
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    columns.shrink_to_fit();
    columns_ = Array(std::move(columns));
    n_slots_ = columns_.size();
}

// Long vectors first for products, so that later ones can be pruned together.
void Postings::order(const Draft& draft) {
    const std::vector<Length>& lengths = draft.lengths;
    const std::size_t n = lengths.size();
    bool is_first = true;
    for (const Length& length : lengths) {
        if (draft.is_cosine || length.scaled == 0.0) continue;
        exponent_ = is_first ? length.exponent : std::max(exponent_, length.exponent);
        is_first = false;
    }
    std::vector<double> units(n);
    for (std::size_t i = 0; i < n; ++i) {
        const int moved = lengths[i].exponent - draft.exponent(i, exponent_);
        units[i] = std::ldexp(lengths[i].scaled, moved);
    }
    positions_ = Array<std::uint32_t>(n);
    const std::span<std::uint32_t> positions = positions_.edit();
    std::iota(positions.begin(), positions.end(), 0U);
    if (!draft.is_cosine) {
        std::stable_sort(positions.begin(), positions.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return units[a] > units[b]; });
    }
    places_ = Array<std::uint32_t>(n);
    const std::span<std::uint32_t> places = places_.edit();
    for (std::size_t p = 0; p < n; ++p) places[positions[p]] = static_cast<std::uint32_t>(p);
    shelf_norms_ = Array<double>((n + shelf_size - 1) / shelf_size);
    const std::span<double> shelf_norms = shelf_norms_.edit();
    for (std::size_t p = n; p-- > 0;) {
        double& norm = shelf_norms[p / shelf_size];
        if (p % shelf_size == shelf_size - 1 && p + 1 < n) norm = shelf_norms[p / shelf_size + 1];
        norm = std::max(norm, units[positions[p]] * float32_up);
    }
    if (!draft.is_cosine) return;
    inverse_norms_ = Array<float>(n_blocks(n) * block_size);
    for (std::size_t p = 0; p < n; ++p) {
        if (units[p] > 0.0) inverse_norms_.edit()[p] = static_cast<float>(1.0 / units[p]);
    }
}

// Gives each column its planes, and its list the room for what they leave.
void Postings::share_out(const VectorStore& store, Draft& draft) {
    draft.widths.resize(n_slots_);
    for (std::size_t i = 0; i < size(); ++i) {
        const VectorEntries entries = store.entries(i);
        const int exponent = draft.exponent(i, exponent_);
        for (std::size_t e = 0; e < entries.columns.size(); ++e) {
            const double x = entries.values[e];
            const double moved = exponent == 0 ? x : std::ldexp(x, -exponent);
            is_whole_ = is_whole_ && exponent == 0 && moved == std::trunc(moved);
            draft.widths[slot(entries.columns[e])].add(moved);
        }
    }
    const std::size_t cost = postings_per_line * n_blocks(size());
    slots_ = Array<Slot>(n_slots_ + 1);
    for (std::size_t s = 0; s < n_slots_; ++s) {
        const std::size_t n_planes = draft.widths[s].best_planes(cost);
        slots_.edit()[s + 1] = {slots_[s].list + draft.widths[s].longer_than(n_planes),
                                slots_[s].plane + n_planes};
    }
    n_planes_ = slots_.back().plane;
    draft.widths = {};
}

void Postings::fill(const VectorStore& store, const Draft& draft, const Watch& watch) {
    postings_ = Array<Posting>(slots_.back().list);
    lines_ = Array<PlaneLine>(n_blocks(size()) * n_planes_);
    const std::span<Posting> postings = postings_.edit();
    std::vector<std::size_t> ends(n_slots_);
    for (std::size_t s = 0; s < ends.size(); ++s) ends[s] = slots_[s].list;
    for (std::size_t p = 0; p < size(); ++p) {
        const std::size_t row = positions_[p];
        const VectorEntries entries = store.entries(row);
        const int exponent = draft.exponent(row, exponent_);
        PlaneLine* const lines = lines_.edit().data() + p / block_size * n_planes_;
        const std::size_t word = p % block_size / 64;
        for (std::size_t e = 0; e < entries.columns.size(); ++e) {
            const std::size_t s = slot(entries.columns[e]);
            double x = entries.values[e];
            if (exponent != 0) x = std::ldexp(x, -exponent);
            const std::size_t n_planes = slots_[s + 1].plane - slots_[s].plane;
            if (n_planes > 0) {
                // What the planes do not hold; numbers too large for this stay whole.
                const std::uint64_t whole = x < 0x1p53 ? static_cast<std::uint64_t>(x) : 0;
                const std::uint64_t bits = whole & ((std::uint64_t{1} << n_planes) - 1);
                for (std::size_t j = 0; j < n_planes; ++j) {
                    lines[slots_[s].plane + j].words[word] |= (bits >> j & 1) << p % 64;
                }
                x -= static_cast<double>(bits);
                if (x == 0.0) continue;
            }
            postings[ends[s]++] = {static_cast<std::uint32_t>(p), static_cast<float>(x)};
        }
        if (p % rows_per_look == 0) watch(p);
    }
}

std::size_t Postings::slot(std::int32_t column) const noexcept {
    const auto index = static_cast<std::size_t>(column);
    if (has_all_columns_) return std::min(index, n_slots_);
    const auto found = std::lower_bound(columns_.begin(), columns_.end(), column);
    if (found == columns_.end() || *found != column) return n_slots_;
    return static_cast<std::size_t>(found - columns_.begin());
}

Postings::Column Postings::column(std::int32_t index) const noexcept {
    const std::size_t s = slot(index);
    if (s == n_slots_) return {0, 0, 0, 0};
    return {slots_[s].list, slots_[s + 1].list, static_cast<std::uint32_t>(slots_[s].plane),
            static_cast<std::uint32_t>(slots_[s + 1].plane - slots_[s].plane)};
}

std::size_t Postings::n_bytes() const noexcept {
    return columns_.n_bytes() + slots_.n_bytes() + postings_.n_bytes() + lines_.n_bytes() +
           positions_.n_bytes() + places_.n_bytes() + inverse_norms_.n_bytes() +
           shelf_norms_.n_bytes();
}

}  // namespace fastmks
