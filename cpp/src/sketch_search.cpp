#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "fastmks/sketch.hpp"
#include "fastmks/vector_loops.hpp"

namespace fastmks {
namespace {

constexpr double up = 1 + 0x1p-20;
constexpr std::size_t most_queries = 64;                   // of one group
constexpr std::size_t most_bounds = std::size_t{1} << 17;  // of leaves, of one group
constexpr std::size_t first_block = 16;  // candidates evaluated before another look
constexpr std::size_t values_per_call = 256;
constexpr std::size_t few_leaves = 16;  // are searched query by query

float round_down(double x) {
    const auto rounded = static_cast<float>(x);
    return rounded > x ? std::nextafter(rounded, -HUGE_VALF) : rounded;
}

float round_up(double x) {
    return -round_down(-x);
}

struct Candidate {
    double promise;  // at least the distance of its score from the middle of its query's range
    std::uint32_t position;
};

// One query: where it lies, what it has found, and which scores are no use to it any more.
struct Query {
    Query(std::size_t index_, std::size_t k) : index(index_), best(k) {}

    std::size_t index;
    std::unique_ptr<QueryBatch> batch;
    TopK best;
    std::vector<Candidate> candidates;
    std::vector<Hit> found;  // for searches above a threshold

    std::vector<float> row;    // coordinates
    std::vector<float> mixed;  // and mixed ones
    std::vector<std::int32_t> words;
    double norm = 0.0;  // these lengths err above
    double row_norm = 0.0;
    double tail = 0.0;
    double least_tail = 0.0;
    double error = 0.0;  // of the coordinates
    double code_error = 0.0;
    double code_norm = 0.0;
    float scale = 0.0f;
    std::int32_t sum = 0;
    int shift = 0;  // scores here are true ones times 2^-shift
    bool is_finite = true;

    double largest = 0.0;  // no score is greater in magnitude; true units
    double middle = 0.0;   // the rest in units of the sketch
    ScoreRange useless = ScoreRange::empty();
    double reach = -HUGE_VAL;  // a score nearer to the middle is useless
};

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
          n_leaves_(sketch.n_leaf_groups() * group_size) {}

    // Prepares queries [begin, end).
    void start(std::size_t begin, std::size_t end, std::size_t k) {
        queries_.clear();
        sketch_.projection().project(problem_.queries, begin, end, coordinates_);
        for (std::size_t i = begin; i < end; ++i) {
            Query& query = queries_.emplace_back(i, k);
            query.batch = problem_.queries.batch(i, i + 1);
            place(i - begin, query);
        }
        counts_.projections += (end - begin) * sketch_.projection().evaluations();
        counts_.operations += (end - begin) * sketch_.projection().operations();
        bound_leaves();
    }

    void top_k(std::size_t k) {
        for (Query& query : queries_) begin_top_k(query, k);
        sweep();
    }

    void above(const double* thresholds) {
        for (Query& query : queries_) {
            query.best.clear();
            set_useless(query, thresholds[query.index]);
        }
        threshold_ = thresholds;
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
        const std::size_t n_coordinates = sketch_.n_words() * bytes_per_word;
        const int exponent = coordinates_.exponents[i];
        // Distances need the unit of the objects; products may have one for each query.
        const int moved = is_distance_ ? exponent - sketch_.exponent() : 0;
        const double unit = std::ldexp(1.0, std::clamp(moved, -1000, 1000));
        query.shift = is_distance_ ? 2 * sketch_.exponent() : sketch_.exponent() + exponent;
        query.norm = coordinates_.norms[i] * unit * up;
        query.tail = coordinates_.tails[i] * unit * up;
        query.least_tail = coordinates_.least_tails[i] * unit * (2 - up);
        query.error = coordinates_.errors[i] * unit + query.norm * 0x1p-22 + 1e-36;
        std::vector<double> row(dimension), mixed(n_coordinates);
        double square = 0.0;
        query.row.resize(dimension);
        for (std::size_t c = 0; c < dimension; ++c) {
            row[c] = coordinates_.rows[i * dimension + c] * unit;
            query.row[c] = static_cast<float>(row[c]);
            square += row[c] * row[c];
        }
        query.row_norm = std::sqrt(square) * up + query.error;
        sketch_.mix(row.data(), mixed.data());
        query.mixed.assign(mixed.begin(), mixed.end());
        query.words.resize(sketch_.n_words());
        query.is_finite = query.norm < 1e15;  // squares of float32 numbers are still finite
        const double longest =
            is_distance_ ? 0.5 * (query.norm + sketch_.norm()) * (query.norm + sketch_.norm())
                         : query.norm * sketch_.norm();
        query.largest = std::ldexp(longest * up, query.shift);
        if (query.is_finite && !is_distance_) quantize(query.mixed.data(), query);
    }

    // Sets the codes of a query from mixed coordinates.
    void quantize(const float* mixed, Query& query) {
        float left = 0.0f;
        query.scale =
            loops_.quantize(mixed, sketch_.n_words(), query.words.data(), &query.sum, &left);
        query.code_error = std::sqrt(static_cast<double>(left)) * up;
    }

    // Bounds on scores with all objects of each leaf: for each query, upper ones, lower ones where
    // they matter, and the score of the centre.
    void bound_leaves() {
        const std::size_t n = queries_.size() * n_leaves_;
        products_.resize(n);
        reaches_.resize(n);
        const auto& bound = is_distance_ ? loops_.leaf_distances : loops_.leaf_products;
        for (std::size_t i = 0; i < queries_.size(); ++i) {
            for (std::size_t group = 0; group < sketch_.n_leaf_groups(); ++group) {
                const std::size_t at = i * n_leaves_ + group * group_size;
                bound(sketch_.leaf_group(group), queries_[i].row.data(), products_.data() + at,
                      reaches_.data() + at);
            }
            for (std::size_t leaf = 0; leaf < sketch_.n_leaves(); ++leaf) {
                bound_leaf(i, leaf);
            }
        }
        counts_.bounds += queries_.size() * sketch_.n_leaves();
        counts_.operations += 2 * queries_.size() * n_leaves_ * sketch_.dimension();
        worker_.advance(0);
    }

    // What rounding can change in the score of a leaf's centre.
    [[nodiscard]] double product_slack(const Query& query, const Leaf& leaf, double product) const {
        const auto roundings = static_cast<double>(sketch_.dimension() + 16);
        if (is_distance_) {
            // The differences are off by a share of the coordinates, their squares round.
            const double off = 0x1p-22 * (query.row_norm + leaf.centre_norm) + query.error;
            const double length = std::sqrt(std::max(0.0, -2.0 * product)) * up;
            return roundings * 0x1p-23 * length * length + (length + off) * off + 1e-30;
        }
        return roundings * 0x1p-23 * query.row_norm * (leaf.centre_norm + leaf.radius) +
               query.error * leaf.centre_norm + 1e-30;
    }

    // From sums over coordinates to the score of the centre, and the most that an object of the
    // leaf can lie beside it.
    void bound_leaf(std::size_t i, std::size_t index) {
        const Query& query = queries_[i];
        const Leaf& leaf = sketch_.leaf(index);
        float& product = products_[i * n_leaves_ + index];
        float& reach = reaches_[i * n_leaves_ + index];
        if (!query.is_finite) {
            reach = HUGE_VALF;
            return;
        }
        if (!is_distance_) {
            const double slack = product_slack(query, leaf, product);
            const double ball = query.row_norm * leaf.radius;
            const double box = reach * up + query.error * leaf.radius;
            reach = round_up(std::min(ball, box) + query.tail * leaf.greatest_tail + slack);
            return;
        }
        const double square = product;
        const double ball = std::sqrt(square) * (2 - up) - leaf.radius;
        const double outside =
            std::max({0.0, query.least_tail - leaf.greatest_tail, leaf.least_tail - query.tail});
        const double gap =
            std::max(ball > 0.0 ? ball * ball : 0.0, reach * (2 - up)) + outside * outside;
        product = static_cast<float>(-0.5 * (square + query.least_tail * query.least_tail));
        reach = round_up(-0.5 * gap - product + product_slack(query, leaf, product));
    }

    [[nodiscard]] bool is_wanted(std::size_t i, std::size_t leaf) const noexcept {
        const double middle = queries_[i].middle;
        const double product = products_[i * n_leaves_ + leaf];
        const double reach = reaches_[i * n_leaves_ + leaf];
        const double promise = queries_[i].useless.low > -HUGE_VAL
                                   ? std::abs(product - middle) + reach
                                   : product + reach - middle;
        return !(promise < queries_[i].reach);
    }

    // Notes that only values of at least `value` matter to a query.
    void set_useless(Query& query, double value) {
        const ScoreRange range = sketch_.projection().scores_below(
            problem_.objects, problem_.queries, value, query.largest);
        if (!(range.low < range.high)) return;
        query.useless = {std::ldexp(range.low, -query.shift), std::ldexp(range.high, -query.shift)};
        if (query.useless.low > -HUGE_VAL) {
            query.middle = 0.5 * query.useless.low + 0.5 * query.useless.high;
            query.reach =
                std::min(query.middle - query.useless.low, query.useless.high - query.middle) *
                (2 - up);
        } else {
            query.reach = query.useless.high;
        }
    }

    // A first threshold: the best of the most promising leaves, and all of them if they are few.
    void begin_top_k(Query& query, std::size_t k) {
        const std::size_t i = static_cast<std::size_t>(&query - queries_.data());
        std::size_t n_seen = 0;
        while (n_seen < sketch_.n_leaves() && !query.best.is_full()) {
            search_leaf(i, best_leaf(i), k - query.best.hits().size());
            ++n_seen;
        }
        wanted_.clear();
        for (std::size_t leaf = 0; leaf < sketch_.n_leaves(); ++leaf) {
            if (!is_done(i, leaf) && is_wanted(i, leaf)) wanted_.push_back(leaf);
            if (wanted_.size() > few_leaves) return;
        }
        std::sort(wanted_.begin(), wanted_.end(), [&](std::size_t a, std::size_t b) {
            return products_[i * n_leaves_ + a] + reaches_[i * n_leaves_ + a] >
                   products_[i * n_leaves_ + b] + reaches_[i * n_leaves_ + b];
        });
        for (const std::size_t leaf : wanted_) {
            if (is_wanted(i, leaf)) search_leaf(i, leaf, leaf_size);
        }
    }

    [[nodiscard]] bool is_done(std::size_t i, std::size_t leaf) const noexcept {
        return reaches_[i * n_leaves_ + leaf] == -HUGE_VALF;
    }

    [[nodiscard]] std::size_t best_leaf(std::size_t i) const noexcept {
        std::size_t best = 0;
        double greatest = -HUGE_VAL;
        for (std::size_t leaf = 0; leaf < sketch_.n_leaves(); ++leaf) {
            if (is_done(i, leaf)) continue;
            const double bound = static_cast<double>(products_[i * n_leaves_ + leaf]) +
                                 reaches_[i * n_leaves_ + leaf];
            if (!(bound <= greatest)) {
                greatest = bound;
                best = leaf;
            }
        }
        return best;
    }

    // One query and one leaf: evaluates at first only the `first` most promising objects.
    void search_leaf(std::size_t i, std::size_t leaf, std::size_t first) {
        Query* const query = &queries_[i];
        scan_leaf(leaf, &i, 1);
        evaluate(*query, first);
    }

    // Adds the objects of a leaf that up to queries_at_once queries keep to their candidates.
    void scan_leaf(std::size_t index, const std::size_t* chosen, std::size_t n_chosen) {
        const Leaf& leaf = sketch_.leaf(index);
        CodeQuery coded[queries_at_once];
        double bases[queries_at_once];
        double slacks[queries_at_once];
        for (std::size_t j = 0; j < n_chosen; ++j) {
            const std::size_t at = chosen[j] * n_leaves_ + index;
            coded[j] = code(queries_[chosen[j]], leaf, index, products_[at], bases[j], slacks[j]);
            reaches_[at] = -HUGE_VALF;
        }
        loops_.scan(sketch_.block(index), coded, n_chosen, bounds_);
        counts_.bounds += n_chosen * sketch_.leaf_objects(index);
        counts_.operations +=
            n_chosen * sketch_.leaf_objects(index) * sketch_.n_words() * bytes_per_word;
        for (std::size_t j = 0; j < n_chosen; ++j) {
            collect(queries_[chosen[j]], index, bases[j], slacks[j], bounds_[j]);
        }
    }

    CodeQuery code(Query& query, const Leaf& leaf, std::size_t index, double product, double& base,
                   double& slack) {
        double row_norm = query.row_norm;
        double extra = 0.0;
        if (is_distance_ && query.is_finite) {
            const float* centre = sketch_.mixed_centre(index);
            const std::size_t n = sketch_.n_words() * bytes_per_word;
            mixed_.resize(n);
            double square = 0.0;
            for (std::size_t c = 0; c < n; ++c) {
                mixed_[c] = query.mixed[c] - centre[c];
                square += static_cast<double>(mixed_[c]) * mixed_[c];
            }
            quantize(mixed_.data(), query);
            // The difference rounds, and both have errors of their own.
            const double off = query.error + 0x1p-21 * (query.row_norm + leaf.centre_norm);
            row_norm = std::sqrt(square) * up + off;
            extra = off * leaf.radius;
        } else {
            extra = query.error * leaf.radius;
        }
        base = product;
        // Codes of query and objects, and every float32 rounding from here on.
        slack = (query.code_error + 1e-9 * row_norm) * leaf.code_norm + row_norm * leaf.code_error +
                extra + product_slack(query, leaf, product) +
                0x1p-20 * (row_norm * (leaf.radius + leaf.code_norm) + leaf.radius * leaf.radius +
                           query.tail * leaf.greatest_tail +
                           (is_distance_ ? leaf.greatest_tail * leaf.greatest_tail : 0.0));
        if (!query.is_finite) slack = HUGE_VAL;
        const double scale = query.scale * leaf.scale;
        CodeQuery coded{query.words.data(),
                        code_bias * query.sum,
                        static_cast<float>(scale),
                        round_up(query.tail),
                        round_down(query.useless.high - base - slack),
                        -HUGE_VALF};
        if (query.useless.low > -HUGE_VAL) coded.low = round_up(query.useless.low - base + slack);
        if (!(query.useless.low < query.useless.high)) coded.high = -HUGE_VALF;
        if (!query.is_finite) coded.high = coded.low = -HUGE_VALF;
        return coded;
    }

    void collect(Query& query, std::size_t leaf, double base, double slack,
                 const CodeBounds& bounds) {
        const std::size_t n = sketch_.leaf_objects(leaf);
        const bool is_two_sided = query.useless.low > -HUGE_VAL;
        for (std::size_t word = 0; word * 64 < n; ++word) {
            std::uint64_t kept = bounds.kept[word];
            for (; kept != 0; kept &= kept - 1) {
                const std::size_t j = word * 64 + static_cast<std::size_t>(std::countr_zero(kept));
                if (j >= n) break;
                const std::uint32_t position = sketch_.positions(leaf)[j];
                if (allowed_ && !(*allowed_)[position]) continue;
                if (problem_.skip_self && position == query.index) continue;
                double promise = bounds.upper[j] + base + slack - query.middle;
                if (is_two_sided) {
                    promise = std::max(promise, query.middle - (bounds.lower[j] + base - slack));
                }
                // What is not a number promises everything.
                query.candidates.push_back({promise == promise ? promise : HUGE_VAL, position});
            }
        }
    }

    // Evaluates candidates in the order of their promise, at first `first` of them, until no
    // useful one is left.
    void evaluate(Query& query, std::size_t first) {
        auto& candidates = query.candidates;
        const auto drop = [&] {
            const double reach = query.reach;
            std::erase_if(candidates, [=](const Candidate& c) { return c.promise < reach; });
        };
        drop();
        std::size_t block = std::min(std::max<std::size_t>(first, 1), values_per_call);
        while (!candidates.empty()) {
            if (threshold_ == nullptr && candidates.size() > block) {
                std::nth_element(
                    candidates.begin(), candidates.end() - static_cast<std::ptrdiff_t>(block),
                    candidates.end(),
                    [](const Candidate& a, const Candidate& b) { return a.promise < b.promise; });
            }
            const std::size_t n = std::min(block, candidates.size());
            positions_.clear();
            for (std::size_t j = candidates.size() - n; j < candidates.size(); ++j) {
                positions_.push_back(candidates[j].position);
            }
            candidates.resize(candidates.size() - n);
            if (evaluate_positions(query)) {
                set_useless(query, query.best.threshold());
                drop();
            }
            block = std::min(2 * std::max(block, first_block), values_per_call);
        }
    }

    // True when a better k-th value was found.
    bool evaluate_positions(Query& query) {
        std::sort(positions_.begin(), positions_.end());
        values_.resize(positions_.size());
        problem_.objects.values(*query.batch, Selection::list(positions_.data(), positions_.size()),
                                values_.data());
        counts_.evaluations += positions_.size();
        worker_.advance(0);
        const double before = query.best.threshold();
        for (std::size_t j = 0; j < positions_.size(); ++j) {
            const Hit hit{values_[j], problem_.name(static_cast<std::size_t>(positions_[j]))};
            if (threshold_ == nullptr) {
                query.best.offer(hit);
            } else if (hit.value >= threshold_[query.index]) {
                query.found.push_back(hit);
            }
        }
        return query.best.threshold() > before;
    }

    // All leaves that any query still wants, each for up to queries_at_once queries at a time.
    // Candidates are evaluated ever less often: thresholds rise at the beginning.
    void sweep() {
        std::size_t next_look = 4;
        for (std::size_t leaf = 0; leaf < sketch_.n_leaves(); ++leaf) {
            std::size_t chosen[queries_at_once];
            std::size_t n_chosen = 0;
            for (std::size_t i = 0; i < queries_.size(); ++i) {
                if (is_done(i, leaf) || !is_wanted(i, leaf)) continue;
                chosen[n_chosen++] = i;
                if (n_chosen == queries_at_once) {
                    scan_leaf(leaf, chosen, n_chosen);
                    n_chosen = 0;
                }
            }
            if (n_chosen > 0) scan_leaf(leaf, chosen, n_chosen);
            if (leaf + 1 == next_look || leaf + 1 == sketch_.n_leaves()) {
                for (Query& query : queries_) evaluate(query, first_block);
                next_look += std::max<std::size_t>(4, next_look / 2);
            }
            if (leaf % 16 == 0) worker_.advance(0);
        }
    }

    const ScanProblem& problem_;
    const Sketch& sketch_;
    const std::vector<char>* allowed_;
    Worker& worker_;
    const CodeLoops& loops_;
    bool is_distance_;
    std::size_t n_leaves_;  // rounded up to whole groups
    const double* threshold_ = nullptr;
    SketchCounts counts_;
    std::vector<Query> queries_;
    Coordinates coordinates_;
    std::vector<float> products_;  // scores of the centres of leaves, queries_.size() x n_leaves_
    std::vector<float> reaches_;   // and how far objects go beyond; minus infinity once searched
    std::vector<std::size_t> wanted_;
    std::vector<float> mixed_;
    std::vector<std::int64_t> positions_;
    std::vector<double> values_;
    CodeBounds bounds_[queries_at_once];
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
