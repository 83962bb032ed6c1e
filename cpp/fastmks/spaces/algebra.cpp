#include "fastmks/spaces/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "fastmks/core/faults.hpp"
#include "fastmks/core/pulse.hpp"
#include "fastmks/simd/loops.hpp"
#include "fastmks/spaces/score_map.hpp"

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
};

// The facts common to all parts, except rounding and the greatest self value.
SpaceFacts common_facts(const std::vector<SpacePointer>& parts) {
    if (parts.empty()) throw std::invalid_argument("a combination needs at least one space");
    SpaceFacts common = parts.front()->facts();
    common.build_self_evaluations = 0;
    for (const auto& part : parts) {
        if (part->size() != common.size) throw std::invalid_argument("spaces differ in size");
        common.build_self_evaluations += part->build_self_evaluations();
        common.is_parallel = common.is_parallel && part->is_parallel();
        common.symmetry = std::min(common.symmetry, part->symmetry());
        common.n_processes = std::max(common.n_processes, part->facts().n_processes);
        common.is_expensive = common.is_expensive || part->facts().is_expensive;
    }
    return common;
}

// The score that all parts follow, of the same vectors; none where one of them is less than
// `least`, or grows on both sides.
ScoreFacts common_score(const std::vector<SpacePointer>& parts, double least) {
    const ScoreMap* const first = parts.front()->scores();
    const bool is_common = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
        const ScoreMap* const scores = part->scores();
        return scores && scores->kind == first->kind && scores->vectors == first->vectors &&
               scores->is_increasing && scores->least_value >= least;
    });
    return is_common ? ScoreFacts{.kind = first->kind, .vectors = first->vectors} : ScoreFacts{};
}

// The common part of sum and product: the same queries against several spaces, folded by value.
class CombinedSpace : public Space, public ScoreMap {
public:
    bool accepts(const Space& queries) const noexcept override {
        if (typeid(queries) != typeid(*this)) return false;
        const auto& others = static_cast<const CombinedSpace&>(queries).parts_;
        return std::equal(parts_.begin(), parts_.end(), others.begin(), others.end(),
                          [](const auto& a, const auto& b) { return a->accepts(*b); });
    }

    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override {
        auto batch = std::make_unique<CombinedBatch>(*this, begin, end);
        for (const auto& part : parts_) batch->parts.push_back(part->batch(begin, end));
        return batch;
    }

    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        combine(queries, objects, out, stride,
                [](const Space& part, const QueryBatch& batch, Selection among, double* to,
                   std::size_t step) { part.evaluate(batch, among, to, step); });
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
    const ScoreMap* scores() const noexcept override { return vectors ? this : nullptr; }
    double value_above(double score) const override {
        return folded([=](const ScoreMap& part) { return part.value_above(score); });
    }
    double value_below(double score) const override {
        return folded([=](const ScoreMap& part) {
            return std::max(part.value_below(score), part.least_value);
        });
    }

protected:
    CombinedSpace(std::vector<SpacePointer> parts, double least)
        : Space(common_facts(parts)),
          ScoreMap(common_score(parts, least)),
          parts_(std::move(parts)) {}

    virtual void fold(double* values, const double* next, std::size_t n) const = 0;

    // Folds what number(scores) gives for each part.
    template <class Number>
    double folded(Number number) const {
        double value = number(*parts_.front()->scores());
        for (std::size_t p = 1; p < parts_.size(); ++p) {
            const double next = number(*parts_[p]->scores());
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

class SumSpace final : public CombinedSpace, public UpperBounds {
public:
    explicit SumSpace(std::vector<SpacePointer> parts)
        : CombinedSpace(std::move(parts), -HUGE_VAL) {
        // sum sqrt(K_i(x,x) K_i(y,y)) <= sqrt(sum K_i(x,x) * sum K_i(y,y)) by Cauchy-Schwarz.
        Rounding& sum = facts_.rounding = {0.0, 0.0};
        facts_.largest_self_value = 0.0;
        for (const auto& part : parts_) {
            sum.relative = std::max(sum.relative, part->rounding().relative);
            sum.absolute += part->rounding().absolute;
            facts_.largest_self_value += part->largest_self_value();
        }
        sum.relative += static_cast<double>(parts_.size()) * roundoff;
    }

    bool is_zero(std::size_t position) const override {
        return std::all_of(parts_.begin(), parts_.end(),
                           [&](const auto& part) { return part->is_zero(position); });
    }
    // Rounded sums of greater terms are not less.
    const UpperBounds* bounds() const noexcept override {
        const bool has_all = std::all_of(parts_.begin(), parts_.end(),
                                         [](const auto& part) { return part->bounds(); });
        return has_all ? this : nullptr;
    }
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override {
        combine(queries, objects, out, stride,
                [](const Space& part, const QueryBatch& batch, Selection among, double* to,
                   std::size_t step) { part.bounds()->bound_values(batch, among, to, step); });
    }

private:
    void fold(double* values, const double* next, std::size_t n) const override {
        for (std::size_t i = 0; i < n; ++i) values[i] += next[i];
    }
};

class ProductSpace final : public CombinedSpace {
public:
    // Products of factors that are never negative keep the order of these.
    explicit ProductSpace(std::vector<SpacePointer> parts) : CombinedSpace(std::move(parts), 0.0) {
        Rounding& product = facts_.rounding;
        double largest = facts_.largest_self_value;
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
        facts_.largest_self_value = 1.0;
        for (const auto& part : parts_) {
            facts_.largest_self_value =
                bound_product(facts_.largest_self_value, part->largest_self_value());
        }
    }

    bool is_zero(std::size_t position) const override {
        return std::any_of(parts_.begin(), parts_.end(),
                           [&](const auto& part) { return part->is_zero(position); });
    }

private:
    void fold(double* values, const double* next, std::size_t n) const override {
        for (std::size_t i = 0; i < n; ++i) values[i] *= next[i];
    }
};

class ScaledSpace final : public Space, public ScoreMap, public UpperBounds {
public:
    ScaledSpace(SpacePointer space, double factor)
        : Space(facts_of(*space, factor)),
          ScoreMap(score_facts_of(*space)),
          space_(std::move(space)),
          factor_(factor) {}

    bool is_zero(std::size_t position) const override { return space_->is_zero(position); }
    double self_value(std::size_t position) const override {
        return space_->self_value(position) * factor_;
    }
    std::size_t self_evaluations(std::size_t position) const noexcept override {
        return space_->self_evaluations(position);
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
    const ScoreMap* scores() const noexcept override { return vectors ? this : nullptr; }
    double value_above(double score) const override { return inner().value_above(score) * factor_; }
    double value_below(double score) const override { return inner().value_below(score) * factor_; }
    double value_beyond(double distance, double largest) const override {
        return inner().value_beyond(distance, largest) * factor_;
    }
    ScoreRange scores_below(double value, double largest) const override {
        return inner().scores_below(limit_below(value), largest);
    }
    const UpperBounds* bounds() const noexcept override {
        return space_->bounds() ? this : nullptr;
    }
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override {
        space_->bounds()->bound_values(queries, objects, out, stride);
        scale(queries.size, objects.size, out, stride);
    }

private:
    static SpaceFacts facts_of(const Space& space, double factor) {
        SpaceFacts facts = space.facts();
        facts.rounding.relative += 2 * roundoff;
        facts.rounding.absolute = bound_product(facts.rounding.absolute, factor) + underflow;
        facts.largest_self_value = bound_product(facts.largest_self_value, factor);
        return facts;
    }
    static ScoreFacts score_facts_of(const Space& space) {
        if (!space.scores()) return {};
        ScoreFacts facts = *space.scores();
        facts.is_product = false;
        facts.least_value = facts.least_value >= 0.0 ? 0.0 : -HUGE_VAL;
        return facts;
    }
    [[nodiscard]] const ScoreMap& inner() const noexcept { return *space_->scores(); }

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

class NormalizedSpace final : public Space, public ScoreMap {
public:
    NormalizedSpace(SpacePointer space, bool is_mercer)
        : Space(facts_of(*space)),
          ScoreMap(score_facts_of(*space)),
          space_(std::move(space)),
          limit_(is_mercer ? 1.0 : HUGE_VAL),
          normalizer_(space_->size()) {
        for (std::size_t i = 0; i < size(); ++i) {
            pulse_sometimes();
            facts_.build_self_evaluations += space_->self_evaluations(i);
            const double value = space_->self_value(i);
            if (!std::isfinite(value)) throw ValueFault{i, i, value};
            // A zero self value may be underflow; only an object that is zero may be taken for
            // zero.
            const bool is_zero_object = value == 0.0 && space_->is_zero(i);
            if (!is_zero_object && value < smallest_normalizable) throw SelfValueFault{i, value};
            normalizer_.set(i, value);
        }
        if (vectors) score_error_ = score_error(kind, *vectors).lost;
    }

    bool is_zero(std::size_t position) const override { return normalizer_.is_zero(position); }
    double self_value(std::size_t position) const override {
        return normalizer_.is_zero(position) ? 0.0 : 1.0;
    }
    std::size_t self_evaluations(std::size_t) const noexcept override { return 0; }
    bool accepts(const Space& queries) const noexcept override {
        const auto* other = dynamic_cast<const NormalizedSpace*>(&queries);
        return other && space_->accepts(*other->space_);
    }
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override {
        auto batch = std::make_unique<CombinedBatch>(*this, begin, end);
        batch->parts.push_back(space_->batch(begin, end));
        return batch;
    }
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        const auto& batch = static_cast<const CombinedBatch&>(queries);
        space_->evaluate(*batch.parts.front(), objects, out, stride);
        const Normalizer& asked = static_cast<const NormalizedSpace&>(queries.space).normalizer_;
        const VectorLoops& loops = loops_for(isa()).vectors;
        for (std::size_t i = 0; i < queries.size; ++i) {
            normalizer_.apply(asked, queries.begin + i, objects, limit_, loops, out + i * stride);
        }
    }

    // Normalised inner products are cosines. Their rounding is no worse than that of the cosine
    // form, since self values that underflow are refused; where both stand for the same score
    // (value_above, value_below) each may be off.
    const ScoreMap* scores() const noexcept override { return vectors ? this : nullptr; }
    double value_above(double score) const override { return score + 2 * score_error_; }
    double value_below(double score) const override { return score - 2 * score_error_; }
    double score_near(double value) const noexcept override { return value; }
    ScoreRange scores_below(double value, double) const override {
        return {-HUGE_VAL, value - score_error_ - roundoff * (std::abs(value) + 1)};
    }
    bool map_products(const Space& queries, std::size_t query, Selection objects,
                      double* values) const override {
        const auto* const asked = dynamic_cast<const NormalizedSpace*>(&queries);
        if (!asked || !space_->scores()->map_products(*asked->space_, query, objects, values))
            return false;
        normalizer_.apply(asked->normalizer_, query, objects, limit_, loops_for(isa()).vectors,
                          values);
        return true;
    }

private:
    static SpaceFacts facts_of(const Space& space) {
        SpaceFacts facts = space.facts();
        facts.largest_self_value = 1.0;
        // Both self values carry the error of K as well; the square root halves it.
        const double share =
            facts.rounding.relative + facts.rounding.absolute / smallest_normalizable;
        facts.rounding = {HUGE_VAL, HUGE_VAL};
        if (share < 0.5) facts.rounding = {2 * share * (1 + 2 * share) + 4 * roundoff, 0.0};
        return facts;
    }
    static ScoreFacts score_facts_of(const Space& space) {
        const ScoreMap* const scores = space.scores();
        if (!scores || !scores->is_product) return {};
        return {.kind = ScoreKind::cosine, .vectors = scores->vectors};
    }

    SpacePointer space_;
    double limit_;
    Normalizer normalizer_;
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
