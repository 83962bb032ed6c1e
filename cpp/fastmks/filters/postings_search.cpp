#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "fastmks/filters/early_end.hpp"
#include "fastmks/filters/postings.hpp"
#include "fastmks/filters/postings_candidates.hpp"
#include "fastmks/filters/postings_length.hpp"
#include "fastmks/filters/query_groups.hpp"
#include "fastmks/simd/loops.hpp"
#include "fastmks/spaces/score_map.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks {
namespace {

constexpr std::size_t most_queries = 256;  // of one group
constexpr std::size_t most_levels = 20;    // of the sum of planes
constexpr std::size_t most_maxima = 256;   // of which the k-th greatest is a useful first cut
constexpr std::size_t many_candidates = 32;
constexpr std::size_t largest_block = 256;  // of candidates evaluated at once

// A sum that is not a number, as damaged lists have them, may be anything.
template <class T>
T promised(T sum) {
    return sum == sum ? sum : static_cast<T>(HUGE_VAL);
}

// A column that the query has, as far as its list has been read.
struct Term {
    std::size_t next;
    std::size_t end;
    float weight;
};

// A plane whose weight is no small whole number.
struct WeightedPlane {
    std::uint32_t plane;
    float weight;
};

// One query against the postings. Its units are those of the postings times 2^-exponent.
struct Query {
    Query(std::size_t index, std::size_t k) : findings(index, k) {}

    Findings findings;
    std::vector<Term> terms;
    std::vector<WeightedPlane> weighted;
    std::vector<std::uint32_t> planes;  // by level
    std::array<std::uint32_t, most_levels> level_ends{};
    std::size_t n_levels = 0;
    double norm = 0.0;  // in its units
    int exponent = 0;
    bool is_whole = true;
    double share = 0.0;    // of the product of lengths that roundings may change in a score
    double lost = 0.0;     // and whatever the lengths
    double largest = 0.0;  // no score is greater in magnitude; true units
    bool is_done = false;
};

class GroupSearch : public GroupOfQueries {
public:
    GroupSearch(const ScanProblem& problem, const Postings& postings,
                const std::vector<char>& allowed, std::size_t begin, std::size_t end,
                Worker& worker)
        : GroupOfQueries(problem, begin, end, worker),
          postings_(postings),
          allowed_(allowed.empty() ? nullptr : &allowed),
          loops_(loops_for(problem.objects.isa()).planes),
          verifier_(problem, worker),
          scores_(Postings::shelf_size),
          maxima_(block_size) {}

    template <class Write>
    void top_k(std::size_t k, Write write) {
        start(k);
        for (Query& query : queries_) {
            TopK& best = query.findings.best;
            best.fill(problem_.floor(query.findings.query));
            if (best.is_full()) tighten(query, best.threshold());
        }
        sweep([&](Query& query, std::size_t shelf) { take_best(query, shelf, k); });
        for (Query& query : queries_) write(query.findings.query, query.findings.best);
        worker_.advance(queries_.size());
    }

    // The k best as far as a rule allows, one query after the other.
    template <class Write>
    void approximate_top_k(std::size_t k, const StopRule& stop, Allowances& allowances,
                           Write write) {
        start(k);
        for (Query& query : queries_) {
            const double missed = search_within(query, k, stop, allowances.next());
            write(query.findings.query, query.findings.best, missed);
            query = Query(0, k);  // frees its memory
            worker_.advance(1);
        }
    }

    template <class Write>
    void above(const double* thresholds, Write write) {
        start(1);
        for (Query& query : queries_) {
            query.findings.threshold = thresholds + query.findings.query;
            tighten(query, *query.findings.threshold);
        }
        sweep([&](Query& query, std::size_t shelf) {
            collect(query, shelf, HUGE_VALF);
            if (query.findings.candidates.size() >= many_candidates) evaluate(query, 1);
        });
        for (Query& query : queries_) write(query.findings.query, query.findings.found);
        worker_.advance(queries_.size());
    }

    [[nodiscard]] BoundCounts counts() const noexcept {
        BoundCounts counts = counts_;
        counts.evaluations = verifier_.n_evaluations();
        return counts;
    }

private:
    void start(std::size_t k) {
        for (std::size_t i = begin_; i < end_; ++i) place(queries_.emplace_back(i, k));
    }

    // Finds the lists and planes of a query's columns.
    void place(Query& query) {
        const VectorEntries entries =
            scores_of(problem_.queries).vectors->entries(query.findings.query);
        const Length length = length_of(entries);
        query.norm = length.scaled * float32_up;
        query.exponent = length.exponent;
        std::array<std::vector<std::uint32_t>, most_levels> levels;
        std::size_t total = 0;
        for (std::size_t e = 0; e < entries.columns.size(); ++e) {
            const double weight = std::ldexp(entries.values[e], -query.exponent);
            query.is_whole = query.is_whole && query.exponent == 0 && weight == std::trunc(weight);
            place_column(query, entries.columns[e], weight, levels, total);
        }
        for (std::size_t l = 0; l < most_levels; ++l) {
            query.planes.insert(query.planes.end(), levels[l].begin(), levels[l].end());
            query.level_ends[l] = static_cast<std::uint32_t>(query.planes.size());
        }
        query.n_levels = static_cast<std::size_t>(std::bit_width(total));
        if (spare_.size() < query.planes.size() + 2) spare_.resize(query.planes.size() + 2);
        const auto n_sums = static_cast<double>(query.terms.size() + query.weighted.size() + 1);
        query.share = (n_sums + 8) * float32_roundoff * float32_up;
        query.lost = n_sums * 0x1p-60;
        if (postings_.is_cosine()) {
            query.share += 0x1p-17;
            query.largest = float32_up;
        } else {
            query.lost = n_sums * 0x1p-90;
            const double longest = postings_.n_shelves() > 0 ? postings_.shelf_norm(0) : 0.0;
            query.largest = std::ldexp(query.norm * longest * float32_up,
                                       query.exponent + postings_.exponent());
        }
    }

    void place_column(Query& query, std::int32_t index, double weight,
                      std::array<std::vector<std::uint32_t>, most_levels>& levels,
                      std::size_t& total) {
        const Postings::Column column = postings_.column(index);
        if (column.begin < column.end) {
            query.terms.push_back({column.begin, column.end, static_cast<float>(weight)});
        }
        if (column.n_planes == 0) return;
        const std::size_t room = (std::size_t{1} << most_levels) - 1 - total;
        const std::size_t most = (std::size_t{1} << column.n_planes) - 1;
        const bool is_small = weight > 0.0 && weight == std::trunc(weight) &&
                              weight * static_cast<double>(most) <= static_cast<double>(room);
        if (is_small) {
            const auto whole = static_cast<std::size_t>(weight);
            total += whole * most;
            for (std::uint32_t j = 0; j < column.n_planes; ++j) {
                for (std::size_t left = whole << j; left != 0; left &= left - 1) {
                    const auto level = static_cast<std::size_t>(std::countr_zero(left));
                    levels[level].push_back(column.first_plane + j);
                }
            }
            return;
        }
        for (std::uint32_t j = 0; j < column.n_planes; ++j) {
            const double moved = std::ldexp(weight, static_cast<int>(j));
            query.weighted.push_back({column.first_plane + j, static_cast<float>(moved)});
        }
    }

    // Notes that only values of at least `value` matter to a query.
    void tighten(Query& query, double value) {
        const double reach = reach_below(query, value);
        if (reach > -HUGE_VAL) query.findings.reach = reach;
    }

    // What promises less has a value less than `value`; minus infinity where nothing is known.
    [[nodiscard]] double reach_below(const Query& query, double value) const {
        // The two spaces have vectors of different lengths, and so roundings of their own.
        const double high =
            std::min(scores_of(problem_.objects).scores_below(value, query.largest).high,
                     scores_of(problem_.queries).scores_below(value, query.largest).high);
        if (!(high > -HUGE_VAL)) return -HUGE_VAL;
        return postings_.is_cosine() ? std::clamp(high, -2.0, 2.0) * query.norm
                                     : std::ldexp(high, -query.exponent - postings_.exponent());
    }

    // Searches for one query as far as a rule allows: the most promising objects are evaluated
    // first. With a budget, all that may matter are bounded before, so that the order of
    // evaluations does not depend on it. Returns at least the value of every object that was
    // missed: minus infinity where none may be among the k best.
    double search_within(Query& query, std::size_t k, const StopRule& stop, Allowance allowance) {
        Findings& findings = query.findings;
        findings.best.fill(problem_.floor(findings.query));
        if (findings.best.is_full()) tighten(query, findings.best.threshold());
        std::size_t block = std::max(many_candidates, k);
        const auto evaluate_next = [&] {
            const std::size_t n = std::min(block, allowance.evaluations);
            allowance.evaluations -=
                verifier_.evaluate_next(findings, n, [&](double value) { tighten(query, value); });
            block = std::max(block, std::min(2 * block, largest_block));
        };
        for (std::size_t shelf = 0; shelf < postings_.n_shelves(); ++shelf) {
            if (is_beyond(query, shelf)) break;
            add_up(query, shelf);
            collect(query, shelf, HUGE_VALF);
            if (stop.budget == SIZE_MAX && !findings.best.is_full()) evaluate_next();
            worker_.advance(0);
        }
        EarlyEnd end(stop, [&](double value) { return reach_below(query, value); });
        for (;;) {
            const double left = verifier_.greatest_promise(findings);
            if (left == -HUGE_VAL || left < findings.reach) return -HUGE_VAL;
            const bool is_spent = allowance.evaluations == 0 || allowance.is_late();
            if (end.is_reached(findings.best, left, is_spent)) return end.missed(left);
            evaluate_next();
        }
    }

    // Whether no sum of a shelf rounds: partial sums are whole, and at most the lengths' product.
    // Cosines have been multiplied since, so that only smaller ones can be told.
    [[nodiscard]] bool has_exact_sums(const Query& query, std::size_t shelf) const {
        const double limit = postings_.is_cosine() ? 0x1p20 : 0x1p24;
        return query.is_whole && postings_.is_whole() &&
               query.norm * postings_.shelf_norm(shelf) <= limit;
    }

    // The product that a score follows from, where it is exact.
    [[nodiscard]] float product(std::size_t place, float score) const {
        if (!postings_.is_cosine()) return score;
        const float inverse = postings_.inverse_norms()[place];
        if (inverse == 0.0f) return 0.0f;
        return static_cast<float>(std::nearbyint(static_cast<double>(score) / inverse));
    }

    // The greatest difference of the scores of a shelf from the exact ones.
    [[nodiscard]] double slack(const Query& query, std::size_t shelf) const {
        if (postings_.is_cosine()) return query.share * query.norm + query.lost;
        if (has_exact_sums(query, shelf)) return 0.0;
        return query.share * query.norm * postings_.shelf_norm(shelf) * float32_up + query.lost;
    }

    // Whether no object of this shelf or a later one can have a useful score.
    [[nodiscard]] bool is_beyond(const Query& query, std::size_t shelf) const {
        const double longest = postings_.is_cosine() ? 1.0 : postings_.shelf_norm(shelf);
        return query.norm * longest * float32_up < query.findings.reach;
    }

    // Scans all shelves, each for all queries that still need it.
    template <class Take>
    void sweep(Take take) {
        for (std::size_t shelf = 0; shelf < postings_.n_shelves(); ++shelf) {
            for (Query& query : queries_) {
                query.is_done = query.is_done || is_beyond(query, shelf);
                if (query.is_done) continue;
                add_up(query, shelf);
                take(query, shelf);
                worker_.advance(0);
            }
        }
        for (Query& query : queries_) evaluate(query, many_candidates);
    }

    [[nodiscard]] std::size_t shelf_objects(std::size_t shelf) const noexcept {
        return std::min(Postings::shelf_size, postings_.size() - shelf * Postings::shelf_size);
    }

    // The scores of one query and the objects of a shelf; minus infinity for those not asked for.
    void add_up(Query& query, std::size_t shelf) {
        const std::size_t first = shelf * Postings::shelf_size;
        const std::size_t n = shelf_objects(shelf);
        const std::size_t n_blocks = (n + block_size - 1) / block_size;
        std::fill_n(scores_.begin(), n_blocks * block_size, 0.0f);
        add_lists(query, first, n);
        std::fill(maxima_.begin(), maxima_.end(), -HUGE_VALF);
        const PlaneSum sum{query.planes.data(), query.level_ends.data(), query.n_levels};
        for (std::size_t b = 0; b < n_blocks; ++b) {
            float* const scores = scores_.data() + b * block_size;
            const std::size_t block = first / block_size + b;
            if (query.n_levels > 0) {
                const PlaneLine* const next = postings_.lines(b + 1 < n_blocks ? block + 1 : block);
                loops_.add_planes(postings_.lines(block), next, sum, spare_.data(), scores);
            }
            for (const WeightedPlane& plane : query.weighted) {
                add_plane(postings_.lines(block)[plane.plane], plane.weight, scores);
            }
            if (postings_.is_cosine()) {
                loops_.scale(postings_.inverse_norms() + block * block_size, scores);
            }
            leave_out(query, block, scores);
            loops_.raise(scores, maxima_.data());
        }
        counts_.bounds += n;
        counts_.operations += n_blocks * (query.planes.size() + query.weighted.size());
    }

    void add_lists(Query& query, std::size_t first, std::size_t n) {
        const Posting* const postings = postings_.postings();
        float* const scores = scores_.data();
        constexpr std::size_t ahead = 8;  // lists lie anywhere
        for (std::size_t i = 0; i < query.terms.size(); ++i) {
            if (i + ahead < query.terms.size()) {
                __builtin_prefetch(postings + query.terms[i + ahead].next);
            }
            Term& term = query.terms[i];
            std::size_t at = term.next;
            for (; at < term.end; ++at) {
                // A place before the shelf, in damaged lists only, wraps to one far after it.
                const std::size_t place = postings[at].place - first;
                if (!(place < n)) break;
                scores[place] += term.weight * postings[at].value;
            }
            counts_.operations += at - term.next;
            term.next = at;
        }
    }

    static void add_plane(const PlaneLine& line, float weight, float* scores) {
        for (std::size_t w = 0; w < block_size / 64; ++w) {
            for (std::uint64_t bits = line.words[w]; bits != 0; bits &= bits - 1) {
                scores[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))] += weight;
            }
        }
    }

    // Excludes objects not asked for, the query itself, and places after the last object.
    void leave_out(const Query& query, std::size_t block, float* scores) const {
        const std::size_t first = block * block_size;
        const std::size_t end = std::min(first + block_size, postings_.size());
        for (std::size_t i = end - first; i < block_size; ++i) scores[i] = -HUGE_VALF;
        if (allowed_) {
            for (std::size_t p = first; p < end; ++p) {
                if (!(*allowed_)[postings_.position(p)]) scores[p - first] = -HUGE_VALF;
            }
        }
        if (problem_.skip_self) {
            const std::size_t own = postings_.place(query.findings.query);
            if (own >= first && own < end) scores[own - first] = -HUGE_VALF;
        }
    }

    // A search for the k best. Before k are found, those with the greatest scores are evaluated at
    // once, and then the others that the k-th value does not prune.
    void take_best(Query& query, std::size_t shelf, std::size_t k) {
        Findings& findings = query.findings;
        if (findings.best.is_full()) {
            collect(query, shelf, HUGE_VALF);
            if (findings.candidates.size() >= many_candidates) evaluate(query, many_candidates);
            return;
        }
        const std::size_t n_missing = k - findings.best.hits().size();
        const float cut = first_cut(shelf, n_missing);
        gather(query, shelf, cut, HUGE_VALF);
        evaluate(query, n_missing);
        collect(query, shelf, cut);
    }

    // A score that at least n objects of the shelf have, if it has n.
    float first_cut(std::size_t shelf, std::size_t n) {
        const bool is_few = n <= most_maxima;
        const float* const from = is_few ? maxima_.data() : scores_.data();
        const std::size_t size = is_few ? maxima_.size() : shelf_objects(shelf);
        if (n > size) return -HUGE_VALF;
        sorted_.assign(from, from + size);
        for (float& score : sorted_) score = promised(score);
        const auto nth = sorted_.begin() + static_cast<std::ptrdiff_t>(n) - 1;
        std::nth_element(sorted_.begin(), nth, sorted_.end(), std::greater<>());
        return *nth;
    }

    // Objects with useful scores below `end` become candidates.
    void collect(Query& query, std::size_t shelf, float end) {
        const float cut = float32_below(query.findings.reach - slack(query, shelf));
        if (cut < end) gather(query, shelf, cut, end);
    }

    void gather(Query& query, std::size_t shelf, float cut, float end) {
        const double extra = slack(query, shelf);
        const bool is_exact = has_exact_sums(query, shelf);
        const std::size_t first = shelf * Postings::shelf_size;
        const std::size_t n = shelf_objects(shelf);
        for (std::size_t chunk = 0; chunk < n; chunk += 64) {
            std::uint64_t kept = loops_.keep(scores_.data() + chunk, cut);
            for (; kept != 0; kept &= kept - 1) {
                const std::size_t i = chunk + static_cast<std::size_t>(std::countr_zero(kept));
                if (!(scores_[i] < end) || scores_[i] == -HUGE_VALF) continue;
                query.findings.candidates.push_back(
                    {promised(scores_[i] + extra), postings_.position(first + i),
                     is_exact ? product(first + i, scores_[i]) : std::nanf("")});
            }
        }
    }

    void evaluate(Query& query, std::size_t first) {
        verifier_.evaluate(query.findings, first, [&](double value) { tighten(query, value); });
    }

    const Postings& postings_;
    const std::vector<char>* allowed_;
    const PlaneLoops& loops_;
    Verifier verifier_;
    std::vector<Query> queries_;
    std::vector<float> scores_;  // of one query and one shelf
    std::vector<float> maxima_;  // over objects that are a multiple of block_size apart
    std::vector<float> sorted_;
    std::vector<PlaneLine> spare_;
};

std::size_t group_size_of(const ScanProblem& problem, std::size_t threads) {
    const std::size_t n = problem.queries.size();
    const std::size_t wanted = threads > 1 ? 2 * threads : 1;  // groups differ in their work
    return std::clamp<std::size_t>((n + wanted - 1) / wanted, 1, most_queries);
}

}  // namespace

BoundCounts postings_top_k(const ScanProblem& problem, const Postings& postings, std::size_t k,
                           std::size_t threads, const Watch& watch, double* values,
                           std::int64_t* positions) {
    return groups_top_k<GroupSearch>(problem, k, group_size_of(problem, threads), threads, watch,
                                     values, positions, postings, allowed_objects(problem));
}

BoundCounts postings_approximate_top_k(const ScanProblem& problem, const Postings& postings,
                                       std::size_t k, const StopRule& stop, std::size_t threads,
                                       const Watch& watch, TopKAnswers answers) {
    return groups_approximate_top_k<GroupSearch>(problem, k, stop, group_size_of(problem, threads),
                                                 threads, watch, answers, postings,
                                                 allowed_objects(problem));
}

BoundCounts postings_above(const ScanProblem& problem, const Postings& postings,
                           const double* thresholds, std::size_t threads, const Watch& watch,
                           std::vector<std::vector<Hit>>& answers) {
    return groups_above<GroupSearch>(problem, thresholds, group_size_of(problem, threads), threads,
                                     watch, answers, postings, allowed_objects(problem));
}

}  // namespace fastmks
