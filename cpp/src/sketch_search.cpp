#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "fastmks/sketch.hpp"
#include "fastmks/vector_loops.hpp"
#include "sketch_query.hpp"

namespace fastmks {

using namespace sketched;

namespace {

constexpr double up = 1 + 0x1p-20;
constexpr std::size_t most_bounds = std::size_t{1} << 17;  // of leaves, of one group
constexpr std::size_t first_block = 16;  // candidates evaluated before another look
constexpr std::size_t values_per_call = 256;
constexpr std::size_t few_leaves = 16;         // are searched query by query
constexpr std::size_t most_candidates = 4096;  // wait for a better threshold

class GroupSearch {
public:
    GroupSearch(const ScanProblem& problem, const Sketch& sketch, const std::vector<char>* allowed,
                Worker& worker)
        : problem_(problem),
          sketch_(sketch),
          allowed_(allowed),
          worker_(worker),
          loops_(code_loops(problem.objects.isa())),
          is_distance_(sketch.projection().is_distance()),
          bound_(is_distance_ ? loops_.bound_distances : loops_.bound_products),
          n_leaves_(sketch.n_leaf_groups() * group_size),
          n_groups_(sketch.group_boxes().radii.size()) {}

    // Prepares queries [begin, end).
    void start(std::size_t begin, std::size_t end, std::size_t k) {
        queries_.clear();
        queries_.reserve(end - begin);
        sketch_.projection().project(problem_.queries, begin, end, coordinates_);
        for (std::size_t i = begin; i < end; ++i) {
            Query& query = queries_.emplace_back(i, k);
            query.batch = problem_.queries.batch(i, i + 1);
            place(i - begin, query);
        }
        counts_.projections += (end - begin) * sketch_.projection().evaluations();
        counts_.operations += (end - begin) * sketch_.projection().operations();
        bounds_.resize(end - begin);
        bound_leaves();
    }

    void top_k(std::size_t k) {
        k_ = k;
        for (Query& query : queries_) query.has_leasts = may_have_leasts(query);
        for (std::size_t i = 0; i < queries_.size(); ++i) begin_top_k(i);
        sweep();
    }

    void above(const double* thresholds) {
        thresholds_ = thresholds;
        for (std::size_t i = 0; i < queries_.size(); ++i) {
            set_useless(queries_[i], thresholds[queries_[i].index]);
            choose_leaves(i);
            add_pairs(i);
        }
        k_ = values_per_call;
        sweep();
        for (Query& query : queries_) {
            std::sort(query.found.begin(), query.found.end(), ranks_before);
        }
    }

    [[nodiscard]] std::vector<Query>& queries() noexcept { return queries_; }
    [[nodiscard]] const SketchCounts& counts() const noexcept { return counts_; }

private:
    void place(std::size_t i, Query& query) {
        const std::size_t dimension = sketch_.dimension();
        const int exponent = coordinates_.exponents[i];
        // Distances need the unit of the objects; products may have one for each query.
        const int moved = is_distance_ ? exponent - sketch_.exponent() : 0;
        const double unit = std::ldexp(1.0, std::clamp(moved, -1000, 1000));
        query.shift = is_distance_ ? 2 * sketch_.exponent() : sketch_.exponent() + exponent;
        query.unit = std::ldexp(1.0, -query.shift);
        query.norm = coordinates_.norms[i] * unit * up;
        query.tail = coordinates_.tails[i] * unit * up;
        query.least_tail = coordinates_.least_tails[i] * unit * (2 - up);
        query.error = coordinates_.errors[i] * unit + query.norm * 0x1p-22 + 1e-36;
        double square = 0.0;
        query.row.assign(sketch_.n_padded(), 0.0f);
        for (std::size_t c = 0; c < dimension; ++c) {
            const double x = coordinates_.rows[i * dimension + c] * unit;
            query.row[c] = static_cast<float>(x);
            square += x * x;
        }
        query.row_norm = std::sqrt(square) * up + query.error;
        query.words.assign(sketch_.n_padded() / bytes_per_word, 0);
        query.is_finite = query.norm < 1e15;  // squares of float32 numbers are still finite
        const double sum = query.norm + sketch_.norm();
        const double longest = is_distance_ ? 0.5 * sum * sum : query.norm * sketch_.norm();
        query.largest = std::ldexp(longest * up, query.shift);
        query.is_two_sided = !problem_.objects.is_increasing();
        if (query.is_two_sided) {
            query.middle = std::ldexp(problem_.objects.score_middle(), -query.shift);
        }
        if (query.is_finite && !is_distance_) quantize(query, nullptr);
        set_slack(query);
    }

    // Sets the codes of a query, or of its difference to a centre, and returns the length of what
    // was coded.
    double quantize(Query& query, const float* centre) {
        difference_.resize(sketch_.n_padded());
        const Codes codes = loops_.quantize(query.row.data(), centre, query.words.size(),
                                            difference_.data(), query.words.data());
        query.scale = codes.scale;
        query.sum = codes.sum;
        query.code_error = std::sqrt(static_cast<double>(codes.error)) * up;
        return std::sqrt(static_cast<double>(codes.square)) * (1 + rounding_share());
    }

    // What sums of float32 products may change, as a share of the lengths involved.
    [[nodiscard]] double rounding_share() const noexcept {
        return static_cast<double>(sketch_.dimension() + 32) * 0x1p-23;
    }

    [[nodiscard]] LeafQuery leaf_query(const Query& query) const {
        // Products are off by a share of both lengths, differences by a share of their sum.
        const double slack =
            is_distance_ ? 0x1p-21
                         : rounding_share() * query.row_norm + query.error + 0x1p-22 * query.tail;
        return {query.row.data(),
                round_up(query.row_norm),
                round_up(query.tail),
                round_down(query.least_tail),
                round_up(query.error),
                round_up(slack),
                static_cast<float>(query.middle),
                query.is_two_sided};
    }

    // Bounds all leaves for all queries; or, where they are many, groups of them, and each group's
    // leaves when a query gets there.
    void bound_leaves() {
        const bool has_groups = n_groups_ > 0;
        leaf_queries_.clear();
        for (const Query& query : queries_) leaf_queries_.push_back(leaf_query(query));
        const std::size_t n = queries_.size() * n_leaves_;
        scores_.resize(n);
        promises_.assign(n, -HUGE_VALF);
        if (!has_groups) {
            return bound_boxes(sketch_.boxes(), sketch_.n_leaves(), n_leaves_, scores_, promises_);
        }
        group_scores_.resize(queries_.size() * n_groups_);
        group_promises_.resize(queries_.size() * n_groups_);
        bound_boxes(sketch_.group_boxes(), sketch_.n_leaf_groups(), n_groups_, group_scores_,
                    group_promises_);
    }

    // Bounds n boxes for all queries; `stride` is n rounded up to whole groups.
    void bound_boxes(const Boxes& boxes, std::size_t n, std::size_t stride,
                     std::vector<float>& scores, std::vector<float>& promises) {
        for (std::size_t at = 0; at < stride; at += group_size) {
            bound_(boxes.group(at / group_size), leaf_queries_.data(), queries_.size(),
                   scores.data() + at, promises.data() + at, stride);
        }
        for (std::size_t i = 0; i < queries_.size(); ++i) {
            float* of_query = promises.data() + i * stride;
            if (!queries_[i].is_finite) std::fill_n(of_query, n, HUGE_VALF);
            std::fill(of_query + n, of_query + stride, -HUGE_VALF);
        }
        counts_.bounds += queries_.size() * n;
        counts_.operations += 2 * queries_.size() * stride * sketch_.dimension();
        worker_.advance(0);
    }

    // Bounds the leaves of a group for one query.
    void open_group(std::size_t i, std::size_t group) {
        const std::size_t first = group * group_size;
        const std::size_t n = std::min(group_size, sketch_.n_leaves() - first);
        float* promises = promises_.data() + i * n_leaves_ + first;
        bound_(sketch_.boxes().group(group), &leaf_queries_[i], 1,
               scores_.data() + i * n_leaves_ + first, promises, n_leaves_);
        if (!queries_[i].is_finite) std::fill_n(promises, n, HUGE_VALF);
        std::fill(promises + n, promises + group_size, -HUGE_VALF);
        group_promises_[i * n_groups_ + group] = -HUGE_VALF;
        opened_.push_back(static_cast<std::uint32_t>(group));
        counts_.bounds += n;
        counts_.operations += 2 * group_size * sketch_.dimension();
    }

    // The most promising leaf of a query.
    std::size_t best_leaf(std::size_t i) {
        const float* promises = promises_.data() + i * n_leaves_;
        if (n_groups_ == 0) return loops_.greatest(promises, n_leaves_);
        const float* of_groups = group_promises_.data() + i * n_groups_;
        std::size_t best = 0;
        for (;;) {
            for (const std::uint32_t group : opened_) {
                const std::size_t first = group * group_size;
                const std::size_t leaf = first + loops_.greatest(promises + first, group_size);
                if (promises[leaf] > promises[best]) best = leaf;
            }
            const std::size_t group = loops_.greatest(of_groups, n_groups_);
            if (!(of_groups[group] > promises[best])) return best;
            open_group(i, group);
        }
    }

    // Notes that only values of at least `value` matter to a query.
    void set_useless(Query& query, double value) {
        if (!(value > query.value)) return;
        query.value = value;
        const ScoreRange range = sketch_.projection().scores_below(
            problem_.objects, problem_.queries, value, query.largest);
        if (!(range.low < range.high)) return;
        query.useless = {range.low * query.unit, range.high * query.unit};
        if (query.unit == 0.0 || !std::isfinite(query.unit)) {  // beyond what one factor can be
            query.useless = {std::ldexp(range.low, -query.shift),
                             std::ldexp(range.high, -query.shift)};
        }
        const double above = query.useless.high - query.middle;
        const double below = query.middle - query.useless.low;
        query.reach = std::min(above, below);
        query.reach -= 0x1p-20 * std::abs(query.reach);
    }

    // The leaves that a query still wants, into chosen_.
    void choose_leaves(std::size_t i) {
        const float reach = round_down(queries_[i].reach);
        const float* promises = promises_.data() + i * n_leaves_;
        if (n_groups_ == 0) {
            chosen_.resize(n_leaves_);
            chosen_.resize(loops_.choose(promises, n_leaves_, reach, chosen_.data()));
            return;
        }
        std::vector<std::uint32_t>& wanted = chosen_;
        wanted.resize(n_groups_);
        wanted.resize(
            loops_.choose(group_promises_.data() + i * n_groups_, n_groups_, reach, wanted.data()));
        for (const std::uint32_t group : wanted) open_group(i, group);
        chosen_.resize(opened_.size() * group_size);
        std::size_t n_chosen = 0;
        for (const std::uint32_t group : opened_) {
            const auto first = static_cast<std::uint32_t>(group * group_size);
            std::uint32_t* out = chosen_.data() + n_chosen;
            const std::size_t n = loops_.choose(promises + first, group_size, reach, out);
            for (std::size_t j = 0; j < n; ++j) out[j] += first;
            n_chosen += n;
        }
        chosen_.resize(n_chosen);
        opened_.clear();
    }

    void add_pairs(std::size_t i) {
        for (const std::uint32_t leaf : chosen_) {
            pairs_.push_back({leaf, static_cast<std::uint32_t>(i)});
        }
    }

    // Scores of zero vectors are no cosines where they are distances of unit vectors.
    [[nodiscard]] bool may_have_leasts(const Query& query) const {
        if (query.is_two_sided || !query.is_finite) return false;
        return !is_distance_ || !(sketch_.has_zeros() || problem_.queries.is_zero(query.index));
    }

    // A first threshold from the most promising leaves; then all leaves that are left, if they are
    // few.
    void begin_top_k(std::size_t i) {
        Query& query = queries_[i];
        const auto n_known = [&] {
            return query.has_leasts ? query.leasts.size() : query.best.hits().size();
        };
        for (std::size_t n = 0; n < sketch_.n_leaves() && n_known() < k_; ++n) {
            const std::size_t leaf = best_leaf(i);
            if (n == 0 && raise_first(i, leaf)) break;
            scan_leaf(leaf, &i, 1);
            if (!query.has_leasts) evaluate(query, k_ - n_known(), true);
        }
        // A sharp threshold now spares leaves.
        const std::size_t enough = 2 * k_ + first_block;
        look(query, enough);
        choose_leaves(i);
        if (chosen_.size() > std::min(few_leaves, sketch_.n_leaves() / 8)) return add_pairs(i);
        const float* promises = promises_.data() + i * n_leaves_;
        std::sort(chosen_.begin(), chosen_.end(),
                  [=](std::uint32_t a, std::uint32_t b) { return promises[a] > promises[b]; });
        for (const std::uint32_t leaf : chosen_) {
            if (promises[leaf] < query.reach) break;
            scan_leaf(leaf, &i, 1);
            look(query, enough);
        }
    }

    // Finds a first threshold in a leaf, and what it keeps there, where that is simple.
    bool raise_first(std::size_t i, std::size_t leaf) {
        Query& query = queries_[i];
        const std::size_t n = sketch_.leaf_objects(leaf);
        if (!query.has_leasts || n < k_ || allowed_ || problem_.skip_self) return false;
        scan_for(&i, 1, leaf);
        CodeBounds& bounds = bounds_[0];
        const double score = scores_[i * n_leaves_ + leaf];
        // So many objects have at least this upper bound, and lower ones not far below it.
        const double upper = loops_.least_of_best(bounds.upper, n, k_) + score + query.slack;
        const double tails = 2.0 * query.slack_of.tails * sketch_.leaf(leaf).tail;
        raise_to(query,
                 round_down(upper - query.spread - tails - 0x1p-20 * (std::abs(upper) + tails)));
        const float high = high_of(query, score);
        for (std::uint64_t& word : bounds.kept) word = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const auto is_kept = static_cast<std::uint64_t>(!(bounds.upper[j] < high));
            bounds.kept[j / tile_size] |= is_kept << j % tile_size;
        }
        collect(query, leaf, score, bounds);
        return true;
    }

    // Adds the objects of a leaf that some queries keep to their candidates.
    void scan_leaf(std::size_t leaf, const std::size_t* chosen, std::size_t n_chosen) {
        scan_for(chosen, n_chosen, leaf);
        for (std::size_t j = 0; j < n_chosen; ++j) {
            Query& query = queries_[chosen[j]];
            collect(query, leaf, scores_[chosen[j] * n_leaves_ + leaf], bounds_[j]);
            if (query.leasts.size() >= 2 * k_ + first_block) raise(query);
        }
    }

    // Bounds the objects of a leaf for some queries, into bounds_.
    void scan_for(const std::size_t* chosen, std::size_t n_chosen, std::size_t leaf) {
        CodeQuery coded[most_queries];
        for (std::size_t j = 0; j < n_chosen; ++j) {
            const std::size_t at = chosen[j] * n_leaves_ + leaf;
            coded[j] = code(queries_[chosen[j]], leaf, scores_[at]);
            promises_[at] = -HUGE_VALF;
        }
        loops_.scan(sketch_.block(leaf), coded, n_chosen, bounds_.data());
        const std::size_t n_bounds = n_chosen * sketch_.leaf_objects(leaf);
        counts_.bounds += n_bounds;
        counts_.operations += n_bounds * sketch_.dimension();
    }

    // A query as a leaf sees it, from the score of the leaf's centre.
    CodeQuery code(Query& query, std::size_t index, double score) {
        const Leaf& leaf = sketch_.leaf(index);
        query.slack = is_distance_ ? distance_slack(query, index, score)
                                   : query.slack_of.code_norm * leaf.code_norm +
                                         query.slack_of.code_error * leaf.code_error +
                                         query.slack_of.length * leaf.length +
                                         query.slack_of.tail * leaf.tail + 1e-30;
        query.spread = 2 * query.slack + (is_distance_ ? distance_spread(query, leaf) : 0.0);
        CodeQuery coded{query.words.data(),
                        code_bias * query.sum,
                        query.scale * leaf.scale,
                        query.slack_of.tails,
                        -HUGE_VALF,
                        -HUGE_VALF};
        coded.high = high_of(query, score);
        if (query.is_two_sided && coded.high > -HUGE_VALF)
            coded.low = round_up(query.useless.low - score + query.slack);
        return coded;
    }

    // What an upper bound in a leaf must reach, from the score of the leaf's centre.
    static float high_of(const Query& query, double score) {
        if (!query.is_finite || !query.has_useless()) return -HUGE_VALF;
        return round_down(query.useless.high - score - query.slack);
    }

    // By how much bounds from codes may be short, for each length of a leaf: codes of the query and
    // of objects, and every float32 rounding.
    void set_slack(Query& query) const {
        const double rounding = 0x1p-20 * query.row_norm;
        query.slack_of.code_norm = query.code_error + 2 * rounding;
        query.slack_of.code_error = query.row_norm;
        query.slack_of.length = 2 * query.error + rounding_share() * query.row_norm + 3 * rounding;
        query.slack_of.tail = 0x1p-20 * query.tail;
        query.slack_of.tails = round_up(query.tail);
    }

    // The same for distances, where the codes are those of the difference to the centre.
    double distance_slack(Query& query, std::size_t index, double score) {
        const Leaf& leaf = sketch_.leaf(index);
        const double off = query.error + 0x1p-21 * (query.row_norm + leaf.length);
        const double norm =
            (query.is_finite ? quantize(query, sketch_.centre(index)) : HUGE_VAL) + off;
        const double squares = leaf.radius * leaf.radius + leaf.tail * leaf.tail;
        return (rounding_share() * norm + 2 * off) * norm +
               (query.code_error + 0x1p-22 * norm) * leaf.code_norm + norm * leaf.code_error +
               off * leaf.radius +
               0x1p-20 * (norm * (leaf.radius + leaf.code_norm) + squares + query.tail * leaf.tail +
                          std::abs(score)) +
               1e-30;
    }

    // By how much upper bounds on distances lie above lower ones, beside slack and tails: squares
    // of lengths that are not known exactly.
    static double distance_spread(const Query& query, const Leaf& leaf) {
        const double lengths = leaf.length + leaf.radius + leaf.tail;
        const double squares = lengths * lengths + query.tail * query.tail;
        return 8 * lengths * leaf.error + 0x1p-19 * squares +
               0.5 * (query.tail * query.tail - query.least_tail * query.least_tail);
    }

    // Adds the objects of a leaf that a query keeps to its candidates.
    void collect(Query& query, std::size_t leaf, double base, CodeBounds& bounds) {
        const std::size_t n = sketch_.leaf_objects(leaf);
        const std::uint32_t* positions = sketch_.positions(leaf);
        if (n % tile_size != 0) bounds.kept[n / tile_size] &= ~(~std::uint64_t{0} << n % tile_size);
        if (allowed_ || problem_.skip_self) leave_out(query, positions, n, bounds);
        std::size_t n_kept = 0;
        for (std::size_t at = 0; at < n; at += tile_size) {
            n_kept += static_cast<std::size_t>(std::popcount(bounds.kept[at / tile_size]));
        }
        if (n_kept == 0) return;
        const Candidates::Room room = query.candidates.room(n_kept);
        const double above = base + query.slack - query.middle;
        const double below = query.middle - base + query.slack;
        const float to_promise = round_up(above);
        std::size_t i = 0;
        for_each_kept(bounds, n, [&](std::size_t j) {
            float promise = bounds.upper[j] + to_promise;
            promise += 0x1p-22f * __builtin_fabsf(promise);
            room.promises[i] = promise == promise ? promise : HUGE_VALF;
            room.positions[i++] = positions[j];
        });
        if (query.is_two_sided) {  // lower bounds are there once the query has a use for them
            i = 0;
            for_each_kept(bounds, n, [&](std::size_t j) {
                const double other = below - bounds.lower[j];
                const float promise = query.has_useless() ? promise_above(other) : HUGE_VALF;
                room.promises[i] = std::max(room.promises[i], promise);
                ++i;
            });
        }
        if (query.has_leasts) add_leasts(query, leaf, above - query.spread, n_kept, bounds);
    }

    // Adds lower bounds of the scores of what a query keeps, those that may matter.
    void add_leasts(Query& query, std::size_t leaf, double below, std::size_t n_kept,
                    const CodeBounds& bounds) {
        const float* tails = sketch_.block(leaf).tails;
        const float to_least = round_down(below);
        const float twice = 2 * query.slack_of.tails;
        std::size_t n_leasts = query.leasts.size();
        query.leasts.resize(n_leasts + n_kept);
        for_each_kept(bounds, sketch_.leaf_objects(leaf), [&](std::size_t j) {
            const float tail = twice * tails[j];
            const float score = bounds.upper[j] - tail;
            const float sum = score + to_least;
            const float rounding = __builtin_fabsf(sum) + __builtin_fabsf(score) + tail;
            const float least = sum - 0x1p-22f * rounding - 1e-37f;
            query.leasts[n_leasts] = least;
            n_leasts += least >= query.least;
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

    // Keeps nothing that is not searched.
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

    // Notes that k objects have scores of at least `least`.
    void raise_to(Query& query, float least) {
        if (!(least > query.least)) return;
        query.least = least;
        const double score = std::ldexp(static_cast<double>(least), query.shift);
        set_useless(query, sketch_.projection().value_from(problem_.objects, score, query.largest));
    }

    // Raises a query's threshold: by lower bounds, and by its most promising candidates where these
    // leave more than enough.
    void look(Query& query, std::size_t enough) {
        raise(query);
        if (query.has_leasts && query.candidates.size() <= enough) return;
        query.candidates.drop(round_down(query.reach));
        if (query.has_leasts && query.candidates.size() <= enough) return;
        // Of the k best of twice as many objects, about half are new.
        evaluate(query, std::max(first_block, k_ / 2), false);
    }

    // Evaluates the n most promising candidates; if all are wanted, then twice as many of those
    // that are left, and so on.
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

    // Evaluates positions_, and leaves out candidates that are useless then.
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
        query.candidates.drop(round_down(query.reach));
    }

    // All leaves that queries still want, each for all of them. The most promising candidates are
    // evaluated on the way, ever less often, since thresholds rise most at the beginning; the
    // others at the end, when fewer of them are left.
    void sweep() {
        sort_pairs();
        std::size_t next_look = std::min<std::size_t>(pairs_.size(), 2 * queries_.size());
        for (std::size_t at = 0; at < pairs_.size();) {
            const std::uint32_t leaf = pairs_[at].leaf;
            std::size_t chosen[most_queries];
            std::size_t n_chosen = 0;
            for (; at < pairs_.size() && pairs_[at].leaf == leaf; ++at) {
                const std::size_t i = pairs_[at].query;
                if (!(promises_[i * n_leaves_ + leaf] < queries_[i].reach)) chosen[n_chosen++] = i;
            }
            if (n_chosen > 0) scan_leaf(leaf, chosen, n_chosen);
            tick(leaf_size);
            if (at < next_look) continue;
            for (Query& query : queries_) look(query, 4 * k_ + values_per_call);
            next_look *= 2;
        }
        for (Query& query : queries_) {
            raise(query);
            query.candidates.drop(round_down(query.reach));
            evaluate(query, std::max(first_block, k_), true);
        }
    }

    // By leaf, then by query, in which order they came.
    void sort_pairs() {
        std::vector<std::size_t> ends(n_leaves_ + 1);
        for (const Pair& pair : pairs_) ++ends[pair.leaf + 1];
        for (std::size_t leaf = 0; leaf < n_leaves_; ++leaf) ends[leaf + 1] += ends[leaf];
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

    const ScanProblem& problem_;
    const Sketch& sketch_;
    const std::vector<char>* allowed_;
    Worker& worker_;
    const CodeLoops& loops_;
    bool is_distance_;
    decltype(CodeLoops::bound_products) bound_;
    std::size_t n_leaves_;  // rounded up to whole groups
    std::size_t n_groups_;  // of leaves, rounded up likewise; 0 where all leaves are looked at
    const double* thresholds_ = nullptr;
    std::size_t k_ = 1;
    std::size_t work_ = 0;
    SketchCounts counts_;
    std::vector<Query> queries_;
    Coordinates coordinates_;
    std::vector<float> scores_;    // of the centres of leaves, queries_.size() x n_leaves_
    std::vector<float> promises_;  // of leaves; minus infinity once searched
    std::vector<LeafQuery> leaf_queries_;
    std::vector<float> group_scores_;
    std::vector<float> group_promises_;  // minus infinity once the group is open
    std::vector<std::uint32_t> opened_;  // groups of the query looked at
    std::vector<std::uint32_t> chosen_;
    std::vector<Pair> pairs_;
    std::vector<float> difference_;
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
    std::vector<CodeBounds> bounds_;
};

// Calls answer(search) for each group of queries on up to `threads` threads.
template <class Answer>
SketchCounts for_each_group(const ScanProblem& problem, const Sketch& sketch, std::size_t k,
                            std::size_t threads, const Watch& watch, Answer answer) {
    const std::size_t n = problem.queries.size();
    std::size_t group = std::clamp<std::size_t>(most_bounds / sketch.n_leaves(), 4, most_queries);
    group = std::max<std::size_t>(1, std::min(group, (n + threads - 1) / threads));
    std::vector<char> allowed;
    if (problem.among.size < problem.objects.size()) {
        allowed.assign(problem.objects.size(), 0);
        for (std::size_t i = 0; i < problem.among.size; ++i) allowed[problem.among[i]] = 1;
    }
    SketchCounts total;
    std::mutex mutex;
    parallel_for((n + group - 1) / group, threads, watch, [&](std::size_t task, Worker& worker) {
        GroupSearch search(problem, sketch, allowed.empty() ? nullptr : &allowed, worker);
        const std::size_t begin = task * group, end = std::min(n, begin + group);
        search.start(begin, end, k);
        answer(search);
        worker.advance(end - begin);
        const std::lock_guard lock(mutex);
        total.evaluations += search.counts().evaluations;
        total.projections += search.counts().projections;
        total.bounds += search.counts().bounds;
        total.operations += search.counts().operations;
    });
    return total;
}

}  // namespace

SketchCounts sketch_top_k(const ScanProblem& problem, const Sketch& sketch, std::size_t k,
                          std::size_t threads, const Watch& watch, double* values,
                          std::int64_t* positions) {
    return for_each_group(problem, sketch, k, threads, watch, [&](GroupSearch& search) {
        search.top_k(k);
        for (Query& query : search.queries()) {
            const std::vector<Hit>& hits = query.best.sorted();
            for (std::size_t rank = 0; rank < k; ++rank) {
                values[problem.row(query.index) * k + rank] = hits[rank].value;
                positions[problem.row(query.index) * k + rank] = hits[rank].position;
            }
        }
    });
}

SketchCounts sketch_above(const ScanProblem& problem, const Sketch& sketch,
                          const double* thresholds, std::size_t threads, const Watch& watch,
                          std::vector<std::vector<Hit>>& answers) {
    answers.resize(problem.queries.size());
    return for_each_group(problem, sketch, 1, threads, watch, [&](GroupSearch& search) {
        search.above(thresholds);
        for (Query& query : search.queries()) answers[query.index] = std::move(query.found);
    });
}

}  // namespace fastmks
