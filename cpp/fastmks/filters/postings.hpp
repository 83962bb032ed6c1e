#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fastmks/core/answers.hpp"
#include "fastmks/core/archive.hpp"
#include "fastmks/core/array.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/space.hpp"
#include "fastmks/core/stop_rule.hpp"
#include "fastmks/filters/bound_counts.hpp"
#include "fastmks/scan/scan.hpp"
#include "fastmks/simd/bit_plane_loops.hpp"

namespace fastmks {

class VectorStore;

/// An entry of a column: which object has it, by its place, and its value. In files: 8 bytes.
struct Posting {
    std::uint32_t place;
    float value;
};
static_assert(sizeof(Posting) == 8);

/// Sparse vectors by columns, for searches of spaces whose values grow with an inner product or a
/// cosine. Objects lie in places of an order of their own, in shelves whose scores stay in the
/// fastest cache. A column is a list of postings. One that many objects have, in small whole
/// numbers, is put into planes instead: plane j holds bit j of the number for every object, and
/// the list the rest of it. Immutable once built. docs/how-it-works/proofs/postings.md has the
/// bounds.
class Postings {
public:
    static constexpr std::size_t shelf_size = 16 * block_size;
    static constexpr std::size_t most_planes = 4;  ///< of one column

    /// Whether a space can be searched this way: sparse vectors, and values that grow with their
    /// inner product or cosine.
    [[nodiscard]] static bool fits(const Space& objects) noexcept;

    /// Throws std::invalid_argument where the space does not fit.
    Postings(const Space& objects, const Watch& watch);
    /// The postings of `objects` with these parts. Throws std::invalid_argument where the space
    /// does not fit, and for what are no postings of such objects. Lists and planes are not read: a
    /// search stops where they are out of order.
    Postings(const Space& objects, const Arrays& arrays);

    /// The parts of this, for as long as it lasts.
    [[nodiscard]] Arrays arrays() const;

    [[nodiscard]] std::size_t size() const noexcept { return positions_.size(); }
    [[nodiscard]] std::size_t n_shelves() const noexcept { return shelf_norms_.size(); }
    [[nodiscard]] std::size_t n_planes() const noexcept { return n_planes_; }
    [[nodiscard]] std::size_t n_postings() const noexcept { return postings_.size(); }
    [[nodiscard]] std::size_t n_bytes() const noexcept;

    /// Products here are true ones times 2^-exponent, before the query's own. Cosines need none.
    [[nodiscard]] int exponent() const noexcept { return exponent_; }
    [[nodiscard]] bool is_cosine() const noexcept { return !inverse_norms_.empty(); }
    /// Whether every entry is a whole number.
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    /// At least the length of every object of a shelf and of later ones, in units of the
    /// postings.
    [[nodiscard]] double shelf_norm(std::size_t shelf) const noexcept {
        return shelf_norms_[shelf];
    }
    [[nodiscard]] std::uint32_t position(std::size_t place) const noexcept {
        return positions_[place];
    }
    /// The place of an object.
    [[nodiscard]] std::uint32_t place(std::size_t position) const noexcept {
        return places_[position];
    }
    /// 1 / length of each object, 0 for zero vectors, by place; whole blocks. Only for cosines.
    [[nodiscard]] const float* inverse_norms() const noexcept { return inverse_norms_.data(); }

    /// Where a column is found: its list and its planes.
    struct Column {
        std::size_t begin;  ///< of its postings, places increasing
        std::size_t end;
        std::uint32_t first_plane;
        std::uint32_t n_planes;
    };
    /// Empty for a column that no object has.
    [[nodiscard]] Column column(std::int32_t index) const noexcept;
    [[nodiscard]] const Posting* postings() const noexcept { return postings_.data(); }
    [[nodiscard]] const PlaneLine* lines(std::size_t block) const noexcept {
        return lines_.data() + block * n_planes_;
    }

private:
    struct Draft;
    /// Where the list and the planes of a column begin; they end where those of the next do. In
    /// files: 16 bytes.
    struct Slot {
        std::uint64_t list;
        std::uint64_t plane;
    };
    static_assert(sizeof(Slot) == 16);
    template <class Self, class Visit>
    static void describe(Self& self, Visit& visit);
    void check(const Space& objects) const;
    void check_places() const;
    void check_slots() const;
    [[nodiscard]] std::size_t slot(std::int32_t column) const noexcept;
    void find_columns(const VectorStore& store, Draft& draft);
    void order(const Draft& draft);
    void share_out(const VectorStore& store, Draft& draft);
    void fill(const VectorStore& store, const Draft& draft, const Watch& watch);

    int exponent_ = 0;
    bool is_whole_ = true;
    std::size_t n_planes_ = 0;
    bool has_all_columns_ = true;  // a slot for each, else for those that some object has
    std::size_t n_slots_ = 0;
    Array<std::int32_t> columns_;  // of the slots, increasing, in the latter case
    Array<Slot> slots_;            // and one more at the end
    Array<Posting> postings_;
    Array<PlaneLine> lines_;  // n_planes_ to a block
    Array<std::uint32_t> positions_;
    Array<std::uint32_t> places_;
    Array<float> inverse_norms_;
    Array<double> shelf_norms_;
};

/// As own_bounds_top_k, for the space of the postings, with bounds on scores.
BoundCounts postings_top_k(const ScanProblem& problem, const Postings& postings, std::size_t k,
                           std::size_t threads, const Watch& watch, double* values,
                           std::int64_t* positions);

/// The same as far as a rule allows, with what may have been missed.
BoundCounts postings_approximate_top_k(const ScanProblem& problem, const Postings& postings,
                                       std::size_t k, const StopRule& stop, std::size_t threads,
                                       const Watch& watch, TopKAnswers answers);

/// As own_bounds_above.
BoundCounts postings_above(const ScanProblem& problem, const Postings& postings,
                           const double* thresholds, std::size_t threads, const Watch& watch,
                           std::vector<std::vector<Hit>>& answers);

}  // namespace fastmks
