#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/core/answers.hpp"
#include "fastmks/core/archive.hpp"
#include "fastmks/core/array.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/stop_rule.hpp"
#include "fastmks/core/top_k.hpp"
#include "fastmks/filters/bound_counts.hpp"
#include "fastmks/filters/pivot_projection.hpp"
#include "fastmks/scan/scan.hpp"

namespace fastmks {

/// The coordinates of all objects of a space on the span of pivots, in float32 and in one unit:
/// true lengths are these times 2^exponent. Lengths err above. Immutable once built.
class PivotTable {
public:
    /// Progress is counted in objects. Throws what PivotProjection::project does.
    PivotTable(std::shared_ptr<const PivotProjection> projection, std::size_t threads,
               const Watch& watch);
    /// The table of a projection with these parts. Throws std::invalid_argument for what is no
    /// table of its objects. The rows are not read.
    PivotTable(std::shared_ptr<const PivotProjection> projection, const ArrayReader& reader);

    /// The parts of this, for as long as it lasts, and those of the projection.
    [[nodiscard]] Arrays arrays() const;

    [[nodiscard]] std::size_t size() const noexcept { return norms_.size(); }
    [[nodiscard]] std::size_t dimension() const noexcept { return dimension_; }
    [[nodiscard]] std::size_t n_bytes() const noexcept;
    [[nodiscard]] const PivotProjection& projection() const noexcept { return *projection_; }
    [[nodiscard]] int exponent() const noexcept { return exponent_; }
    /// The greatest length of an object that is finite.
    [[nodiscard]] double norm() const noexcept { return norm_; }
    [[nodiscard]] bool is_pivot(std::size_t i) const noexcept { return is_pivot_[i] != 0; }

    [[nodiscard]] const float* row(std::size_t i) const noexcept {
        return rows_.data() + i * dimension_;
    }
    /// Of the coordinates, float32 included.
    [[nodiscard]] double error(std::size_t i) const noexcept { return errors_[i]; }
    [[nodiscard]] float tail(std::size_t i) const noexcept { return tails_[i]; }
    [[nodiscard]] double norm(std::size_t i) const noexcept { return norms_[i]; }

private:
    template <class Self, class Visit>
    static void describe(Self& self, Visit& visit);
    void check() const;
    void mark_pivots();

    std::shared_ptr<const PivotProjection> projection_;
    std::size_t dimension_;
    int exponent_ = 0;
    double norm_ = 0.0;
    Array<float> rows_;
    Array<float> tails_;
    Array<double> errors_;
    Array<double> norms_;
    std::vector<char> is_pivot_;
};

/// As scan_top_k, for the space of the pivots: all objects are bounded, and those whose bounds
/// allow it are evaluated in the order of their bounds. For expensive values: all bounds
/// are computed. Progress is counted in queries. Throws PivotFault for values that no Mercer kernel
/// can have.
BoundCounts pivots_top_k(const ScanProblem& problem, const PivotTable& table, std::size_t k,
                         std::size_t threads, const Watch& watch, double* values,
                         std::int64_t* positions);

/// The same as far as a rule allows, with what may have been missed. The values of a query with the
/// pivots are part of its budget. Throws std::invalid_argument where it is too small for them and
/// for k hits.
BoundCounts pivots_approximate_top_k(const ScanProblem& problem, const PivotTable& table,
                                     std::size_t k, const StopRule& stop, std::size_t threads,
                                     const Watch& watch, TopKAnswers answers);

/// For each query, every object with K >= its threshold, in the order of answers.
BoundCounts pivots_above(const ScanProblem& problem, const PivotTable& table,
                         const double* thresholds, std::size_t threads, const Watch& watch,
                         std::vector<std::vector<Hit>>& answers);

}  // namespace fastmks
