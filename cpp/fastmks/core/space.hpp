#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <typeinfo>

#include "fastmks/core/rounding.hpp"
#include "fastmks/core/selection.hpp"
#include "fastmks/simd/isa.hpp"

namespace fastmks {

class ScoreMap;
class Space;
class UpperBounds;

/// Some objects of a space, prepared for evaluation against many others.
class QueryBatch {
public:
    QueryBatch(const Space& space_, std::size_t begin_, std::size_t end_)
        : space(space_), begin(begin_), size(end_ - begin_) {}
    virtual ~QueryBatch() = default;
    const Space& space;
    std::size_t begin;  ///< position of the first one in the space
    std::size_t size;
};

/// Whether K(x, y) and K(y, x) are the same float64: not known, stated by the user, or a property
/// of the code.
enum class Symmetry { unknown, declared, proven };

/// What the author of a kernel states, who alone can know it.
struct StatedFacts {
    double relative;  ///< its rounding, as `stated_rounding` takes it
    bool is_symmetric = false;
};

/// Facts about all objects of a space, and about its kernel.
struct SpaceFacts {
    std::size_t size;
    Isa isa;
    Rounding rounding{HUGE_VAL, HUGE_VAL};
    double largest_self_value = HUGE_VAL;
    std::size_t build_self_evaluations = 0;
    bool is_parallel = true;
    Symmetry symmetry = Symmetry::unknown;
    std::size_t n_processes = 1;  ///< that evaluate a block together
    bool is_expensive = false;    ///< a value costs far more than offering it to a list of hits
};

/// Objects under one kernel: the only place where a kernel is evaluated, always in blocks. Queries
/// are objects too, of another space with the same kernel and the same kind of store. Immutable
/// once built; any number of threads may read it.
class Space {
public:
    virtual ~Space() = default;

    [[nodiscard]] const SpaceFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] std::size_t size() const noexcept { return facts_.size; }
    /// The instruction set of this space's loops.
    [[nodiscard]] Isa isa() const noexcept { return facts_.isa; }
    [[nodiscard]] Rounding rounding() const noexcept { return facts_.rounding; }
    /// No K(x, x) exceeds this, for whatever object; infinity where there is no limit.
    [[nodiscard]] double largest_self_value() const noexcept { return facts_.largest_self_value; }
    /// Evaluations of some K(x, x) that building this space took.
    [[nodiscard]] std::size_t build_self_evaluations() const noexcept {
        return facts_.build_self_evaluations;
    }
    /// Whether several threads may evaluate at once; any single thread may.
    [[nodiscard]] bool is_parallel() const noexcept { return facts_.is_parallel; }
    [[nodiscard]] Symmetry symmetry() const noexcept { return facts_.symmetry; }
    /// Whether a search of all objects for all of them should evaluate each pair once.
    [[nodiscard]] bool halves_self_scan() const noexcept {
        return facts_.is_expensive && facts_.symmetry != Symmetry::unknown;
    }

    /// K(x, x) for the object at a position; it may overflow.
    [[nodiscard]] virtual double self_value(std::size_t position) const = 0;
    /// Evaluations of some K(x, x) that self_value(position) would make now: none where the value
    /// is known.
    [[nodiscard]] virtual std::size_t self_evaluations(std::size_t) const noexcept { return 1; }

    /// Whether the object is zero in the Hilbert space: K(x, y) = 0 for every y, not just in
    /// rounding.
    [[nodiscard]] virtual bool is_zero(std::size_t) const { return false; }

    /// Whether batches of `queries` may be evaluated here: same kernel, same kind of store.
    [[nodiscard]] virtual bool accepts(const Space& queries) const noexcept {
        return typeid(queries) == typeid(*this);
    }

    /// Objects [begin, end) of this space as queries.
    [[nodiscard]] virtual std::unique_ptr<QueryBatch> batch(std::size_t begin,
                                                            std::size_t end) const {
        return std::make_unique<QueryBatch>(*this, begin, end);
    }

    /// The object at a position as the only query, in place of what a batch of this space held
    /// before: less expensive than a new batch for every object.
    virtual void refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const {
        batch = this->batch(position, position + 1);
    }

    /// out[i * stride + j] = K(query i, selected object j), for a batch of a space with the same
    /// kernel, finite or not.
    virtual void evaluate(const QueryBatch& queries, Selection objects, double* out,
                          std::size_t stride) const = 0;

    /// How the values follow from a score of vectors; null where they do not.
    [[nodiscard]] virtual const ScoreMap* scores() const noexcept { return nullptr; }

    /// Upper bounds of this space's own, far less expensive than its values; null for none.
    [[nodiscard]] virtual const UpperBounds* bounds() const noexcept { return nullptr; }

    /// `evaluate` into rows of objects.size values. Throws ValueFault when a value is not finite.
    void values(const QueryBatch& queries, Selection objects, double* out) const;

    /// Throws what `values` throws for values of these pairs.
    void check_values(const QueryBatch& queries, Selection objects, const double* values) const;

    /// `evaluate` for a batch of one query that is the object at `self`: the pair of the two is not
    /// evaluated, and has the value `own`. Returns how many values were evaluated.
    std::size_t evaluate_others(const QueryBatch& query, std::size_t self, double own,
                                Selection objects, double* out) const;

protected:
    explicit Space(SpaceFacts facts) : facts_(facts) {}
    SpaceFacts facts_;  // constant once the space is built
};

/// The bounds of a space that has some.
class UpperBounds {
public:
    /// out[i * stride + j] is at least the value that Space::values would give query i and selected
    /// object j; a bound that is not a number bounds nothing.
    virtual void bound_values(const QueryBatch& queries, Selection objects, double* out,
                              std::size_t stride) const = 0;

protected:
    ~UpperBounds() = default;
};

/// Seconds that evaluations take here: those of one call, and of each value in it.
struct EvaluationCost {
    double call;
    double value;
};

/// Measured on the space's own objects, in a few calls.
[[nodiscard]] EvaluationCost measure_cost(const Space& space);

}  // namespace fastmks
