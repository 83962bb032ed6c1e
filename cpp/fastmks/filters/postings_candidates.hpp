// Objects whose scores could not be ruled out, and their evaluation in the order of what they
// promise.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/scan/scan.hpp"
#include "fastmks/simd/loops.hpp"
#include "fastmks/spaces/score_map.hpp"

namespace fastmks {

struct Candidate {
    double promise;  // at least its score, in units of its query
    std::uint32_t position;
    float product;  // exact, or not a number
};

/// The hits of one query so far, and the candidates that may still enter.
struct Findings {
    explicit Findings(std::size_t query_, std::size_t k) : query(query_), best(k) {}

    std::size_t query;  ///< position in its space
    TopK best;
    const double* threshold = nullptr;  ///< of a search for all hits above, else null
    std::vector<Hit> found;             ///< by such a search
    std::vector<Candidate> candidates;
    double reach = -HUGE_VAL;  ///< what promises less is useless
};

/// Evaluates candidates, one query at a time.
class Verifier {
public:
    Verifier(const ScanProblem& problem, Worker& worker) : problem_(problem), worker_(worker) {}

    /// Evaluates candidates, at first the `first` that promise most, until no useful one remains.
    /// tighten(value) is called when only values of at least `value` matter any more, and raises
    /// `reach`.
    template <class Tighten>
    void evaluate(Findings& findings, std::size_t first, Tighten tighten) {
        auto& candidates = findings.candidates;
        drop(findings);
        std::size_t block = std::clamp<std::size_t>(first, 1, values_per_call);
        while (!candidates.empty()) {
            const std::size_t n = std::min(block, candidates.size());
            const auto rest = candidates.end() - static_cast<std::ptrdiff_t>(n);
            if (!findings.threshold && n < candidates.size()) {
                std::nth_element(
                    candidates.begin(), rest, candidates.end(),
                    [](const Candidate& a, const Candidate& b) { return a.promise < b.promise; });
            }
            positions_.clear();
            values_.clear();
            for (auto at = rest; at != candidates.end(); ++at) add(*at);
            candidates.erase(rest, candidates.end());
            evaluate_added(findings);
            if (offer(findings)) {
                tighten(findings.best.threshold());
                drop(findings);
            }
            block = std::min(2 * std::max(block, least_block), values_per_call);
        }
    }

    /// Evaluates the n candidates that promise most, of equal promises those of smaller positions,
    /// and returns how many there were.
    template <class Tighten>
    std::size_t evaluate_next(Findings& findings, std::size_t n, Tighten tighten) {
        auto& candidates = findings.candidates;
        positions_.clear();
        values_.clear();
        for (make_heap(candidates); positions_.size() < n && !candidates.empty();) {
            std::pop_heap(candidates.begin(), candidates.end(), promises_less);
            add(candidates.back());
            candidates.pop_back();
        }
        evaluate_added(findings);
        const std::size_t n_evaluated = positions_.size();
        if (offer(findings)) {
            tighten(findings.best.threshold());
            drop(findings);
        }
        return n_evaluated;
    }

    /// The greatest promise of a candidate; minus infinity where there is none.
    [[nodiscard]] static double greatest_promise(const Findings& findings) {
        double greatest = -HUGE_VAL;
        for (const Candidate& c : findings.candidates) greatest = std::max(greatest, c.promise);
        return greatest;
    }

    [[nodiscard]] std::size_t n_evaluations() const noexcept { return n_evaluations_; }

private:
    static bool promises_less(const Candidate& a, const Candidate& b) {
        return a.promise < b.promise || (a.promise == b.promise && a.position > b.position);
    }

    static void make_heap(std::vector<Candidate>& candidates) {
        std::make_heap(candidates.begin(), candidates.end(), promises_less);
    }

    // Adds a candidate to those evaluated next.
    void add(const Candidate& candidate) {
        positions_.push_back(candidate.position);
        values_.push_back(static_cast<double>(candidate.product));
    }

    void evaluate_added(const Findings& findings) {
        if (!map_products(findings)) evaluate_rows(findings);
    }

    static constexpr std::size_t least_block = 16;
    static constexpr std::size_t values_per_call = 256;

    static void drop(Findings& findings) {
        const double reach = findings.reach;
        std::erase_if(findings.candidates, [=](const Candidate& c) { return c.promise < reach; });
    }

    // Values from products, where all are known and the space supports it.
    bool map_products(const Findings& findings) {
        const std::size_t n = positions_.size();
        const VectorLoops& loops = loops_for(problem_.objects.isa()).vectors;
        if (!loops.all_finite(values_.data(), n)) return false;
        const Selection objects = Selection::list(positions_.data(), n);
        return scores_of(problem_.objects)
                   .map_products(problem_.queries, findings.query, objects, values_.data()) &&
               loops.all_finite(values_.data(), n);  // otherwise the rows have a fault to tell
    }

    void evaluate_rows(const Findings& findings) {
        std::sort(positions_.begin(), positions_.end());
        if (!batch_ || batch_->begin != findings.query) {
            problem_.queries.refill(batch_, findings.query);
        }
        problem_.objects.values(*batch_, Selection::list(positions_.data(), positions_.size()),
                                values_.data());
    }

    // True when a better k-th value was found.
    bool offer(Findings& findings) {
        n_evaluations_ += positions_.size();
        worker_.advance(0);
        const double before = findings.best.threshold();
        for (std::size_t j = 0; j < positions_.size(); ++j) {
            const Hit hit{values_[j], problem_.name(static_cast<std::size_t>(positions_[j]))};
            if (!findings.threshold) {
                findings.best.offer(hit);
            } else if (hit.value >= *findings.threshold) {
                findings.found.push_back(hit);
            }
        }
        return findings.best.threshold() > before;
    }

    const ScanProblem& problem_;
    Worker& worker_;
    std::size_t n_evaluations_ = 0;
    std::unique_ptr<QueryBatch> batch_;
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
};

}  // namespace fastmks
