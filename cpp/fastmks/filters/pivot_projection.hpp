#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fastmks/core/geometry.hpp"
#include "fastmks/filters/projection.hpp"

namespace fastmks {

/// Objects of any Mercer kernel on the span of some of them, the pivots, in the Hilbert space: the
/// score is the kernel value itself, and the coordinates of an object are its values with the
/// pivots, put through the inverse of the Cholesky factor of the pivots' Gram matrix.
/// docs/how-it-works/proofs/pivots.md derives what the coordinates promise, rounding included.
class PivotProjection final : public Projection {
public:
    /// Takes the objects at `wanted` as pivots, in this order, but for those that the ones before
    /// span up to rounding: their coordinates would amplify it; and for those whose K(x, x) is too
    /// large. Evaluates every pair of them. `objects` must outlive this. Throws
    /// std::invalid_argument for positions of no objects or given twice, NotMercerFault for
    /// K(x, x) < 0, ValueFault for values that are not finite.
    PivotProjection(const Space& objects, const std::vector<std::int64_t>& wanted);

    /// The projection of `objects` with these parts; evaluates nothing.
    PivotProjection(const Space& objects, const ArrayReader& reader);
    /// Adds its parts, in copies.
    void describe(ArrayWriter& writer) const;

    /// Without pivots, objects have a coordinate that is 0.
    std::size_t dimension() const noexcept override { return std::max<std::size_t>(1, n_pivots()); }
    bool is_distance() const noexcept override { return false; }
    std::size_t operations() const noexcept override { return n_pivots() * n_pivots(); }
    /// Puts the values with the pivots into `out.known`, by increasing positions; they need not be
    /// finite. Throws PivotFault for an object whose values no Mercer kernel can have.
    void project(const Space& objects, std::size_t begin, std::size_t end,
                 Coordinates& out) const override;
    ScoreRange scores_below(const Space& objects, const Space& queries, double value,
                            double largest) const override;

    /// Throws for a value with a query that is too great for its bound, whatever rounding did.
    [[noreturn]] void exceeded(std::size_t query, std::size_t object, double value,
                               double limit) const;
    [[nodiscard]] const Space& objects() const noexcept { return space_; }
    /// The positions of the pivots, increasing.
    [[nodiscard]] const std::vector<std::int64_t>& known() const noexcept { return positions_; }

    [[nodiscard]] std::size_t n_pivots() const noexcept { return pivots_.size(); }
    /// In the order of the factorisation.
    [[nodiscard]] const std::vector<std::int64_t>& pivots() const noexcept { return pivots_; }
    /// The part that does not follow from the pivots, which are evaluated again; empty if all do.
    /// The figures of errors may be greater, as those of pivots that were tried and not taken are.
    [[nodiscard]] std::string find_fault() const;
    /// Evaluations that construction took.
    [[nodiscard]] std::size_t build_evaluations() const noexcept { return build_evaluations_; }
    /// Errors of coordinates are at most this share of an object's length, underflow aside.
    [[nodiscard]] double error_share() const noexcept;

private:
    struct Pivot;
    class Factor;

    void take(const Factor& factor);
    void set_axes(std::size_t n_pivots);
    std::size_t evaluate(const Space& objects, std::size_t begin, std::size_t end,
                         const double* self, double* known) const;
    void place(const Space& objects, std::size_t position, double self, const double* values,
               std::size_t i, Coordinates& out) const;

    const Space& space_;
    std::vector<std::int64_t> pivots_;
    std::vector<std::int64_t> positions_;  // the same, increasing
    std::vector<int> exponents_;           // of the pivots' lengths, in that order
    std::vector<double> axes_;             // rows of padded(n_pivots) numbers
    std::vector<const double*> axis_rows_;
    double amplification_ = 0.0;       // A in docs/how-it-works/proofs/pivots.md
    double lost_amplification_ = 0.0;  // B
    double defect_ = 0.0;              // delta
    double share_ = 0.0;               // gamma
    std::size_t build_evaluations_ = 0;
};

}  // namespace fastmks
