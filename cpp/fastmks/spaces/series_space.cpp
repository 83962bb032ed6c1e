#include "fastmks/spaces/series_space.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fastmks/core/pulse.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {

SeriesStore::SeriesStore(const double* values, std::size_t n_values, const std::int64_t* offsets,
                         std::size_t n, std::size_t n_channels)
    : Runs(offsets, n, static_cast<std::size_t>(offsets[n]), "times"),
      values_(values),
      n_channels_(n_channels) {
    for (std::size_t i = 0; i < n; ++i) {
        if (length(i) == 0) throw std::invalid_argument("a series is empty");
    }
    if (static_cast<std::size_t>(offsets[n]) * n_channels != n_values) {
        throw std::invalid_argument("offsets must run from 0 to the number of times");
    }
}

GlobalAlignmentSpace::GlobalAlignmentSpace(std::shared_ptr<const SeriesStore> store,
                                           double bandwidth, std::size_t triangular, WideForm form)
    : WideSpace(store->size(), form),
      store_(std::move(store)),
      bandwidth_(bandwidth),
      triangular_(triangular),
      loops_(loops_for(form.isa).alignments) {
    for (std::size_t gap = 0; gap < triangular; ++gap) {
        weights_.push_back(static_cast<double>(triangular - gap) / static_cast<double>(triangular));
    }
    complete(relative_error());
}

bool GlobalAlignmentSpace::has_same_kernel(const WideSpace& queries) const noexcept {
    const auto& other = static_cast<const GlobalAlignmentSpace&>(queries);
    return other.bandwidth_ == bandwidth_ && other.triangular_ == triangular_ &&
           other.store_->n_channels() == store_->n_channels();
}

// A cell takes m(i-1, j-1) + (m(i-1, j) + m(i, j-1)): exchanging x and y changes no bit.
Wide GlobalAlignmentSpace::compute(const WideSpace& queries, std::size_t query, std::size_t object,
                                   Scratch& scratch) const {
    const SeriesStore& others = *static_cast<const GlobalAlignmentSpace&>(queries).store_;
    const double *x = store_->begin(object), *y = others.begin(query);
    std::size_t n = store_->length(object), m = others.length(query);
    if (n > m) {
        std::swap(x, y);
        std::swap(n, m);
    }
    if (triangular_ != 0 && m - n >= triangular_) return {};
    const std::size_t n_channels = store_->n_channels(), room = scratch_size(n);
    if (scratch.doubles.size() < room + m * n_channels) {
        scratch.doubles.resize(room + m * n_channels);
    }
    if (scratch.integers.size() < room) scratch.integers.resize(room);
    double* const backwards = scratch.doubles.data() + room;
    for (std::size_t c = 0; c < n_channels; ++c) {
        std::reverse_copy(y + c * m, y + (c + 1) * m, backwards + c * m);
    }
    const SeriesForm form{1.0 / bandwidth_, weights_.empty() ? nullptr : weights_.data(),
                          triangular_};
    loops_.global_alignment({x, n, backwards, m, n_channels}, form, scratch.doubles.data(),
                            scratch.integers.data(), pulse);
    return {scratch.doubles[0], scratch.integers[0]};
}

// With s = n + m steps at most: 12 roundings a step, and c = n_channels + 12 units of t in each
// exponent, which v / (2 - v) at most doubles. Over the paths, sum w t <= A (K + 1) for A = 1.1 s,
// since w <= exp(-t) and there are at most 3^s paths; and both K and 1 are at most
// sqrt(K(x, x) K(y, y)). So 12 s + 2 c * 2 A units. See docs/how-it-works/proofs/rounding.md.
double GlobalAlignmentSpace::relative_error() const noexcept {
    const double steps = 2.0 * static_cast<double>(store_->longest());
    const double c = static_cast<double>(store_->n_channels()) + 12.0;
    const double errors = steps * (12.0 + 4.4 * c) * roundoff;
    return errors < 0.1 ? 1.2 * errors : HUGE_VAL;
}

}  // namespace fastmks
