#include "fastmks/spaces/vector_space.hpp"

#include <algorithm>
#include <cmath>

#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

// Squared norms of rows whose largest entry is in this range, and products of two such rows, stay
// far from both ends of the float64 range.
constexpr int largest_exponent = 400;

// Bandwidths outside this range are moved near 1, and the differences with them.
constexpr int largest_bandwidth_exponent = 200;

int shift_of(const VectorEntries& row) {
    double largest = 0.0;
    for (const double value : row.values) largest = std::max(largest, std::abs(value));
    if (largest == 0.0) return 0;
    const int exponent = std::ilogb(largest);
    return std::abs(exponent) <= largest_exponent ? 0 : -exponent;
}

SpaceFacts facts_of(const VectorStore& store, const VectorKernel& kernel, Isa isa) {
    const VectorForm& form = vector_form(kernel.form);
    const std::size_t terms = form.score == ScoreKind::distance
                                  ? padded(store.n_columns()) / n_lanes
                                  : store.longest_sum();
    const ScoreSum sum{static_cast<double>(terms), store.has_exact_products()};
    return {.size = store.size(),
            .isa = isa,
            .rounding = form.rounding(kernel, sum),
            .largest_self_value = form.largest_self_value,
            .symmetry = Symmetry::proven};
}

ScoreFacts score_facts_of(const VectorStore& store, const VectorKernel& kernel) {
    const VectorForm& form = vector_form(kernel.form);
    return {.kind = form.score,
            .vectors = &store,
            .is_product = !form.map && form.score == ScoreKind::product,
            .least_value = form.least_value,
            .is_increasing = !form.is_power || kernel.degree % 2 == 1,
            .middle = -kernel.offset / kernel.scale};
}

}  // namespace

VectorSpace::VectorSpace(std::shared_ptr<const VectorStore> store, VectorKernel kernel, Isa isa)
    : StoreSpace(store, facts_of(*store, kernel, isa)),
      ScoreMap(score_facts_of(*store, kernel)),
      kernel_(std::move(kernel)),
      form_(vector_form(kernel_.form)),
      loops_(loops_for(isa).vectors) {
    const int exponent = std::ilogb(kernel_.bandwidth);
    if (has_distances() && std::abs(exponent) > largest_bandwidth_exponent) {
        // Shrink before subtracting, grow after: neither can overflow where the result does not.
        const int shift = std::min(-exponent, 1023);  // 2^1024 would be infinite
        (shift < 0 ? difference_scale_.before : difference_scale_.after) = std::ldexp(1.0, shift);
        kernel_.bandwidth = std::ldexp(kernel_.bandwidth, shift);
    }
    if (kind != ScoreKind::cosine) return;
    norms_.emplace(Norms{Normalizer(size()), std::vector<int>(size()), {}});
    for (std::size_t i = 0; i < size(); ++i) {
        double norm = store_->squared_norm(i);
        if (!(norm > std::ldexp(1.0, -2 * largest_exponent) &&
              norm < std::ldexp(1.0, 2 * largest_exponent))) {
            const VectorEntries row = store_->entries(i);
            const int shift = shift_of(row);
            norms_->shifts[i] = shift;
            if (shift != 0) norms_->shifted.push_back(i);
            norm = scaled_product(row, shift, row, shift);
        }
        norms_->normalizer.set(i, norm);
    }
}

bool VectorSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const VectorSpace*>(&queries);
    if (!other || !(other->kernel_ == kernel_)) return false;
    const DifferenceScale& scale = other->difference_scale_;
    if (scale.before != difference_scale_.before) return false;
    if (scale.after != difference_scale_.after) return false;
    if (other->store_->is_sparse() != store_->is_sparse()) return false;
    // Sparse queries may have columns that no object has.
    return store_->is_sparse() ? other->store_->n_columns() >= store_->n_columns()
                               : other->store_->n_columns() == store_->n_columns();
}

void VectorSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                           std::size_t stride) const {
    const auto& taken = static_cast<const Batch&>(queries);
    if (has_distances()) {
        store_->squared_distances(*taken.queries, objects, difference_scale_, loops_, out, stride);
    } else {
        store_->products(*taken.queries, objects, loops_, out, stride);
    }
    if (norms_) {
        normalize(taken.owner, taken.begin, taken.size, objects, out, stride);
        return;
    }
    for (std::size_t i = 0; i < taken.size; ++i) map(out + i * stride, objects.size);
}

void VectorSpace::map(double* values, std::size_t n) const {
    if (form_.map) form_.map(kernel_, loops_, values, n);
}

void VectorSpace::normalize(const VectorSpace& queries, std::size_t first_query,
                            std::size_t n_queries, Selection objects, double* out,
                            std::size_t stride) const {
    const Norms& other = *queries.norms_;
    const bool any_shifted = !norms_->shifted.empty() || !other.shifted.empty();
    for (std::size_t i = 0; i < n_queries; ++i) {
        const std::size_t query = first_query + i;
        double* values = out + i * stride;
        for (std::size_t j = 0; any_shifted && j < objects.size; ++j) {
            if (other.shifts[query] != 0 || norms_->shifts[objects[j]] != 0) {
                values[j] = shifted_product(queries, query, objects[j]);
            }
        }
        norms_->normalizer.apply(other.normalizer, query, objects, 1.0, loops_, values);
    }
}

double VectorSpace::shifted_product(const VectorSpace& queries, std::size_t query,
                                    std::size_t object) const {
    return scaled_product(queries.store_->entries(query), queries.norms_->shifts[query],
                          store_->entries(object), norms_->shifts[object]);
}

double VectorSpace::self_value(std::size_t position) const {
    double value = 0.0;
    if (norms_) {
        value = norms_->normalizer.is_zero(position) ? 0.0 : 1.0;
    } else {
        if (!has_distances()) value = store_->squared_norm(position);
        map(&value, 1);
    }
    return value;
}

bool VectorSpace::is_zero(std::size_t position) const {
    return form_.vanishes(kernel_) && store_->entries(position).values.empty();
}

}  // namespace fastmks
