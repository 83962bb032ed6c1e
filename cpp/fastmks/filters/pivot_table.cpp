#include <algorithm>

#include "fastmks/filters/pivot_search.hpp"

namespace fastmks {
namespace {

constexpr std::size_t values_per_task = 4096;
constexpr std::size_t most_objects = 1024;  // of a task

}  // namespace

PivotTable::PivotTable(std::shared_ptr<const PivotProjection> projection, std::size_t threads,
                       const Watch& watch)
    : projection_(std::move(projection)), dimension_(projection_->dimension()) {
    const Space& objects = projection_->objects();
    const std::size_t step = std::clamp<std::size_t>(values_per_task / dimension_, 1, most_objects);
    ObjectRows rows(objects.size(), dimension_, usual_margins, step, threads, watch,
                    [&](std::size_t begin, std::size_t end, Coordinates& out) {
                        projection_->project(objects, begin, end, out);
                    });
    exponent_ = rows.exponent;
    norm_ = rows.norm;
    rows_ = Array(std::move(rows.numbers));
    tails_ = Array(std::move(rows.tails));
    errors_ = Array(std::move(rows.errors));
    norms_ = Array(std::move(rows.norms));
    mark_pivots();
}

void PivotTable::mark_pivots() {
    is_pivot_.assign(projection_->objects().size(), 0);
    for (const std::int64_t position : projection_->known()) {
        is_pivot_[static_cast<std::size_t>(position)] = 1;
    }
}

std::size_t PivotTable::n_bytes() const noexcept {
    return rows_.n_bytes() + tails_.n_bytes() + errors_.n_bytes() + norms_.n_bytes() +
           is_pivot_.size();
}

}  // namespace fastmks
