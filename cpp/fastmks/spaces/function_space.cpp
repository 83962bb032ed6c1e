#include "fastmks/spaces/function_space.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace fastmks {
namespace {

constexpr std::size_t line = 8;  // numbers in a cache line

std::size_t padded(std::size_t n_columns) {
    return (n_columns + line - 1) / line * line;
}

// Every row that a function sees begins at a whole cache line. A register filled from two lines
// takes twice as long; and compiled code may sum in another order, to other bits, where a row
// begins elsewhere.
bool is_aligned(const DoubleRows& rows) {
    return reinterpret_cast<std::uintptr_t>(rows.data) % (line * sizeof(double)) == 0 &&
           rows.stride % line == 0;
}

// Room for rows, copied to where they should begin.
class AlignedRows {
public:
    AlignedRows(std::size_t n_rows, std::size_t n_columns)
        : stride_(padded(n_columns)), memory_(n_rows * stride_ + line) {
        void* start = memory_.data();
        std::size_t room = memory_.size() * sizeof(double);
        data_ = static_cast<double*>(
            std::align(line * sizeof(double), n_rows * stride_ * sizeof(double), start, room));
    }
    void put(std::size_t i, const DoubleRows& from, std::size_t row) {
        std::copy_n(from[row], from.n_columns, data_ + i * stride_);
    }
    [[nodiscard]] const double* operator[](std::size_t i) const { return data_ + i * stride_; }
    [[nodiscard]] std::size_t stride() const noexcept { return stride_; }

private:
    std::size_t stride_;
    std::vector<double> memory_;
    double* data_;
};

struct FunctionBatch final : QueryBatch {
    FunctionBatch(const Space& space_, const DoubleRows& from, std::size_t begin_, std::size_t end_)
        : QueryBatch(space_, begin_, end_), rows(size, from.n_columns) {
        for (std::size_t i = 0; i < size; ++i) rows.put(i, from, begin + i);
    }
    AlignedRows rows;
};

// Objects that stay in the nearest cache while all queries of a batch meet them.
constexpr std::size_t tile_numbers = 2048;

}  // namespace

FunctionSpace::FunctionSpace(DoubleRows rows, PairFunction function, StatedFacts stated, Isa isa)
    : Space({.size = rows.n_rows,
             .isa = isa,
             .rounding = stated_rounding(stated.relative),
             .symmetry = stated.is_symmetric ? Symmetry::declared : Symmetry::unknown,
             .is_expensive = true}),
      rows_(rows),
      function_(function),
      relative_(stated.relative) {}

double FunctionSpace::self_value(std::size_t position) const {
    AlignedRows row(1, rows_.n_columns);
    row.put(0, rows_, position);
    return function_(row[0], row[0], static_cast<std::ptrdiff_t>(rows_.n_columns));
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
    return std::make_unique<FunctionBatch>(*this, rows_, begin, end);
}

void FunctionSpace::refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const {
    auto* const held = dynamic_cast<FunctionBatch*>(batch.get());
    if (held && held->rows.stride() == padded(rows_.n_columns) && held->size == 1) {
        held->rows.put(0, rows_, position);
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
        std::clamp<std::size_t>(tile_numbers / padded(rows_.n_columns), 1, objects.size + 1);
    const bool copies = !is_aligned(rows_);
    AlignedRows copied(copies ? tile : 0, rows_.n_columns);
    for (std::size_t begin = 0; begin < objects.size; begin += tile) {
        const std::size_t end = std::min(begin + tile, objects.size);
        for (std::size_t j = begin; copies && j < end; ++j) {
            copied.put(j - begin, rows_, objects[j]);
        }
        for (std::size_t i = 0; i < batch.size; ++i) {
            const double* query = batch.rows[i];
            for (std::size_t j = begin; j < end; ++j) {
                const double* row = copies ? copied[j - begin] : rows_[objects[j]];
                out[i * stride + j] = function_(query, row, n_columns);
            }
        }
    }
}

}  // namespace fastmks
