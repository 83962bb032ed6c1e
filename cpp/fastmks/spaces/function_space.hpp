#pragma once

#include <cstddef>

#include "fastmks/core/space.hpp"

namespace fastmks {

/// A kernel compiled by the caller: K(x, y) of two rows of n_columns numbers, each beginning at a
/// multiple of 64 bytes. It is called on several threads at once.
using PairFunction = double (*)(const double* x, const double* y, std::ptrdiff_t n_columns);

/// Rows of float64 that the caller keeps alive, like the function.
struct DoubleRows {
    const double* data;
    std::size_t n_rows;
    std::size_t n_columns;
    std::size_t stride;  ///< numbers from one row to the next

    [[nodiscard]] const double* operator[](std::size_t i) const noexcept {
        return data + i * stride;
    }
};

/// Rows under a compiled function. Its rounding is what its author states: infinite for a function
/// that is not a Mercer kernel.
class FunctionSpace final : public Space {
public:
    FunctionSpace(DoubleRows rows, PairFunction function, StatedFacts stated, Isa isa);

    double self_value(std::size_t position) const override;
    bool is_zero(std::size_t position) const override;
    bool accepts(const Space& queries) const noexcept override;
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override;
    void refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;

private:
    DoubleRows rows_;
    PairFunction function_;
    double relative_;
};

}  // namespace fastmks
