#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <typeinfo>
#include <vector>

#include "fastmks/core/rounding.hpp"
#include "fastmks/core/score.hpp"
#include "fastmks/core/selection.hpp"
#include "fastmks/simd/isa.hpp"

namespace fastmks {

class VectorStore;

/// Some objects of a space, made ready to be compared with many others.
class QueryBatch {
public:
    QueryBatch(std::size_t begin_, std::size_t end_) : begin(begin_), size(end_ - begin_) {}
    virtual ~QueryBatch() = default;
    std::size_t begin;  ///< position of the first one in the space it comes from
    std::size_t size;
};

/// Objects under one kernel: the only place where a kernel is evaluated, always in blocks. Queries
/// are objects too, of another space with the same kernel and the same kind of store. Immutable
/// once built; any number of threads may read it.
class Space {
public:
    virtual ~Space() = default;

    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    [[nodiscard]] virtual Rounding rounding() const noexcept = 0;
    /// No K(x, x) exceeds this, for whatever object; infinity where there is no limit.
    [[nodiscard]] virtual double largest_self_value() const noexcept = 0;
    /// K(x, x) for the object at a position; it may overflow.
    [[nodiscard]] virtual double self_value(std::size_t position) const = 0;
    /// Evaluations of some K(x, x) that self_value(position) would make now: none where the value
    /// is known.
    [[nodiscard]] virtual std::size_t self_evaluations(std::size_t) const noexcept { return 1; }
    /// Evaluations of some K(x, x) that building this space took.
    [[nodiscard]] virtual std::size_t build_self_evaluations() const noexcept { return 0; }

    /// Whether the object is zero in the Hilbert space: K(x, y) = 0 for every y, not just in
    /// rounding.
    [[nodiscard]] virtual bool is_zero(std::size_t) const { return false; }

    /// Whether batches of `queries` may be evaluated here: same kernel, same kind of store.
    [[nodiscard]] virtual bool accepts(const Space& queries) const noexcept {
        return typeid(queries) == typeid(*this);
    }

    /// Objects [begin, end) of this space as queries.
    [[nodiscard]] virtual std::unique_ptr<QueryBatch> batch(std::size_t begin,
                                                            std::size_t end) const = 0;

    /// The object at a position as the only query, in place of what a batch of this space held
    /// before: cheaper than a new batch for every object.
    virtual void refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const {
        batch = this->batch(position, position + 1);
    }

    /// out[i * objects.size + j] = K(query i, selected object j), for a batch of a space with the
    /// same kernel. Throws ValueFault when a value is not finite.
    void values(const QueryBatch& queries, Selection objects, double* out) const;

    /// Throws what `values` throws for values of these pairs.
    void check_values(const QueryBatch& queries, Selection objects, const double* values) const;

    /// `evaluate` for a batch of one query that is the object at `self`: the pair of the two is not
    /// evaluated, and has the value `own`. Returns how many values were evaluated.
    std::size_t evaluate_others(const QueryBatch& query, std::size_t self, double own,
                                Selection objects, double* out) const;

    /// `values` without the check and with rows `stride` apart: for spaces made of spaces.
    virtual void evaluate(const QueryBatch& queries, Selection objects, double* out,
                          std::size_t stride) const = 0;

    /// Whether this space has upper bounds of its own that are much cheaper than its values.
    [[nodiscard]] virtual bool has_bounds() const noexcept { return false; }

    /// out[i * stride + j] is at least the value that `values` would give query i and selected
    /// object j; a bound that is not a number bounds nothing. Only where has_bounds().
    virtual void bounds(const QueryBatch& queries, Selection objects, double* out,
                        std::size_t stride) const;

    /// The score that orders the values of this space; see score.hpp.
    [[nodiscard]] virtual ScoreKind score_kind() const noexcept { return ScoreKind::none; }
    /// Whether values are the scores themselves, and these inner products.
    [[nodiscard]] virtual bool is_product() const noexcept { return false; }
    /// The vectors whose scores these are; null where there is no score.
    [[nodiscard]] virtual const VectorStore* score_vectors() const noexcept { return nullptr; }
    /// No value is less, in rounding either.
    [[nodiscard]] virtual double least_value() const noexcept { return -HUGE_VAL; }
    /// Whether values only grow with their scores. They may instead grow on both sides of one.
    [[nodiscard]] virtual bool is_increasing() const noexcept { return true; }
    /// Where they do, about that score.
    [[nodiscard]] virtual double score_middle() const noexcept { return 0.0; }
    /// At least the canonical value of every pair whose canonical score is at most `score`; only
    /// where values are increasing.
    [[nodiscard]] virtual double value_above(double score) const;
    /// At most the canonical value of every pair whose canonical score is at least `score`; only
    /// where values are increasing.
    [[nodiscard]] virtual double value_below(double score) const;
    /// A guess at the score that has a value, or NaN: it saves time, and nothing rests on it.
    [[nodiscard]] virtual double score_near(double) const noexcept { return std::nan(""); }
    /// At most the canonical value of every pair whose exact score is at least `score`; minus
    /// infinity where nothing is known. `largest` is as for scores_below.
    [[nodiscard]] double value_from(double score, double largest) const;
    /// Likewise, of every pair whose exact score lies at least so far from score_middle(), on
    /// either side; only where values grow on both.
    [[nodiscard]] virtual double value_beyond(double distance, double largest) const;
    /// Exact scores that only values less than `value` have. `largest` is at least the magnitude of
    /// every score in question.
    [[nodiscard]] virtual ScoreRange scores_below(double value, double largest) const;

    /// Makes values of inner products, in place: those of one query of another space and selected
    /// objects, if they are exact and so are all their partial sums. The bits are those that
    /// `evaluate` gives. False, and nothing done, where this space does not know how.
    virtual bool map_products(const Space& queries, std::size_t query, Selection objects,
                              double* values) const;

    /// The space that this one stands for: another only where somebody watches what is evaluated.
    [[nodiscard]] virtual const Space& untraced() const noexcept { return *this; }

    /// Whether several threads may evaluate at once; one may always, whichever it is.
    [[nodiscard]] virtual bool is_parallel() const noexcept { return true; }

    /// The instruction set of this space's loops.
    [[nodiscard]] virtual Isa isa() const noexcept = 0;
};

/// Seconds that evaluations take here: those of one call, and of each value in it.
struct EvaluationCost {
    double call;
    double value;
};

/// Measured on the space's own objects, in a few calls.
[[nodiscard]] EvaluationCost measure_cost(const Space& space);

}  // namespace fastmks
