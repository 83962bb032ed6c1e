#include "fastmks/filters/own_bounds.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "fastmks/core/faults.hpp"
#include "fastmks/filters/early_end.hpp"
#include "fastmks/filters/query_groups.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

constexpr std::size_t bounds_per_call = 4096;
constexpr std::size_t values_per_call = 256;
constexpr std::size_t queries_per_task = 8;
constexpr std::size_t first_block = 16;  // objects evaluated before a threshold is used

// Searches for one query at a time; keeps its memory from query to query.
class OwnBoundsSearch : public QueryByQuery<OwnBoundsSearch> {
public:
    OwnBoundsSearch(const ScanProblem& problem, std::size_t begin, std::size_t end, Worker& worker)
        : QueryByQuery(problem, begin, end, worker),
          upper_(problem.objects.bounds()),
          loops_(loops_for(problem.objects.isa()).vectors) {
        if (!upper_) throw std::logic_error("this space has no bounds");
    }

    void find_best(std::size_t query, std::size_t k, TopK& best) {
        const std::size_t first = std::min(std::max(first_block, 2 * k), problem_.among.size);
        Reservoir greatest(first);
        take_bounds(
            query, [&](std::size_t begin, std::size_t end) { offer_bounds(begin, end, greatest); });
        chosen_ = greatest.sorted();
        if (chosen_.empty()) return;  // the only object is skipped
        const Hit last = chosen_.back();
        const double floor = best.threshold();
        std::erase_if(chosen_, [=](const Hit& hit) { return hit.value < floor; });
        std::sort(chosen_.begin(), chosen_.end(),
                  [](const Hit& a, const Hit& b) { return a.position < b.position; });
        evaluate(chosen_, [&](Hit hit) { best.offer(hit); });
        // No bound is greater than the last one.
        if (!(last.value < best.threshold())) evaluate_rest(last, 2 * first, best);
    }

    // The same as far as a rule allows, strictly in the order of the bounds.
    double find_within(std::size_t query, std::size_t k, const StopRule& stop, Allowance allowance,
                       TopK& best) {
        take_bounds(query, [](std::size_t, std::size_t) {});
        collect(best.threshold(), [](const Hit&) { return true; });
        const auto is_after = [](const Hit& a, const Hit& b) { return ranks_before(b, a); };
        std::make_heap(candidates_.begin(), candidates_.end(), is_after);
        EarlyEnd end(stop, [](double value) { return value; });
        for (std::size_t block = std::max(first_block, k);;) {
            if (candidates_.empty() || candidates_.front().value < best.threshold()) {
                return -HUGE_VAL;
            }
            const double left = candidates_.front().value;
            const bool is_spent = allowance.evaluations == 0 || allowance.is_late();
            if (end.is_reached(best, left, is_spent)) return end.missed(left);
            chosen_.clear();
            const std::size_t most = std::min(block, allowance.evaluations);
            block = std::max(block, std::min(2 * block, values_per_call));
            while (chosen_.size() < most && !candidates_.empty() &&
                   !(candidates_.front().value < best.threshold())) {
                std::pop_heap(candidates_.begin(), candidates_.end(), is_after);
                chosen_.push_back(candidates_.back());
                candidates_.pop_back();
            }
            std::sort(chosen_.begin(), chosen_.end(),
                      [](const Hit& a, const Hit& b) { return a.position < b.position; });
            allowance.evaluations -= chosen_.size();
            evaluate(chosen_, [&](Hit hit) { best.offer(hit); });
        }
    }

    void find_above(std::size_t query, double threshold, std::vector<Hit>& found) {
        take_bounds(query, [](std::size_t, std::size_t) {});
        collect(threshold, [](const Hit&) { return true; });
        evaluate(candidates_, [&](Hit hit) {
            if (hit.value >= threshold) found.push_back(hit);
        });
    }

private:
    // Bounds the values of the query with all objects, and calls see(begin, end) for each part of
    // them while it is in the cache.
    template <class See>
    void take_bounds(std::size_t query, See see) {
        query_ = query;
        problem_.queries.refill(batch_, query);
        const std::size_t n = problem_.among.size;
        bounds_.resize(n);
        for (std::size_t begin = 0; begin < n; begin += bounds_per_call) {
            const std::size_t end = std::min(begin + bounds_per_call, n);
            const Selection part = problem_.among.part(begin, end);
            upper_->bound_values(*batch_, part, bounds_.data() + begin, part.size);
            for (std::size_t i = begin; i < end; ++i) {
                // NaN bounds nothing; minus infinity is less than any threshold.
                const double bound = bounds_[i] == bounds_[i] ? bounds_[i] : HUGE_VAL;
                bounds_[i] = bound > -DBL_MAX ? bound : -DBL_MAX;
            }
            see(begin, end);
            worker_.advance(0);
        }
        counts_.bounds += n;
    }

    [[nodiscard]] bool is_skipped(std::size_t i) const noexcept {
        return problem_.skip_self && problem_.among[i] == query_;
    }

    // Calls see(bound and position) for each of some objects whose bound is greater than
    // `below()`, skipping chunks where none is.
    template <class Below, class See>
    void for_each_above(std::size_t begin, std::size_t end, Below below, See see) {
        constexpr std::size_t chunk = 64;
        for (std::size_t from = begin; from < end; from += chunk) {
            const std::size_t to = std::min(from + chunk, end);
            if (loops_.count_above(bounds_.data() + from, to - from, below()) == 0) continue;
            for (std::size_t i = from; i < to; ++i) {
                if (bounds_[i] > below() && !is_skipped(i)) {
                    see(Hit{bounds_[i], static_cast<std::int64_t>(problem_.among[i])});
                }
            }
        }
    }

    // Positions increase, so of equal bounds a later one does not enter any more.
    void offer_bounds(std::size_t begin, std::size_t end, Reservoir& greatest) {
        const auto below = [&] { return greatest.threshold(); };
        for_each_above(begin, end, below, [&](Hit hit) { greatest.offer(hit); });
    }

    // The candidates become those whose bound is not below the threshold and that is_wanted.
    template <class IsWanted>
    void collect(double threshold, IsWanted is_wanted) {
        candidates_.clear();
        const double below = std::nextafter(threshold, -HUGE_VAL);
        for_each_above(
            0, bounds_.size(), [=] { return below; },
            [&](Hit hit) {
                if (is_wanted(hit)) candidates_.push_back(hit);
            });
    }

    // Goes on after the candidate `last`, in the order of the bounds. Candidates stay in the order
    // of their positions; of those with equal bounds all are taken, since no value above their
    // bound can spare some of them.
    void evaluate_rest(Hit last, std::size_t block, TopK& best) {
        collect(best.threshold(), [=](const Hit& hit) { return ranks_before(last, hit); });
        while (!candidates_.empty()) {
            take_greatest(block);
            evaluate(chosen_, [&](Hit hit) { best.offer(hit); });
            // Of equal values the smaller id ranks first: possible ties must be evaluated.
            const double threshold = best.threshold();
            std::erase_if(candidates_, [=](const Hit& hit) { return hit.value < threshold; });
            block *= 2;
        }
    }

    // Moves the candidates with the n greatest bounds, and those that tie with them, to chosen_.
    void take_greatest(std::size_t n) {
        if (n >= candidates_.size()) {
            chosen_.swap(candidates_);
            candidates_.clear();
            return;
        }
        values_.resize(candidates_.size());
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = candidates_[i].value;
        const auto nth = values_.begin() + static_cast<std::ptrdiff_t>(n) - 1;
        std::nth_element(values_.begin(), nth, values_.end(), std::greater<>());
        const double least = *nth;
        chosen_.clear();
        std::erase_if(candidates_, [&](const Hit& hit) {
            if (hit.value < least) return false;
            chosen_.push_back(hit);
            return true;
        });
    }

    // The candidates come in the order of their positions, as they lie in memory.
    template <class Offer>
    void evaluate(const std::vector<Hit>& candidates, Offer offer) {
        for (auto at = candidates.begin(); at != candidates.end();) {
            const auto n = std::min<std::size_t>(values_per_call,
                                                 static_cast<std::size_t>(candidates.end() - at));
            positions_.resize(n);
            values_.resize(n);
            for (std::size_t j = 0; j < n; ++j) {
                positions_[j] = (at + static_cast<std::ptrdiff_t>(j))->position;
            }
            problem_.objects.values(*batch_, Selection::list(positions_.data(), n), values_.data());
            for (std::size_t j = 0; j < n; ++j, ++at) {
                const auto position = static_cast<std::size_t>(at->position);
                if (values_[j] > at->value) {
                    throw BoundFault{query_, position, values_[j], at->value};
                }
                offer(Hit{values_[j], problem_.name(position)});
            }
            counts_.evaluations += n;
            worker_.advance(0);
        }
    }

    const UpperBounds* upper_;
    const VectorLoops& loops_;
    std::size_t query_ = 0;
    std::unique_ptr<QueryBatch> batch_;
    std::vector<double> bounds_;   // of all objects to search
    std::vector<Hit> candidates_;  // with bounds in the place of values
    std::vector<Hit> chosen_;      // those to be evaluated next
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
};

}  // namespace

BoundCounts own_bounds_top_k(const ScanProblem& problem, std::size_t k, std::size_t threads,
                             const Watch& watch, double* values, std::int64_t* positions) {
    return groups_top_k<OwnBoundsSearch>(problem, k, queries_per_task, threads, watch, values,
                                         positions);
}

BoundCounts own_bounds_approximate_top_k(const ScanProblem& problem, std::size_t k,
                                         const StopRule& stop, std::size_t threads,
                                         const Watch& watch, TopKAnswers answers) {
    return groups_approximate_top_k<OwnBoundsSearch>(problem, k, stop, queries_per_task, threads,
                                                     watch, answers);
}

BoundCounts own_bounds_above(const ScanProblem& problem, const double* thresholds,
                             std::size_t threads, const Watch& watch,
                             std::vector<std::vector<Hit>>& answers) {
    return groups_above<OwnBoundsSearch>(problem, thresholds, queries_per_task, threads, watch,
                                         answers);
}

}  // namespace fastmks
