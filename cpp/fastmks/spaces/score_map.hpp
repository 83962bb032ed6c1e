#pragma once

#include <cmath>
#include <cstddef>

#include "fastmks/core/space.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks {

/// A score that orders the values of many kernels between vectors, and is simpler. A space
/// whose values are a function of a score can be searched through bounds on the scores, whether
/// its kernel is Mercer or not (docs/how-it-works/scores.md).
enum class ScoreKind {
    product,   ///< <x, y>
    cosine,    ///< <x, y> / (|x| |y|), 0 for a zero vector
    distance,  ///< -|x - y|^2 / 2
};

/// The scores strictly between two numbers, which may be infinite.
struct ScoreRange {
    double low;
    double high;

    [[nodiscard]] static ScoreRange empty() noexcept { return {HUGE_VAL, -HUGE_VAL}; }
    [[nodiscard]] static ScoreRange all() noexcept { return {-HUGE_VAL, HUGE_VAL}; }
    [[nodiscard]] bool holds(double score) const noexcept { return low < score && score < high; }
};

/// How far a canonical score may lie from the exact one.
struct ScoreError {
    double share_of_largest;  ///< of the greatest magnitude any score in question has
    double share_of_score;    ///< of its own magnitude
    double lost;              ///< whatever it is

    [[nodiscard]] double at(double largest) const noexcept {
        return share_of_largest * largest + lost;
    }
    /// An exact score less than this has a canonical one less than `score`.
    [[nodiscard]] double below(double score, double largest) const noexcept {
        const double off = at(largest) + share_of_score * std::abs(score);
        return score - off - 0x1p-52 * (std::abs(score) + off);
    }
};

/// The error of scores between objects of a store and queries like them.
[[nodiscard]] ScoreError score_error(ScoreKind kind, const VectorStore& store);

/// Facts about all values of a space that has scores.
struct ScoreFacts {
    ScoreKind kind = ScoreKind::product;
    const VectorStore* vectors = nullptr;  ///< whose scores these are
    bool is_product = false;               ///< values are the scores themselves, and these products
    double least_value = -HUGE_VAL;        ///< no value is less, in rounding either
    bool is_increasing = true;             ///< values only grow with their scores, or on both sides
    double middle = 0.0;                   ///< of this one
};

/// How the values of a space follow from a score of vectors.
class ScoreMap : public ScoreFacts {
public:
    /// At least the canonical value of every pair whose canonical score is at most `score`; only
    /// where values are increasing.
    [[nodiscard]] virtual double value_above(double score) const = 0;
    /// At most the canonical value of every pair whose canonical score is at least `score`; only
    /// where values are increasing.
    [[nodiscard]] virtual double value_below(double score) const = 0;
    /// A guess at the score that has a value, or NaN: it saves time, and nothing rests on it.
    [[nodiscard]] virtual double score_near(double) const noexcept { return std::nan(""); }
    /// At most the canonical value of every pair whose exact score is at least `score`; minus
    /// infinity where nothing is known. `largest` is as for scores_below.
    [[nodiscard]] double value_from(double score, double largest) const;
    /// Likewise, of every pair whose exact score lies at least so far from the middle, on either
    /// side; only where values grow on both.
    [[nodiscard]] virtual double value_beyond(double, double) const { return -HUGE_VAL; }
    /// Exact scores that only values less than `value` have. `largest` is at least the magnitude of
    /// every score in question.
    [[nodiscard]] virtual ScoreRange scores_below(double value, double largest) const;

    /// Makes values of inner products, in place: those of one query of another space and selected
    /// objects, if they are exact and so are all their partial sums. The bits are those that
    /// Space::evaluate gives. Returns false, with nothing done, where this is not supported.
    virtual bool map_products(const Space&, std::size_t, Selection, double*) const { return false; }

protected:
    explicit ScoreMap(ScoreFacts facts) : ScoreFacts(facts) {}
    ~ScoreMap() = default;
};

/// The scores of a space that must have some; throws std::invalid_argument where it has none.
[[nodiscard]] const ScoreMap& scores_of(const Space& space);

}  // namespace fastmks
