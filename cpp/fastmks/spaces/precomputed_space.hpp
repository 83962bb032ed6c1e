#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fastmks/core/space.hpp"

namespace fastmks {

/// Values that were computed before, in a matrix that the caller keeps alive: a row for each
/// object or query, a column for each object.
struct ValueTable {
    const double* data;
    std::size_t n_columns;
    std::size_t stride;  ///< numbers from one row to the next
};

/// Objects that are rows and columns of a table, or queries that are rows only. The table stays as
/// it was given; objects in another order have the places of theirs.
class PrecomputedSpace final : public Space {
public:
    /// Object i has row `places[i]`, and for objects (not queries) the column of that number.
    /// A self value that is not a number was not given. `relative` is infinite where the values
    /// are not those of a Mercer kernel.
    PrecomputedSpace(ValueTable table, std::vector<std::int64_t> places, bool has_columns,
                     std::vector<double> self_values, double relative, Isa isa);

    double self_value(std::size_t position) const override;
    std::size_t self_evaluations(std::size_t) const noexcept override { return 0; }
    bool is_zero(std::size_t position) const override;
    bool accepts(const Space& queries) const noexcept override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;

private:
    ValueTable table_;
    std::vector<std::int64_t> places_;
    bool has_columns_;
    std::vector<double> self_values_;
    double relative_;
};

}  // namespace fastmks
