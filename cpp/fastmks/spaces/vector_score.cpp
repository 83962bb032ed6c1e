// How the values of the vector forms follow from the scores of vectors.
// docs/how-it-works/proofs/scores.md derives each line.

#include <algorithm>
#include <cmath>

#include "fastmks/spaces/score_search.hpp"
#include "fastmks/spaces/vector_space.hpp"

namespace fastmks {

const ScoreMap* VectorSpace::scores() const noexcept {
    // Bandwidths that need scaled differences are left to engines that need no scores.
    const bool is_scaled = difference_scale_.before != 1.0 || difference_scale_.after != 1.0;
    return is_scaled ? nullptr : this;
}

double VectorSpace::value_above(double score) const {
    const double value = value_at(score);
    return value + value_error(value);
}

double VectorSpace::value_below(double score) const {
    const double value = value_at(score);
    return value - value_error(value);
}

double VectorSpace::value_at(double score) const {
    double value = has_distances() ? -2.0 * score : score;
    map(&value, 1);
    return value;
}

// By how much the values of two scores may be in the wrong order.
double VectorSpace::value_error(double value) const noexcept {
    // Two approximations of one increasing function, each within 4 units of it.
    return form_.keeps_order ? 0.0 : 16 * roundoff * std::abs(value) + 4 * underflow;
}

double VectorSpace::score_near(double value) const noexcept {
    if (!form_.map) return value;
    return form_.score_near ? form_.score_near(kernel_, value) : std::nan("");
}

ScoreRange VectorSpace::scores_below(double value, double largest) const {
    const ScoreError error = score_error(kind, *store_);
    if (!form_.map) return {-HUGE_VAL, error.below(value, largest)};
    if (!is_increasing) return powers_below(value, largest);
    return ScoreMap::scores_below(value, largest);
}

bool VectorSpace::map_products(const Space& queries, std::size_t query, Selection objects,
                               double* values) const {
    const auto* const asked = dynamic_cast<const VectorSpace*>(&queries);
    if (!asked || has_distances()) return false;
    if (norms_) {
        if (!norms_->shifted.empty() || !asked->norms_->shifted.empty()) return false;
        norms_->normalizer.apply(asked->norms_->normalizer, query, objects, 1.0, loops_, values);
    } else {
        map(values, objects.size);
    }
    return true;
}

// An even power of v = scale * s + offset is less than `value` while |v| stays below some t.
ScoreRange VectorSpace::powers_below(double value, double largest) const {
    const auto power = [&](double v) { return this->power(v); };
    const double reach = power_reach(largest);
    const double guess = std::pow(value, 1.0 / kernel_.degree);
    const double t = greatest_below(power, value, 0.0, reach, guess);
    if (!(t >= 0.0)) return ScoreRange::empty();
    if (t >= reach) return ScoreRange::all();
    const double least = t - power_error(largest);
    if (!(least > 0.0)) return ScoreRange::empty();
    const double low = (-least - kernel_.offset) / kernel_.scale;
    const double high = (least - kernel_.offset) / kernel_.scale;
    // These two divisions round as well.
    const double spare = 8 * roundoff * (std::abs(low) + std::abs(high)) + underflow;
    return {low + spare, high - spare};
}

double VectorSpace::value_beyond(double distance, double largest) const {
    if (is_increasing || !std::isfinite(largest)) return -HUGE_VAL;
    const double least = kernel_.scale * distance * (1 - 4 * roundoff) - power_error(largest);
    return least > 0.0 ? power(least) : 0.0;
}

double VectorSpace::power(double v) const {
    loops_.power(&v, 1, kernel_.degree);
    return v;
}

// At least |v| for every score in question.
double VectorSpace::power_reach(double largest) const noexcept {
    return (kernel_.scale * largest + std::abs(kernel_.offset)) * (1 + 0x1p-40);
}

// How far v as computed may lie from the exact one: from a score that is off, by a product and a
// sum that round; and the middle, where it is 0.
double VectorSpace::power_error(double largest) const {
    const ScoreError error = score_error(ScoreKind::product, *store_);
    return kernel_.scale * error.at(largest) + 16 * roundoff * power_reach(largest) + 2 * underflow;
}

}  // namespace fastmks
