#include "fastmks/function_space.hpp"

#include <algorithm>
#include <cmath>

namespace fastmks {
namespace {

struct FunctionBatch final : QueryBatch {
    FunctionBatch(const DoubleRows& rows_, std::size_t begin_, std::size_t end_)
        : QueryBatch(begin_, end_), rows(rows_) {}
    DoubleRows rows;
};

// Objects that stay in the nearest cache while all queries of a batch meet them.
constexpr std::size_t bytes_per_tile = 16384;

}  // namespace

FunctionSpace::FunctionSpace(DoubleRows rows, PairFunction function, double relative, Isa isa)
    : rows_(rows), function_(function), relative_(relative), isa_(isa) {}

Rounding FunctionSpace::rounding() const noexcept {
    return {relative_, std::isfinite(relative_) ? 0.0 : HUGE_VAL};
}

double FunctionSpace::largest_self_value() const noexcept {
    return HUGE_VAL;
}

double FunctionSpace::self_value(std::size_t position) const {
    return function_(rows_[position], rows_[position], static_cast<std::ptrdiff_t>(rows_.n_columns));
}

// The stated error is a share of K(x, x): where the value is 0, so is K(x, x), and x itself.
bool FunctionSpace::is_zero(std::size_t position) const {
    return relative_ < 1.0 && self_value(position) == 0.0;
}

bool FunctionSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const FunctionSpace*>(&queries);
    return other && other->function_ == function_ && other->rows_.n_columns == rows_.n_columns;
}

std::unique_ptr<QueryBatch> FunctionSpace::batch(std::size_t begin, std::size_t end) const {
    return std::make_unique<FunctionBatch>(rows_, begin, end);
}

void FunctionSpace::refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const {
    auto* const held = dynamic_cast<FunctionBatch*>(batch.get());
    if (held && held->rows.data == rows_.data && held->size == 1) {
        held->begin = position;
    } else {
        batch = this->batch(position, position + 1);
    }
}

void FunctionSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                             std::size_t stride) const {
    const auto& batch = static_cast<const FunctionBatch&>(queries);
    const auto n_columns = static_cast<std::ptrdiff_t>(rows_.n_columns);
    const std::size_t tile =
        std::max<std::size_t>(1, bytes_per_tile / (sizeof(double) * (rows_.n_columns + 1)));
    for (std::size_t begin = 0; begin < objects.size; begin += tile) {
        const std::size_t end = std::min(begin + tile, objects.size);
        for (std::size_t i = 0; i < batch.size; ++i) {
            const double* query = batch.rows[batch.begin + i];
            for (std::size_t j = begin; j < end; ++j) {
                out[i * stride + j] = function_(query, rows_[objects[j]], n_columns);
            }
        }
    }
}

}  // namespace fastmks
