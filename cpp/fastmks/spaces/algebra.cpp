#include "fastmks/spaces/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "fastmks/core/faults.hpp"
#include "fastmks/core/pulse.hpp"
#include "fastmks/simd/loops.hpp"
#include "fastmks/spaces/score_search.hpp"

namespace fastmks {
namespace {

constexpr double smallest_normalizable = 1e-270;

// At least the product of two bounds, and 0 only where one of them is 0: neither 0 * infinity nor
// rounding can make it less.
double bound_product(double a, double b) noexcept {
    if (a == 0.0 || b == 0.0) return 0.0;
    return a * b * (1 + 4 * roundoff) + underflow;
}

struct CombinedBatch final : QueryBatch {
    using QueryBatch::QueryBatch;
    std::vector<std::unique_ptr<QueryBatch>> parts;
    const Normalizer* normalizer = nullptr;
};

// What sum and product share: the same queries against several spaces, folded value by value.
class CombinedSpace : public Space {
public:
    explicit CombinedSpace(std::vector<SpacePointer> parts) : parts_(std::move(parts)) {
        if (parts_.empty()) throw std::invalid_argument("a combination needs at least one space");
        for (const auto& part : parts_) {
            if (part->size() != size()) throw std::invalid_argument("spaces differ in size");
        }
    }
    std::size_t size() const noexcept override { return parts_.front()->size(); }
    Isa isa() const noexcept override { return parts_.front()->isa(); }

    bool accepts(const Space& queries) const noexcept override {
        if (typeid(queries) != typeid(*this)) return false;
        const auto& others = static_cast<const CombinedSpace&>(queries).parts_;
        return std::equal(parts_.begin(), parts_.end(), others.begin(), others.end(),
                          [](const auto& a, const auto& b) { return a->accepts(*b); });
    }

    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override {
        auto batch = std::make_unique<CombinedBatch>(begin, end);
        for (const auto& part : parts_) batch->parts.push_back(part->batch(begin, end));
        return batch;
    }

    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        combine(queries, objects, out, stride,
                [](const Space& part, const QueryBatch& batch, Selection among, double* to,
                   std::size_t step) { part.evaluate(batch, among, to, step); });
    }

    bool is_parallel() const noexcept override {
        return std::all_of(parts_.begin(), parts_.end(),
                           [](const auto& part) { return part->is_parallel(); });
    }

    double self_value(std::size_t position) const override {
        double value = parts_.front()->self_value(position);
        for (std::size_t p = 1; p < parts_.size(); ++p) {
            const double next = parts_[p]->self_value(position);
            fold(&value, &next, 1);
        }
        return value;
    }

    std::size_t self_evaluations(std::size_t position) const noexcept override {
        std::size_t most = 0;  // those of the parts at once are one of the combination
        for (const auto& part : parts_) most = std::max(most, part->self_evaluations(position));
        return most;
    }
    std::size_t build_self_evaluations() const noexcept override {
        std::size_t sum = 0;
        for (const auto& part : parts_) sum += part->build_self_evaluations();
        return sum;
    }

    // Parts that follow the same score of the same vectors, as far as folding keeps the order.
    ScoreKind score_kind() const noexcept override {
        const ScoreKind kind = parts_.front()->score_kind();
        const bool is_shared = std::all_of(parts_.begin(), parts_.end(), [&](const auto& part) {
            return part->score_kind() == kind && part->is_increasing() &&
                   part->score_vectors() == score_vectors();
        });
        return is_shared && keeps_order() ? kind : ScoreKind::none;
    }
    const VectorStore* score_vectors() const noexcept override {
        return parts_.front()->score_vectors();
    }
    double value_above(double score) const override {
        return folded([=](const Space& part) { return part.value_above(score); });
    }
    double value_below(double score) const override {
        return folded([=](const Space& part) {
            return std::max(part.value_below(score), part.least_value());
        });
    }

protected:
    virtual void fold(double* values, const double* next, std::size_t n) const = 0;
    // Whether greater values fold to a greater one, in rounding too.
    virtual bool keeps_order() const noexcept = 0;

    // Folds what number(part) gives for each part.
    template <class Number>
    double folded(Number number) const {
        double value = number(*parts_.front());
        for (std::size_t p = 1; p < parts_.size(); ++p) {
            const double next = number(*parts_[p]);
            fold(&value, &next, 1);
        }
        return value;
    }

    // Folds what ask(part, its batch, objects, out, stride) gives for each part.
    template <class Ask>
    void combine(const QueryBatch& queries, Selection objects, double* out, std::size_t stride,
                 Ask ask) const {
        const auto& batch = static_cast<const CombinedBatch&>(queries);
        ask(*parts_.front(), *batch.parts.front(), objects, out, stride);
        std::vector<double> next(queries.size * objects.size);
        for (std::size_t p = 1; p < parts_.size(); ++p) {
            ask(*parts_[p], *batch.parts[p], objects, next.data(), objects.size);
            for (std::size_t i = 0; i < queries.size; ++i) {
                fold(out + i * stride, next.data() + i * objects.size, objects.size);
            }
        }
    }

    std::vector<SpacePointer> parts_;
};

class SumSpace final : public CombinedSpace {
public:
    using CombinedSpace::CombinedSpace;

    // sum sqrt(K_i(x,x) K_i(y,y)) <= sqrt(sum K_i(x,x) * sum K_i(y,y)) by Cauchy-Schwarz.
    Rounding rounding() const noexcept override {
        Rounding sum{0.0, 0.0};
        for (const auto& part : parts_) {
            const Rounding rounding = part->rounding();
            sum.relative = std::max(sum.relative, rounding.relative);
            sum.absolute += rounding.absolute;
        }
        sum.relative += static_cast<double>(parts_.size()) * roundoff;
        return sum;
    }
    double largest_self_value() const noexcept override {
        double sum = 0.0;
        for (const auto& part : parts_) sum += part->largest_self_value();
        return sum;
    }
    bool is_zero(std::size_t position) const override {
        return std::all_of(parts_.begin(), parts_.end(),
                           [&](const auto& part) { return part->is_zero(position); });
    }
    // Rounded sums of greater terms are not less.
    bool has_bounds() const noexcept override {
        return std::all_of(parts_.begin(), parts_.end(),
                           [](const auto& part) { return part->has_bounds(); });
    }
    void bounds(const QueryBatch& queries, Selection objects, double* out,
                std::size_t stride) const override {
        combine(queries, objects, out, stride,
                [](const Space& part, const QueryBatch& batch, Selection among, double* to,
                   std::size_t step) { part.bounds(batch, among, to, step); });
    }

private:
    void fold(double* values, const double* next, std::size_t n) const override {
        for (std::size_t i = 0; i < n; ++i) values[i] += next[i];
    }
    bool keeps_order() const noexcept override { return true; }
};

class ProductSpace final : public CombinedSpace {
public:
    using CombinedSpace::CombinedSpace;

    Rounding rounding() const noexcept override {
        Rounding product = parts_.front()->rounding();
        double largest = parts_.front()->largest_self_value();
        for (std::size_t p = 1; p < parts_.size(); ++p) {
            const Rounding next = parts_[p]->rounding();
            const double next_largest = parts_[p]->largest_self_value();
            product.absolute =
                bound_product(product.absolute, bound_product(next_largest, 1 + next.relative)) +
                bound_product(next.absolute, bound_product(largest, 1 + product.relative)) +
                bound_product(product.absolute, next.absolute) + underflow;
            product.relative += next.relative + product.relative * next.relative +
                                3 * roundoff * (1 + product.relative) * (1 + next.relative);
            largest = bound_product(largest, next_largest);
        }
        return product;
    }
    double largest_self_value() const noexcept override {
        double product = 1.0;
        for (const auto& part : parts_) {
            product = bound_product(product, part->largest_self_value());
        }
        return product;
    }
    bool is_zero(std::size_t position) const override {
        return std::any_of(parts_.begin(), parts_.end(),
                           [&](const auto& part) { return part->is_zero(position); });
    }

private:
    void fold(double* values, const double* next, std::size_t n) const override {
        for (std::size_t i = 0; i < n; ++i) values[i] *= next[i];
    }
    // Products of factors that are never negative do.
    bool keeps_order() const noexcept override {
        return std::all_of(parts_.begin(), parts_.end(),
                           [](const auto& part) { return part->least_value() >= 0.0; });
    }
};

class ScaledSpace final : public Space {
public:
    ScaledSpace(SpacePointer space, double factor) : space_(std::move(space)), factor_(factor) {}

    std::size_t size() const noexcept override { return space_->size(); }
    Isa isa() const noexcept override { return space_->isa(); }
    Rounding rounding() const noexcept override {
        const Rounding rounding = space_->rounding();
        return {rounding.relative + 2 * roundoff,
                bound_product(rounding.absolute, factor_) + underflow};
    }
    double largest_self_value() const noexcept override {
        return bound_product(space_->largest_self_value(), factor_);
    }
    bool is_zero(std::size_t position) const override { return space_->is_zero(position); }
    double self_value(std::size_t position) const override {
        return space_->self_value(position) * factor_;
    }
    std::size_t self_evaluations(std::size_t position) const noexcept override {
        return space_->self_evaluations(position);
    }
    std::size_t build_self_evaluations() const noexcept override {
        return space_->build_self_evaluations();
    }
    bool accepts(const Space& queries) const noexcept override {
        const auto* other = dynamic_cast<const ScaledSpace*>(&queries);
        return other && other->factor_ == factor_ && space_->accepts(*other->space_);
    }
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override {
        return space_->batch(begin, end);
    }
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        space_->evaluate(queries, objects, out, stride);
        scale(queries.size, objects.size, out, stride);
    }
    bool is_parallel() const noexcept override { return space_->is_parallel(); }
    ScoreKind score_kind() const noexcept override { return space_->score_kind(); }
    const VectorStore* score_vectors() const noexcept override { return space_->score_vectors(); }
    bool is_increasing() const noexcept override { return space_->is_increasing(); }
    double score_middle() const noexcept override { return space_->score_middle(); }
    double least_value() const noexcept override {
        return space_->least_value() >= 0.0 ? 0.0 : -HUGE_VAL;
    }
    double value_above(double score) const override { return space_->value_above(score) * factor_; }
    double value_below(double score) const override { return space_->value_below(score) * factor_; }
    double value_beyond(double distance, double largest) const override {
        return space_->value_beyond(distance, largest) * factor_;
    }
    ScoreRange scores_below(double value, double largest) const override {
        return space_->scores_below(limit_below(value), largest);
    }
    bool has_bounds() const noexcept override { return space_->has_bounds(); }
    void bounds(const QueryBatch& queries, Selection objects, double* out,
                std::size_t stride) const override {
        space_->bounds(queries, objects, out, stride);
        scale(queries.size, objects.size, out, stride);
    }

private:
    // A number with limit * factor < value, as computed; minus infinity where none is known. As
    // rounded products grow with K, K * factor < value holds for every smaller K too, and where the
    // product underflows.
    [[nodiscard]] double limit_below(double value) const noexcept {
        constexpr double greatest = std::numeric_limits<double>::max();
        const double quotient = std::clamp(value / factor_, -greatest, greatest);
        double step = std::max({2 * roundoff * std::abs(quotient), underflow / factor_, underflow});
        double limit = quotient;
        for (; limit > -HUGE_VAL && !(limit * factor_ < value); step *= 2) limit = quotient - step;
        return limit;
    }

    void scale(std::size_t n_queries, std::size_t n_objects, double* out,
               std::size_t stride) const {
        for (std::size_t i = 0; i < n_queries; ++i) {
            for (std::size_t j = 0; j < n_objects; ++j) out[i * stride + j] *= factor_;
        }
    }

    SpacePointer space_;
    double factor_;
};

class NormalizedSpace final : public Space {
public:
    NormalizedSpace(SpacePointer space, bool is_mercer)
        : space_(std::move(space)),
          limit_(is_mercer ? 1.0 : HUGE_VAL),
          normalizer_(space_->size()),
          build_self_evaluations_(space_->build_self_evaluations()) {
        for (std::size_t i = 0; i < size(); ++i) {
            pulse_sometimes();
            build_self_evaluations_ += space_->self_evaluations(i);
            const double value = space_->self_value(i);
            if (!std::isfinite(value)) throw ValueFault{i, i, value};
            // A zero self value may be underflow; only an object that is zero may be taken for
            // zero.
            const bool is_zero_object = value == 0.0 && space_->is_zero(i);
            if (!is_zero_object && value < smallest_normalizable) throw SelfValueFault{i, value};
            normalizer_.set(i, value);
        }
        if (space_->is_product()) {
            score_error_ = score_error(ScoreKind::cosine, *space_->score_vectors()).lost;
        }
    }

    std::size_t size() const noexcept override { return space_->size(); }
    Isa isa() const noexcept override { return space_->isa(); }
    // Both self values carry the error of K as well; the square root halves it.
    Rounding rounding() const noexcept override {
        const Rounding rounding = space_->rounding();
        const double share = rounding.relative + rounding.absolute / smallest_normalizable;
        if (!(share < 0.5)) return {HUGE_VAL, HUGE_VAL};
        return {2 * share * (1 + 2 * share) + 4 * roundoff, 0.0};
    }
    bool is_parallel() const noexcept override { return space_->is_parallel(); }
    double largest_self_value() const noexcept override { return 1.0; }
    bool is_zero(std::size_t position) const override { return normalizer_.is_zero(position); }
    double self_value(std::size_t position) const override {
        return normalizer_.is_zero(position) ? 0.0 : 1.0;
    }
    std::size_t self_evaluations(std::size_t) const noexcept override { return 0; }
    std::size_t build_self_evaluations() const noexcept override { return build_self_evaluations_; }
    bool accepts(const Space& queries) const noexcept override {
        const auto* other = dynamic_cast<const NormalizedSpace*>(&queries);
        return other && space_->accepts(*other->space_);
    }
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override {
        auto batch = std::make_unique<CombinedBatch>(begin, end);
        batch->parts.push_back(space_->batch(begin, end));
        batch->normalizer = &normalizer_;
        return batch;
    }
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        const auto& batch = static_cast<const CombinedBatch&>(queries);
        space_->evaluate(*batch.parts.front(), objects, out, stride);
        const VectorLoops& loops = loops_for(isa()).vectors;
        for (std::size_t i = 0; i < queries.size; ++i) {
            normalizer_.apply(*batch.normalizer, queries.begin + i, objects, limit_, loops,
                              out + i * stride);
        }
    }

    // Normalised inner products are cosines. Their rounding is no worse than that of the cosine
    // form, since self values that underflow are refused; where both stand for the same score
    // (value_above, value_below) each may be off.
    ScoreKind score_kind() const noexcept override {
        return space_->is_product() ? ScoreKind::cosine : ScoreKind::none;
    }
    const VectorStore* score_vectors() const noexcept override { return space_->score_vectors(); }
    double value_above(double score) const override { return score + 2 * score_error_; }
    double value_below(double score) const override { return score - 2 * score_error_; }
    double score_near(double value) const noexcept override { return value; }
    ScoreRange scores_below(double value, double) const override {
        return {-HUGE_VAL, value - score_error_ - roundoff * (std::abs(value) + 1)};
    }
    bool map_products(const Space& queries, std::size_t query, Selection objects,
                      double* values) const override {
        const auto* const asked = dynamic_cast<const NormalizedSpace*>(&queries);
        if (!asked || !space_->map_products(*asked->space_, query, objects, values)) return false;
        normalizer_.apply(asked->normalizer_, query, objects, limit_, loops_for(isa()).vectors,
                          values);
        return true;
    }

private:
    SpacePointer space_;
    double limit_;
    Normalizer normalizer_;
    std::size_t build_self_evaluations_;
    double score_error_ = 0.0;  // how far a value may lie from the exact cosine
};

}  // namespace

SpacePointer make_sum(std::vector<SpacePointer> terms) {
    return std::make_shared<SumSpace>(std::move(terms));
}

SpacePointer make_product(std::vector<SpacePointer> factors) {
    return std::make_shared<ProductSpace>(std::move(factors));
}

SpacePointer make_scaled(SpacePointer space, double factor) {
    return std::make_shared<ScaledSpace>(std::move(space), factor);
}

SpacePointer make_normalized(SpacePointer space, bool is_mercer) {
    return std::make_shared<NormalizedSpace>(std::move(space), is_mercer);
}

}  // namespace fastmks
