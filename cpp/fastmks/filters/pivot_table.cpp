#include <algorithm>
#include <cmath>

#include "fastmks/filters/pivot_search.hpp"

namespace fastmks {
namespace {

constexpr std::size_t values_per_task = 4096;
constexpr std::size_t most_objects = 1024;  // of a task

float round_up(double x) {
    const auto rounded = static_cast<float>(x);
    return rounded < x ? std::nextafter(rounded, HUGE_VALF) : rounded;
}

}  // namespace

PivotTable::PivotTable(std::shared_ptr<const PivotProjection> projection, std::size_t threads,
                       const Watch& watch)
    : projection_(std::move(projection)), dimension_(projection_->dimension()) {
    const Space& objects = projection_->objects();
    const std::size_t n = objects.size();
    rows_ = Array<float>(n * dimension_);
    tails_ = Array<float>(n);
    errors_ = norms_ = Array<double>(n);
    mark_pivots();
    std::vector<int> exponents(n);
    const std::size_t step = std::clamp<std::size_t>(values_per_task / dimension_, 1, most_objects);
    parallel_for((n + step - 1) / step, threads, watch, [&](std::size_t task, Worker& worker) {
        const std::size_t begin = task * step, end = std::min(n, begin + step);
        Coordinates part;
        projection_->project(objects, begin, end, part);
        keep(part, begin);
        std::copy(part.exponents.begin(), part.exponents.end(),
                  exponents.begin() + static_cast<std::ptrdiff_t>(begin));
        worker.advance(end - begin);
    });
    bool is_first = true;
    for (std::size_t i = 0; i < n; ++i) {
        if (norms_[i] > 0.0 && std::isfinite(norms_[i]) && (is_first || exponents[i] > exponent_)) {
            exponent_ = exponents[i];
            is_first = false;
        }
    }
    for (std::size_t i = 0; i < n; ++i) share_unit(i, exponents[i]);
}

void PivotTable::mark_pivots() {
    is_pivot_.assign(projection_->objects().size(), 0);
    for (const std::int64_t position : projection_->known()) {
        is_pivot_[static_cast<std::size_t>(position)] = 1;
    }
}

// Takes objects from `begin` on, each in a unit of its own.
void PivotTable::keep(const Coordinates& part, std::size_t begin) {
    for (std::size_t at = 0; at < part.size(); ++at) {
        const std::size_t i = begin + at;
        norms_.edit()[i] = part.norms[at];
        tails_.edit()[i] = round_up(part.tails[at]);
        errors_.edit()[i] = part.errors[at];
    }
    std::transform(part.rows.begin(), part.rows.end(), rows_.edit().data() + begin * dimension_,
                   [](double x) { return static_cast<float>(x); });
}

// From the unit of an object to that of all, which is no smaller where the object is not zero.
void PivotTable::share_unit(std::size_t i, int exponent) {
    const double unit = std::ldexp(1.0, std::clamp(exponent - exponent_, -1000, 0));
    norms_.edit()[i] *= unit;
    // Rounding to float32, twice, and what underflow takes.
    errors_.edit()[i] = errors_[i] * unit + norms_[i] * 0x1p-23 + 1e-36;
    tails_.edit()[i] = round_up(tails_[i] * unit);
    float* row = rows_.edit().data() + i * dimension_;
    for (std::size_t c = 0; c < dimension_; ++c) row[c] = static_cast<float>(row[c] * unit);
    if (std::isfinite(norms_[i])) norm_ = std::max(norm_, norms_[i] * float32_up);
}

std::size_t PivotTable::n_bytes() const noexcept {
    return rows_.n_bytes() + tails_.n_bytes() + errors_.n_bytes() + norms_.n_bytes() +
           is_pivot_.size();
}

}  // namespace fastmks
