#include "fastmks/filters/pivot_search.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fastmks/core/allowance.hpp"
#include "fastmks/core/faults.hpp"
#include "fastmks/filters/early_end.hpp"
#include "fastmks/filters/query_groups.hpp"

namespace fastmks {
namespace {

constexpr std::size_t projected_at_once = 4096;  // values of queries with pivots
constexpr std::size_t most_queries = 64;         // of one group
constexpr std::size_t objects_at_once = 1024;    // bounded between two checks
constexpr std::size_t values_per_call = 256;
constexpr std::size_t in_vain_share = 8;  // at most one value in this many is in vain

struct Candidate {
    double bound;  // at least its score
    std::size_t position;
};

bool bounds_less(const Candidate& a, const Candidate& b) {
    return a.bound < b.bound;
}

// One query on the span of the pivots. Its scores are exact values times 2^-shift; lengths err
// above.
struct Query {
    std::size_t index = 0;
    std::unique_ptr<QueryBatch> batch;
    std::vector<float> row;
    double norm = 0.0;
    double row_norm = 0.0;
    double tail = 0.0;
    double error = 0.0;  // of the row
    int shift = 0;
    double largest = 0.0;  // no exact value is greater in magnitude
    bool is_finite = true;
    double level = -HUGE_VAL;  // only canonical values of at least this matter
    double reach = -HUGE_VAL;  // so only scores of at least this do
};

class PivotSearch : public QueryByQuery<PivotSearch> {
public:
    // `offered` are those pivots, by their number among the known ones, that may be answers.
    PivotSearch(const ScanProblem& problem, const PivotTable& table,
                const std::vector<std::size_t>& offered, std::size_t begin, std::size_t end,
                Worker& worker)
        : QueryByQuery(problem, begin, end, worker),
          table_(table),
          projection_(table.projection()),
          offered_(offered) {
        projection_.project(problem_.queries, begin, end, coordinates_);
        counts_.projections += coordinates_.evaluations;
        counts_.self_evaluations += coordinates_.self_evaluations;
        counts_.operations += (end - begin) * projection_.operations();
    }

    void find_best(std::size_t index, std::size_t k, TopK& best) {
        begin_best(index, k, best);
        const std::size_t n_missing = k - best.hits().size();
        for (std::size_t n_seen = 0, block = std::max<std::size_t>(n_missing, 1); take(block);) {
            n_seen += taken_.size();
            evaluate([&](Hit hit) { best.offer(hit); });
            if (best.is_full()) raise_level(best.threshold());
            block = n_seen / in_vain_share + 1;
        }
    }

    // The same as far as a rule allows. Returns at least the value of every object that was missed:
    // minus infinity where none may be among the k best. The order of evaluations does not depend
    // on the allowance, which the values with pivots are part of.
    double find_within(std::size_t index, std::size_t k, const StopRule& stop, Allowance allowance,
                       TopK& best) {
        begin_best(index, k, best);
        allowance.evaluations -= std::min(allowance.evaluations, projection_.known().size());
        EarlyEnd end(stop, [&](double value) { return reach_of(value); });
        for (std::size_t n_seen = 0, block = std::max<std::size_t>(k - best.hits().size(), 1);;) {
            if (candidates_.empty() || candidates_.front().bound < query_.reach) return -HUGE_VAL;
            const double left = candidates_.front().bound;
            const bool is_spent = allowance.evaluations == 0 || allowance.is_late();
            if (end.is_reached(best, left, is_spent)) return end.missed(left);
            take(std::min(block, allowance.evaluations));
            n_seen += taken_.size();
            allowance.evaluations -= taken_.size();
            evaluate([&](Hit hit) { best.offer(hit); });
            if (best.is_full()) raise_level(best.threshold());
            block = n_seen / in_vain_share + 1;
        }
    }

    void find_above(std::size_t index, double threshold, std::vector<Hit>& found) {
        start(index);
        raise_level(threshold);
        const auto see = [&](Hit hit) {
            if (hit.value >= threshold) found.push_back(hit);
        };
        for (const Hit& hit : known_) see(hit);
        bound_all([](double, std::size_t) {}, [] {});
        while (take(values_per_call)) evaluate(see);
    }

private:
    // Offers the pivots, and bounds all other objects.
    void begin_best(std::size_t index, std::size_t k, TopK& best) {
        start(index);
        for (const Hit& hit : known_) best.offer(hit);
        TopK floor(k);  // scores that k objects have at least
        for (const Hit& hit : best.hits()) {
            floor.offer({std::ldexp(lowered(hit.value), -query_.shift) - 1e-300, hit.position});
        }
        if (best.is_full()) raise_level(best.threshold());
        bound_all(
            [&](double score, std::size_t position) {
                floor.offer({score, static_cast<std::int64_t>(position)});
            },
            [&] {
                if (!query_.is_finite || !floor.is_full()) return;
                raise_level(lowered(std::ldexp(floor.threshold(), query_.shift)));
            });
    }

    void start(std::size_t index) {
        place(index);
        // The values that the coordinates came from are true ones.
        const std::vector<std::int64_t>& pivots = projection_.known();
        known_.clear();
        for (const std::size_t j : offered_) {
            const auto position = static_cast<std::size_t>(pivots[j]);
            if (problem_.skip_self && position == index) continue;
            const double value = coordinates_.known[(index - begin_) * pivots.size() + j];
            if (!std::isfinite(value)) throw ValueFault{index, position, value};
            known_.push_back({value, problem_.name(position)});
        }
    }

    void place(std::size_t index) {
        const std::size_t i = index - begin_, dimension = table_.dimension();
        problem_.queries.refill(query_.batch, index);
        query_.index = index;
        query_.level = query_.reach = -HUGE_VAL;
        query_.shift = table_.exponent() + coordinates_.exponents[i];
        query_.norm = coordinates_.norms[i] * float32_up;
        query_.tail = coordinates_.tails[i] * float32_up;
        query_.error = coordinates_.errors[i] + query_.norm * 0x1p-22 + 1e-36;
        query_.row.resize(dimension);
        double square = 0.0;
        for (std::size_t c = 0; c < dimension; ++c) {
            const double x = coordinates_.rows[i * dimension + c];
            query_.row[c] = static_cast<float>(x);
            square += x * x;
        }
        query_.row_norm = std::sqrt(square) * float32_up + query_.error;
        query_.is_finite = std::isfinite(query_.norm);
        query_.largest = std::ldexp(query_.norm * table_.norm() * float32_up, query_.shift);
    }

    // At most the value of an object with this score, and the score of one with this value.
    [[nodiscard]] double lowered(double score) const {
        return projection_.scores_below(problem_.objects, problem_.queries, score, query_.largest)
            .high;
    }

    // Notes that only values of at least `value` matter, unless more is known already.
    void raise_level(double value) {
        if (!(value > query_.level)) return;
        query_.level = value;
        query_.reach = reach_of(value);
    }

    // Lesser scores are of objects with values less than this.
    [[nodiscard]] double reach_of(double value) const {
        return std::ldexp(lowered(value), -query_.shift);
    }

    // Bounds the scores of all objects to search but the pivots, from both sides. Those that may
    // matter become candidates; floor(score, position) is told the least score of each, and
    // look() is called every few objects.
    template <class Floor, class Look>
    void bound_all(Floor floor, Look look) {
        candidates_.clear();
        const std::size_t n = problem_.among.size;
        for (std::size_t begin = 0; begin < n; begin += objects_at_once) {
            const std::size_t end = std::min(n, begin + objects_at_once);
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t position = problem_.among[i];
                if (table_.is_pivot(position)) continue;
                if (problem_.skip_self && position == query_.index) continue;
                const ScoreRange range = query_.is_finite ? bounds(position) : ScoreRange::all();
                if (range.high < query_.reach) continue;
                if (query_.is_finite && range.low > -HUGE_VAL) floor(range.low, position);
                // Damaged tables and infinite lengths have bounds that are not numbers: they bound
                // nothing.
                const double bound = range.high == range.high ? range.high : HUGE_VAL;
                candidates_.push_back({bound, position});
            }
            look();
            counts_.bounds += end - begin;
            counts_.operations += (end - begin) * table_.dimension();
            worker_.advance(0);
        }
        std::make_heap(candidates_.begin(), candidates_.end(), bounds_less);
    }

    [[nodiscard]] ScoreRange bounds(std::size_t position) const {
        constexpr std::size_t n_sums = 8;  // so that additions need not wait for each other
        const float* row = table_.row(position);
        const std::size_t dimension = table_.dimension();
        double sums[n_sums] = {};
        std::size_t c = 0;
        for (; c + n_sums <= dimension; c += n_sums) {
            for (std::size_t l = 0; l < n_sums; ++l) {
                sums[l] += static_cast<double>(query_.row[c + l]) * row[c + l];
            }
        }
        for (; c < dimension; ++c) sums[0] += static_cast<double>(query_.row[c]) * row[c];
        double product = 0.0;
        for (const double sum : sums) product += sum;
        const double norm = table_.norm(position);
        const double tails = query_.tail * table_.tail(position);
        const double off = tails + query_.row_norm * table_.error(position) + query_.error * norm +
                           0x1p-40 * (query_.row_norm * norm + tails) + 1e-30;
        return {product - off, product + off};
    }

    // Takes up to n of the candidates that may matter, strictly by their bounds; false where there
    // is none.
    bool take(std::size_t n) {
        taken_.clear();
        while (!candidates_.empty() && taken_.size() < std::min(n, values_per_call) &&
               !(candidates_.front().bound < query_.reach)) {
            std::pop_heap(candidates_.begin(), candidates_.end(), bounds_less);
            taken_.push_back(candidates_.back());
            candidates_.pop_back();
        }
        std::sort(taken_.begin(), taken_.end(),
                  [](const Candidate& a, const Candidate& b) { return a.position < b.position; });
        return !taken_.empty();
    }

    template <class Offer>
    void evaluate(Offer offer) {
        positions_.clear();
        for (const Candidate& candidate : taken_) {
            positions_.push_back(static_cast<std::int64_t>(candidate.position));
        }
        values_.resize(positions_.size());
        problem_.objects.values(
            *query_.batch, Selection::list(positions_.data(), positions_.size()), values_.data());
        counts_.evaluations += positions_.size();
        worker_.advance(0);
        for (std::size_t j = 0; j < positions_.size(); ++j) {
            verify(taken_[j], values_[j]);
            offer(Hit{values_[j], problem_.name(taken_[j].position)});
        }
    }

    // Looks whether a value keeps to its bound.
    void verify(const Candidate& candidate, double value) const {
        const double bound = std::ldexp(candidate.bound, query_.shift);
        if (value > bound && lowered(value) > bound) {
            projection_.exceeded(query_.index, candidate.position, value, bound);
        }
    }

    const PivotTable& table_;
    const PivotProjection& projection_;
    const std::vector<std::size_t>& offered_;
    Coordinates coordinates_;  // of the group
    Query query_;
    std::vector<Hit> known_;             // values with pivots
    std::vector<Candidate> candidates_;  // a heap with the greatest bound on top
    std::vector<Candidate> taken_;       // those evaluated next
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
};

// Which of the pivots are searched.
std::vector<std::size_t> offered_pivots(const ScanProblem& problem, const PivotTable& table) {
    const Selection& among = problem.among;
    const std::vector<std::int64_t>& pivots = table.projection().known();
    std::vector<std::size_t> offered;
    for (std::size_t i = 0, j = 0; i < among.size && j < pivots.size();) {
        const auto pivot = static_cast<std::size_t>(pivots[j]);
        if (among[i] == pivot) offered.push_back(j);
        if (among[i] <= pivot) ++i;
        if (i == among.size || among[i] > pivot) ++j;
    }
    return offered;
}

std::size_t group_size_of(const ScanProblem& problem, const PivotTable& table,
                          std::size_t threads) {
    const std::size_t n = problem.queries.size();
    return std::min(std::clamp<std::size_t>(projected_at_once / table.dimension(), 1, most_queries),
                    std::max<std::size_t>(1, (n + threads - 1) / threads));
}

}  // namespace

BoundCounts pivots_top_k(const ScanProblem& problem, const PivotTable& table, std::size_t k,
                         std::size_t threads, const Watch& watch, double* values,
                         std::int64_t* positions) {
    return groups_top_k<PivotSearch>(problem, k, group_size_of(problem, table, threads), threads,
                                     watch, values, positions, table,
                                     offered_pivots(problem, table));
}

BoundCounts pivots_approximate_top_k(const ScanProblem& problem, const PivotTable& table,
                                     std::size_t k, const StopRule& stop, std::size_t threads,
                                     const Watch& watch, TopKAnswers answers) {
    const std::vector<std::size_t> offered = offered_pivots(problem, table);
    const std::size_t wanted = k + (problem.skip_self ? 1 : 0);
    const std::size_t n_missing = wanted - std::min(wanted, offered.size());
    if (stop.budget < table.projection().known().size() + n_missing) {
        throw std::invalid_argument("the budget is too small for these pivots");
    }
    return groups_approximate_top_k<PivotSearch>(problem, k, stop,
                                                 group_size_of(problem, table, threads), threads,
                                                 watch, answers, table, offered);
}

BoundCounts pivots_above(const ScanProblem& problem, const PivotTable& table,
                         const double* thresholds, std::size_t threads, const Watch& watch,
                         std::vector<std::vector<Hit>>& answers) {
    return groups_above<PivotSearch>(problem, thresholds, group_size_of(problem, table, threads),
                                     threads, watch, answers, table,
                                     offered_pivots(problem, table));
}

}  // namespace fastmks
