#include <algorithm>
#include <bit>
#include <cmath>

#include "fastmks/core/allowance.hpp"
#include "fastmks/filters/codes.hpp"
#include "fastmks/filters/codes_leaf_chooser.hpp"
#include "fastmks/filters/codes_query.hpp"
#include "fastmks/filters/codes_query_coder.hpp"
#include "fastmks/filters/early_end.hpp"
#include "fastmks/filters/query_groups.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {

using namespace coded;

namespace {

constexpr std::size_t most_bounds = std::size_t{1} << 17;  // of leaves, of one group
constexpr float rounding = 0x1p-22f;     // more than a sum of float32 numbers is off
constexpr std::size_t first_block = 16;  // candidates evaluated before another look
constexpr std::size_t values_per_call = 256;
constexpr std::size_t few_leaves = 16;         // are searched query by query
constexpr std::size_t most_candidates = 4096;  // wait for a better threshold

class GroupSearch : public GroupOfQueries {
public:
    GroupSearch(const ScanProblem& problem, const CodeTable& table,
                const std::vector<char>& allowed, std::size_t begin, std::size_t end,
                Worker& worker)
        : GroupOfQueries(problem, begin, end, worker),
          table_(table),
          allowed_(allowed.empty() ? nullptr : &allowed),
          loops_(loops_for(problem.objects.isa()).codes),
          coder_(problem.objects, table, loops_),
          leaves_(table, loops_) {}

    template <class Write>
    void top_k(std::size_t k, Write write) {
        start(k);
        k_ = k;
        for (Query& query : queries_) query.has_leasts = may_have_leasts(query);
        for (std::size_t i = 0; i < queries_.size(); ++i) begin_top_k(i);
        sweep();
        for (Query& query : queries_) write(query.index, query.best);
        worker_.advance(queries_.size());
    }

    // The k best as far as a rule allows, one query after the other.
    template <class Write>
    void approximate_top_k(std::size_t k, const StopRule& stop, Allowances& allowances,
                           Write write) {
        start(k);
        k_ = k;
        for (std::size_t i = 0; i < queries_.size(); ++i) {
            Query& query = queries_[i];
            query.has_leasts = may_have_leasts(query);
            const double missed = search_within(i, stop, allowances.next());
            write(query.index, query.best, missed);
            worker_.advance(1);
        }
    }

    template <class Write>
    void above(const double* thresholds, Write write) {
        start(1);
        thresholds_ = thresholds;
        for (std::size_t i = 0; i < queries_.size(); ++i) {
            set_useless(queries_[i], thresholds[queries_[i].index]);
            add_pairs(i, leaves_.choose(i, queries_[i].reach));
        }
        k_ = values_per_call;
        sweep();
        for (Query& query : queries_) write(query.index, query.found);
        worker_.advance(queries_.size());
    }

    [[nodiscard]] BoundCounts counts() const noexcept {
        BoundCounts counts = counts_;
        counts.bounds += leaves_.n_bounds();
        counts.operations += leaves_.n_operations();
        return counts;
    }

private:
    // Prepares the queries.
    void start(std::size_t k) {
        queries_.reserve(end_ - begin_);
        Coordinates coordinates;
        table_.projection().project(problem_.queries, begin_, end_, coordinates);
        std::vector<LeafQuery> leaf_queries;
        std::vector<char> is_finite;
        for (std::size_t i = begin_; i < end_; ++i) {
            Query& query = queries_.emplace_back(i, k);
            query.batch = problem_.queries.batch(i, i + 1);
            coder_.place(coordinates, i - begin_, query);
            leaf_queries.push_back(coder_.leaf_query(query));
            is_finite.push_back(query.is_finite);
        }
        counts_.projections += coordinates.evaluations;
        counts_.operations += (end_ - begin_) * table_.projection().operations();
        bounds_.resize(end_ - begin_);
        leaves_.start(std::move(leaf_queries), std::move(is_finite));
        worker_.advance(0);
    }

    // Notes that only values of at least `value` matter to a query.
    void set_useless(Query& query, double value) {
        if (!(value > query.value)) return;
        query.value = value;
        const ScoreRange useless = scores_below(query, value);
        if (!(useless.low < useless.high)) return;
        query.useless = useless;
        query.reach = reach_of(query, useless);
    }

    // The scores that only values less than `value` have, in units of the query.
    [[nodiscard]] ScoreRange scores_below(const Query& query, double value) const {
        const ScoreRange range = table_.projection().scores_below(
            problem_.objects, problem_.queries, value, query.largest);
        if (query.unit == 0.0 || !std::isfinite(query.unit)) {  // beyond what one factor can be
            return {std::ldexp(range.low, -query.shift), std::ldexp(range.high, -query.shift)};
        }
        return {range.low * query.unit, range.high * query.unit};
    }

    // What promises less has such a score.
    [[nodiscard]] static float reach_of(const Query& query, const ScoreRange& useless) {
        const double above = useless.high - query.middle;
        const double below = query.middle - useless.low;
        const double reach = std::min(above, below);
        return round_down(reach - 0x1p-20 * std::abs(reach));
    }

    // What promises less has a value less than `value`.
    [[nodiscard]] float reach_below(const Query& query, double value) const {
        const ScoreRange useless = scores_below(query, value);
        if (!(useless.low < useless.high)) return -HUGE_VALF;
        const bool has_ends = std::isfinite(useless.low) || std::isfinite(useless.high);
        return has_ends ? reach_of(query, useless) : HUGE_VALF;
    }

    void add_pairs(std::size_t i, const std::vector<std::uint32_t>& chosen) {
        for (const std::uint32_t leaf : chosen) {
            pairs_.push_back({leaf, static_cast<std::uint32_t>(i)});
        }
    }

    // Scores of zero vectors are no cosines where they are distances of unit vectors.
    [[nodiscard]] bool may_have_leasts(const Query& query) const {
        if (!query.is_finite) return false;
        const bool is_distance = table_.projection().is_distance();
        return !is_distance || !(table_.has_zeros() || problem_.queries.is_zero(query.index));
    }

    // A first threshold from the most promising leaves; then all remaining leaves, if they are
    // few.
    void begin_top_k(std::size_t i) {
        Query& query = queries_[i];
        query.best.fill(problem_.floor(query.index));
        set_useless(query, query.best.threshold());
        const auto n_known = [&] {
            return query.has_leasts ? query.leasts.size() : query.best.hits().size();
        };
        for (std::size_t n = 0; n < table_.n_leaves() && n_known() < k_; ++n) {
            if (n > 0 && query.best.is_full()) break;  // the floor will do
            const std::size_t leaf = leaves_.best(i);
            if (n == 0 && raise_first(i, leaf)) break;
            scan_leaf(leaf, &i, 1);
            if (!query.has_leasts) evaluate(query, k_ - n_known(), true);
        }
        // A sharp threshold now spares leaves.
        const std::size_t enough = 2 * k_ + first_block;
        look(query, enough);
        std::vector<std::uint32_t> chosen = leaves_.choose(i, query.reach);
        if (chosen.size() > std::min(few_leaves, table_.n_leaves() / 8)) {
            return add_pairs(i, chosen);
        }
        std::sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
            return leaves_.promise(i, a) > leaves_.promise(i, b);
        });
        for (const std::uint32_t leaf : chosen) {
            if (leaves_.promise(i, leaf) < query.reach) break;
            scan_leaf(leaf, &i, 1);
            look(query, enough);
        }
    }

    // Finds a first threshold in a leaf, and the candidates there, where that is simple.
    bool raise_first(std::size_t i, std::size_t leaf) {
        Query& query = queries_[i];
        const std::size_t n = table_.leaf_objects(leaf);
        // Below a floor, bounds of leaves are not computed.
        const bool has_all = !allowed_ && !problem_.skip_self && !query.has_useless();
        if (!query.has_leasts || query.is_two_sided || n < k_ || !has_all) return false;
        scan_for(&i, 1, leaf);
        CodeBounds& bounds = bounds_[0];
        const double score = leaves_.score(i, leaf);
        // k objects have at least this upper bound, and lower bounds not far below it.
        const double upper = loops_.least_of_best(bounds.upper, n, k_) + score + query.slack;
        const double tails = 2.0 * query.slack_of.tails * table_.leaf(leaf).tail;
        raise_to(query,
                 round_down(upper - query.spread - tails - 0x1p-20 * (std::abs(upper) + tails)));
        const float high = QueryCoder::high_of(query, score);
        for (std::uint64_t& word : bounds.kept) word = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const auto is_kept = static_cast<std::uint64_t>(!(bounds.upper[j] < high));
            bounds.kept[j / tile_size] |= is_kept << j % tile_size;
        }
        collect(query, leaf, score, bounds);
        return true;
    }

    // Searches for one query as far as a rule allows: leaves are read in the order of their
    // promises, and the most promising objects of those read are evaluated. With a budget, an
    // object is evaluated only where no leaf promises more, so that the order of evaluations does
    // not depend on the budget. Returns at least the value of every object that was missed: minus
    // infinity where none may be among the k best.
    double search_within(std::size_t i, const StopRule& stop, Allowance allowance) {
        Query& query = queries_[i];
        query.best.fill(problem_.floor(query.index));
        set_useless(query, query.best.threshold());
        const bool has_budget = stop.budget != SIZE_MAX;
        std::size_t patience = has_budget ? SIZE_MAX : 2 * k_ + first_block;
        frontier_.clear();
        read_first(i);
        const auto leaf_promises_less = [&](std::uint32_t a, std::uint32_t b) {
            const float of_a = promise_of_leaf(i, a), of_b = promise_of_leaf(i, b);
            return of_a < of_b || (of_a == of_b && a > b);
        };
        waiting_ = leaves_.choose(i, query.reach);
        std::make_heap(waiting_.begin(), waiting_.end(), leaf_promises_less);
        EarlyEnd end(stop, [&](double value) { return reach_below(query, value); });
        for (;;) {
            if (!frontier_.empty() && frontier_.front().promise < query.reach) frontier_.clear();
            const float of_leaf =
                waiting_.empty() ? -HUGE_VALF : promise_of_leaf(i, waiting_.front());
            const float of_object = frontier_.empty() ? -HUGE_VALF : frontier_.front().promise;
            const float left = std::max(of_leaf, of_object);
            if (left == -HUGE_VALF || left < query.reach) return -HUGE_VAL;
            const bool is_late = allowance.is_late();
            if (end.is_reached(query.best, left, is_late || allowance.evaluations == 0)) {
                return end.missed(left);
            }
            const bool may_read = of_leaf > -HUGE_VALF && (!is_late || frontier_.empty());
            if (may_read && of_leaf > of_object && frontier_.size() < patience) {
                std::pop_heap(waiting_.begin(), waiting_.end(), leaf_promises_less);
                const std::uint32_t leaf = waiting_.back();
                waiting_.pop_back();
                read_leaf(i, leaf, of_leaf);
            } else {
                if (frontier_.size() >= patience) patience *= 2;
                const bool is_ordered = has_budget && may_read;
                evaluate_frontier(query, is_ordered ? of_leaf : -HUGE_VALF, allowance);
            }
        }
    }

    // What is not a number promises everything.
    [[nodiscard]] float promise_of_leaf(std::size_t i, std::size_t leaf) const noexcept {
        const float promise = leaves_.promise(i, leaf);
        return promise == promise ? promise : HUGE_VALF;
    }

    // Reads the most promising leaves until k objects are known.
    void read_first(std::size_t i) {
        Query& query = queries_[i];
        const auto n_known = [&] {
            return query.has_leasts ? query.leasts.size() : frontier_.size();
        };
        for (std::size_t n = 0; n < table_.n_leaves() && n_known() < k_; ++n) {
            if (n > 0 && query.best.is_full()) break;  // the floor will do
            const std::size_t leaf = leaves_.best(i);
            read_leaf(i, leaf, promise_of_leaf(i, leaf));
        }
        raise(query);
    }

    // Adds the objects of a leaf that may matter to the frontier; none promises more than the leaf.
    void read_leaf(std::size_t i, std::size_t leaf, float of_leaf) {
        Query& query = queries_[i];
        scan_leaf(leaf, &i, 1);
        query.candidates.drain([&](float promise, std::uint32_t position) {
            if (promise < query.reach) return;
            frontier_.push_back({std::min(promise, of_leaf), position});
            std::push_heap(frontier_.begin(), frontier_.end(), promises_less);
        });
        tick(leaf_size);
    }

    // Evaluates the most promising objects of the frontier that promise at least `least`.
    void evaluate_frontier(Query& query, float least, Allowance& allowance) {
        const std::size_t most = std::min(
            allowance.evaluations, query.best.is_full() ? first_block : std::max(first_block, k_));
        positions_.clear();
        while (positions_.size() < most && !frontier_.empty() &&
               !(frontier_.front().promise < least)) {
            std::pop_heap(frontier_.begin(), frontier_.end(), promises_less);
            positions_.push_back(frontier_.back().position);
            frontier_.pop_back();
        }
        allowance.evaluations -= positions_.size();
        evaluate_positions(query);
    }

    // Adds the objects of a leaf that some queries keep to their candidates.
    void scan_leaf(std::size_t leaf, const std::size_t* chosen, std::size_t n_chosen) {
        scan_for(chosen, n_chosen, leaf);
        for (std::size_t j = 0; j < n_chosen; ++j) {
            Query& query = queries_[chosen[j]];
            collect(query, leaf, leaves_.score(chosen[j], leaf), bounds_[j]);
            if (query.leasts.size() >= 2 * k_ + first_block) raise(query);
        }
    }

    // Bounds the objects of a leaf for some queries, into bounds_.
    void scan_for(const std::size_t* chosen, std::size_t n_chosen, std::size_t leaf) {
        CodeQuery coded[most_queries];
        for (std::size_t j = 0; j < n_chosen; ++j) {
            coded[j] = coder_.code(queries_[chosen[j]], leaf, leaves_.score(chosen[j], leaf));
            leaves_.note_searched(chosen[j], leaf);
        }
        loops_.scan(table_.block(leaf), coded, n_chosen, bounds_.data());
        const std::size_t n_bounds = n_chosen * table_.leaf_objects(leaf);
        counts_.bounds += n_bounds;
        counts_.operations += n_bounds * table_.dimension();
    }

    // Adds the objects of a leaf that a query keeps to its candidates.
    void collect(Query& query, std::size_t leaf, double base, CodeBounds& bounds) {
        const std::size_t n = table_.leaf_objects(leaf);
        const std::uint32_t* positions = table_.positions(leaf);
        if (n % tile_size != 0) bounds.kept[n / tile_size] &= ~(~std::uint64_t{0} << n % tile_size);
        if (allowed_ || problem_.skip_self) leave_out(query, positions, n, bounds);
        std::size_t n_kept = 0;
        for (std::size_t at = 0; at < n; at += tile_size) {
            n_kept += static_cast<std::size_t>(std::popcount(bounds.kept[at / tile_size]));
        }
        if (n_kept == 0) return;
        const Candidates::Room room = query.candidates.room(n_kept);
        std::size_t n_leasts = query.leasts.size();
        query.leasts.resize(n_leasts + n_kept);
        // From bounds in the leaf to those of a score's place beyond the middle.
        const double beyond = base + query.slack - query.middle;
        const float to_upper = round_up(beyond), to_lower = round_down(beyond - query.spread);
        const float* tails = table_.block(leaf).tails;
        const float twice = 2 * query.slack_of.tails;
        std::size_t i = 0;
        for_each_kept(bounds, n, [&](std::size_t j) {
            const float sum = bounds.upper[j] + to_upper;
            const float upper = sum + rounding * __builtin_fabsf(sum);
            const float tail = twice * tails[j];
            const float score = bounds.upper[j] - tail;
            const float rest = score + to_lower;
            const float lower =
                rest - 1e-37f - rounding * (__builtin_fabsf(rest) + __builtin_fabsf(score) + tail);
            const bool is_other_side = query.is_two_sided && -lower > upper;
            const float promise = is_other_side ? -lower : upper;
            // The other end of what its score may be, on the same side of the middle.
            const float least = is_other_side ? -upper : lower;
            room.promises[i] = promise == promise && lower == lower ? promise : HUGE_VALF;
            room.positions[i++] = positions[j];
            query.leasts[n_leasts] = least;
            n_leasts += query.has_leasts && least >= query.least;
        });
        query.leasts.resize(n_leasts);
    }

    // Calls run for the objects of a leaf that are kept.
    template <class Run>
    static void for_each_kept(const CodeBounds& bounds, std::size_t n, Run run) {
        for (std::size_t at = 0; at < n; at += tile_size) {
            for (std::uint64_t kept = bounds.kept[at / tile_size]; kept != 0; kept &= kept - 1) {
                run(at + static_cast<std::size_t>(std::countr_zero(kept)));
            }
        }
    }

    // Drops objects that are not searched.
    void leave_out(const Query& query, const std::uint32_t* positions, std::size_t n,
                   CodeBounds& bounds) const {
        for_each_kept(bounds, n, [&](std::size_t j) {
            const bool is_searched = (!allowed_ || (*allowed_)[positions[j]]) &&
                                     !(problem_.skip_self && positions[j] == query.index);
            if (!is_searched) bounds.kept[j / tile_size] &= ~(std::uint64_t{1} << j % tile_size);
        });
    }

    // Finds out from lower bounds which values matter.
    void raise(Query& query) {
        std::vector<float>& leasts = query.leasts;
        if (leasts.size() < k_) return;
        const float least = loops_.least_of_best(leasts.data(), leasts.size(), k_);
        leasts.erase(std::remove_if(leasts.begin(), leasts.end(),
                                    [=](float other) { return other < least; }),
                     leasts.end());
        raise_to(query, least);
    }

    // Notes that k objects have scores at least so far beyond the middle.
    void raise_to(Query& query, float least) {
        if (!(least > query.least)) return;
        query.least = least;
        const double score = std::ldexp(static_cast<double>(least), query.shift);
        set_useless(query,
                    query.is_two_sided
                        ? scores_of(problem_.objects).value_beyond(score, query.largest)
                        : table_.projection().value_from(problem_.objects, score, query.largest));
    }

    // Raises a query's threshold: by lower bounds, and by its most promising candidates where these
    // leave more than enough.
    void look(Query& query, std::size_t enough) {
        raise(query);
        if (query.has_leasts && query.candidates.size() <= enough) return;
        query.candidates.drop(query.reach);
        if (query.has_leasts && query.candidates.size() <= enough) return;
        // Of the k best of twice as many objects, about half are new.
        evaluate(query, std::max(first_block, k_ / 2), false);
    }

    // Evaluates the n most promising candidates; if all are wanted, then twice as many of the
    // remaining ones, and so on.
    void evaluate(Query& query, std::size_t n, bool wants_all) {
        Candidates& candidates = query.candidates;
        while (candidates.size() > 0) {
            positions_.clear();
            if (n < candidates.size()) {
                candidates.take_best(n, loops_, positions_);
            } else {
                candidates.take_last(values_per_call, positions_);
            }
            evaluate_positions(query);
            if (!wants_all && candidates.size() <= most_candidates) return;
            n *= 2;
        }
    }

    // Evaluates positions_, and drops candidates that are useless then.
    void evaluate_positions(Query& query) {
        values_.resize(positions_.size());
        problem_.objects.values(*query.batch, Selection::list(positions_.data(), positions_.size()),
                                values_.data());
        counts_.evaluations += positions_.size();
        tick(positions_.size());
        const double before = query.best.threshold();
        for (std::size_t j = 0; j < positions_.size(); ++j) {
            const Hit hit{values_[j], problem_.name(static_cast<std::size_t>(positions_[j]))};
            if (thresholds_ == nullptr) {
                query.best.offer(hit);
            } else if (hit.value >= thresholds_[query.index]) {
                query.found.push_back(hit);
            }
        }
        if (!(query.best.threshold() > before)) return;
        set_useless(query, query.best.threshold());
        query.candidates.drop(query.reach);
    }

    // Scans all leaves still needed, each for all its queries. The most promising candidates are
    // evaluated on the way, ever less often, since thresholds rise most at the beginning; the
    // others at the end, when fewer of them remain.
    void sweep() {
        sort_pairs();
        std::size_t next_look = std::min<std::size_t>(pairs_.size(), 2 * queries_.size());
        for (std::size_t at = 0; at < pairs_.size();) {
            const std::uint32_t leaf = pairs_[at].leaf;
            std::size_t chosen[most_queries];
            std::size_t n_chosen = 0;
            for (; at < pairs_.size() && pairs_[at].leaf == leaf; ++at) {
                const std::size_t i = pairs_[at].query;
                if (!(leaves_.promise(i, leaf) < queries_[i].reach)) chosen[n_chosen++] = i;
            }
            if (n_chosen > 0) scan_leaf(leaf, chosen, n_chosen);
            tick(leaf_size);
            if (at < next_look) continue;
            for (Query& query : queries_) look(query, 4 * k_ + values_per_call);
            next_look *= 2;
        }
        for (Query& query : queries_) {
            raise(query);
            query.candidates.drop(query.reach);
            evaluate(query, std::max(first_block, k_), true);
        }
    }

    // By leaf, then by query, in which order they came.
    void sort_pairs() {
        std::vector<std::size_t> ends(table_.n_leaves() + 1);
        for (const Pair& pair : pairs_) ++ends[pair.leaf + 1];
        for (std::size_t leaf = 0; leaf < table_.n_leaves(); ++leaf) ends[leaf + 1] += ends[leaf];
        std::vector<Pair> sorted(pairs_.size());
        for (const Pair& pair : pairs_) sorted[ends[pair.leaf]++] = pair;
        pairs_.swap(sorted);
    }

    // Looks up from work now and then; after every call where Python evaluates.
    void tick(std::size_t work) {
        work_ += work;
        if (work_ < 4096 && problem_.objects.is_parallel()) return;
        work_ = 0;
        worker_.advance(0);
    }

    struct Pair {
        std::uint32_t leaf;
        std::uint32_t query;
    };

    // An object that may matter to the query of an approximate search.
    struct Promised {
        float promise;
        std::uint32_t position;
    };

    static bool promises_less(const Promised& a, const Promised& b) {
        return a.promise < b.promise || (a.promise == b.promise && a.position > b.position);
    }

    const CodeTable& table_;
    const std::vector<char>* allowed_;
    const CodeLoops& loops_;
    QueryCoder coder_;
    LeafChooser leaves_;
    const double* thresholds_ = nullptr;
    std::size_t k_ = 1;
    std::size_t work_ = 0;
    std::vector<Query> queries_;
    std::vector<Pair> pairs_;
    std::vector<Promised> frontier_;      // a heap with the greatest promise on top
    std::vector<std::uint32_t> waiting_;  // leaves to read, such a heap too
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
    std::vector<CodeBounds> bounds_;
};

std::size_t group_size_of(const ScanProblem& problem, const CodeTable& table, std::size_t threads) {
    const std::size_t n = problem.queries.size();
    const auto group = std::clamp<std::size_t>(most_bounds / table.n_leaves(), 4, most_queries);
    return std::max<std::size_t>(1, std::min(group, (n + threads - 1) / threads));
}

}  // namespace

BoundCounts codes_top_k(const ScanProblem& problem, const CodeTable& table, std::size_t k,
                        std::size_t threads, const Watch& watch, double* values,
                        std::int64_t* positions) {
    return groups_top_k<GroupSearch>(problem, k, group_size_of(problem, table, threads), threads,
                                     watch, values, positions, table, allowed_objects(problem));
}

BoundCounts codes_approximate_top_k(const ScanProblem& problem, const CodeTable& table,
                                    std::size_t k, const StopRule& stop, std::size_t threads,
                                    const Watch& watch, TopKAnswers answers) {
    return groups_approximate_top_k<GroupSearch>(problem, k, stop,
                                                 group_size_of(problem, table, threads), threads,
                                                 watch, answers, table, allowed_objects(problem));
}

BoundCounts codes_above(const ScanProblem& problem, const CodeTable& table,
                        const double* thresholds, std::size_t threads, const Watch& watch,
                        std::vector<std::vector<Hit>>& answers) {
    return groups_above<GroupSearch>(problem, thresholds, group_size_of(problem, table, threads),
                                     threads, watch, answers, table, allowed_objects(problem));
}

}  // namespace fastmks
