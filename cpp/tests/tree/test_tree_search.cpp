// Searches on trees against the simplest search, and checks of their counts.

#include "fastmks/core/faults.hpp"
#include "fastmks/tree/tree_search.hpp"

#include "fastmks/core/geometry.hpp"
#include "tests/support/testing.hpp"
#include "tests/support/trees.hpp"

namespace {

double product(const Vectors& x, std::size_t i, const Vectors& y, std::size_t j) {
    return canonical_product(x.row(i), y.row(j), x.n_columns);
}

std::unique_ptr<TableSpace> queries_of(const Vectors& vectors) {
    return std::make_unique<TableSpace>(vectors.n_rows, [&](std::size_t i, std::size_t j) {
        return product(vectors, i, vectors, j);
    });
}

// Vectors of whole numbers, whose inner products are exact and often tie, and their tree.
struct Tabled {
    explicit Tabled(Vectors vectors)
        : given(std::move(vectors)),
          tree(build_cover_tree(*queries_of(given), 1.3, 1, ignore)),
          ordered(in_order(given, tree)) {}
    Vectors given;
    CoverTree tree;
    Vectors ordered;
};

// K(query, object) of the objects in the tree's order.
std::unique_ptr<TableSpace> values_of(const Tabled& objects, const Vectors& queries) {
    return std::make_unique<TableSpace>(objects.given.n_rows, [&](std::size_t q, std::size_t x) {
        return product(queries, q, objects.ordered, x);
    });
}

// Queries to some objects; `space` counts the evaluations.
struct Asked {
    Asked(const Tabled& objects, const Vectors& queries)
        : tree(objects.tree), space(values_of(objects, queries)), own(queries_of(queries)) {}
    [[nodiscard]] TreeProblem problem(const Traversal& traversal = {}) const {
        return {tree, *space, *own, {}, false, traversal};
    }
    const CoverTree& tree;
    std::unique_ptr<TableSpace> space;
    std::unique_ptr<TableSpace> own;  // of the queries among themselves
};

struct Answers {
    Answers(std::size_t n_queries, std::size_t k)
        : values(n_queries * k, -7.0), positions(n_queries * k, -7), gaps(n_queries, -7.0) {}
    TopKAnswers out() { return {values.data(), positions.data(), gaps.data()}; }
    bool operator==(const Answers& other) const {
        return same_bits(values, other.values) && positions == other.positions;
    }
    [[nodiscard]] bool is_exact() const {
        return std::all_of(gaps.begin(), gaps.end(), [](double gap) { return gap == 0.0; });
    }
    std::vector<double> values;
    std::vector<std::int64_t> positions;
    std::vector<double> gaps;
};

// By sorting all; `among` holds positions as given.
Answers plainest(const Tabled& objects, const Vectors& queries, std::size_t k,
                 bool skip_self = false, const std::vector<std::int64_t>* among = nullptr) {
    Answers answers(queries.n_rows, k);
    for (std::size_t q = 0; q < queries.n_rows; ++q) {
        std::vector<Hit> hits;
        for (std::size_t x = 0; x < objects.given.n_rows; ++x) {
            const auto position = static_cast<std::int64_t>(x);
            if (skip_self && x == q) continue;
            if (among && std::find(among->begin(), among->end(), position) == among->end())
                continue;
            hits.push_back({product(queries, q, objects.given, x), position});
        }
        std::stable_sort(hits.begin(), hits.end(), [](Hit a, Hit b) { return a.value > b.value; });
        for (std::size_t rank = 0; rank < k; ++rank) {
            answers.values[q * k + rank] = hits[rank].value;
            answers.positions[q * k + rank] = hits[rank].position;
        }
    }
    return answers;
}

const Traversal traversals[] = {{Order::best_first, 1, 0, {}},
                                {Order::best_first, 10, 0, {}},
                                {Order::best_first, 3, 5, {}},
                                {Order::level, 1, 0, {}},
                                {Order::level, 20, 0, {}},
                                {Order::best_first, 1, 0, {true, false, false, false}},
                                {Order::level, 5, 0, {false, true, true, true}}};

std::string name_of(const Traversal& traversal) {
    return std::string(traversal.order == Order::level ? "level" : "best first") +
           text(", block", traversal.block);
}

const Tabled& some_objects() {
    static const Tabled objects(whole_numbers(700, 3, 1));
    return objects;
}

}  // namespace

TEST(tree_searches_lose_nothing_and_count_right) {
    const Tabled& objects = some_objects();
    const auto queries = whole_numbers(40, 3, 2);
    for (const Traversal& traversal : traversals) {
        for (const std::size_t k : {std::size_t{1}, std::size_t{5}, std::size_t{700}}) {
            for (const std::size_t threads : {1, 3}) {
                const check::Context here(name_of(traversal) + text(", k", k));
                const Asked asked(objects, queries);
                const TreeProblem problem = asked.problem(traversal);
                Answers answers(40, k);
                const auto counts = tree_top_k(problem, k, {}, {}, threads, ignore, answers.out());
                CHECK(answers == plainest(objects, queries, k) && answers.is_exact());
                CHECK(counts.evaluations == asked.space->n_evaluations);
                CHECK(k == 700 ? counts.evaluations == 40 * 700 : counts.evaluations < 20 * 700);
            }
        }
    }
}

TEST(dual_tree_searches_lose_nothing_and_count_right) {
    const Tabled& objects = some_objects();
    for (const std::size_t n_queries : {1, 9, 300}) {
        const Tabled queries(whole_numbers(n_queries, 3, 3));
        for (const Traversal& traversal : traversals) {
            for (const std::size_t k : {std::size_t{1}, std::size_t{5}, std::size_t{700}}) {
                const check::Context here(name_of(traversal) + text(", k", k) +
                                          text(", queries", n_queries));
                const Asked asked(objects, queries.ordered);
                const TreeProblem problem = asked.problem(traversal);
                Answers answers(n_queries, k);
                const auto counts =
                    dual_tree_top_k(problem, queries.tree, k, {}, 2, ignore, answers.out());
                CHECK(answers == plainest(objects, queries.given, k) && answers.is_exact());
                CHECK(counts.evaluations == asked.space->n_evaluations);
            }
        }
    }
}

TEST(trees_skip_the_query_itself) {
    const Tabled& objects = some_objects();
    const auto space = values_of(objects, objects.ordered);
    for (const std::size_t k : {1, 4}) {
        const auto wanted = plainest(objects, objects.given, k, true);
        const TreeProblem problem{objects.tree, *space, *space, {}, true, {}};
        Answers single(700, k), dual(700, k);
        tree_top_k(problem, k, {}, {}, 2, ignore, single.out());
        dual_tree_top_k(problem, objects.tree, k, {}, 2, ignore, dual.out());
        CHECK(single == wanted && dual == wanted);
    }
}

TEST(trees_skip_the_query_itself_among_some) {
    const auto centres = whole_numbers(10, 3, 10);
    auto vectors = whole_numbers(700, 3, 9);  // in ten clusters far apart
    for (std::size_t at = 0; at < 2100; ++at) vectors.data[at] += 99 * centres.data[at % 30];
    const Tabled objects(std::move(vectors));
    const auto space = values_of(objects, objects.ordered);
    for (const std::size_t step : {3, 20, 100}) {
        std::vector<std::int64_t> places, positions;
        for (std::size_t place = 1; place < 700; place += step) {
            places.push_back(static_cast<std::int64_t>(place));
            positions.push_back(objects.tree.order[place]);
        }
        const auto wanted = plainest(objects, objects.given, 1, true, &positions);
        const TreeProblem problem{objects.tree, *space, *space, places, true, {}};
        Answers single(700, 1), dual(700, 1);
        tree_top_k(problem, 1, {}, {}, 1, ignore, single.out());
        dual_tree_top_k(problem, objects.tree, 1, {}, 1, ignore, dual.out());
        CHECK(single == wanted && dual == wanted);
    }
}

TEST(searches_above_a_threshold_count_right) {
    const Tabled& objects = some_objects();
    const auto queries = whole_numbers(40, 3, 4);
    const auto all = plainest(objects, queries, 700);
    for (const Traversal& traversal : traversals) {
        const Asked asked(objects, queries);
        const TreeProblem problem = asked.problem(traversal);
        std::vector<double> thresholds;
        for (std::size_t q = 0; q < 40; ++q) thresholds.push_back(all.values[q * 700 + 3 * q]);
        std::vector<std::vector<Hit>> found;
        const auto counts = tree_above(problem, thresholds.data(), 2, ignore, found);
        CHECK(counts.evaluations == asked.space->n_evaluations && counts.evaluations < 20 * 700);
        for (std::size_t q = 0; q < 40; ++q) {
            std::size_t n = 0;
            bool same = true;
            for (; n < 700 && all.values[q * 700 + n] >= thresholds[q]; ++n) {
                same = same && n < found[q].size() &&
                       found[q][n].position == all.positions[q * 700 + n];
            }
            CHECK(same && found[q].size() == n);
        }
    }
}

TEST(a_budget_is_never_exceeded) {
    const Tabled& objects = some_objects();
    const auto queries = whole_numbers(1, 3, 5);
    const auto wanted = plainest(objects, queries, 3);
    for (const Traversal& traversal : traversals) {
        double before = -infinity;
        for (const std::size_t budget : {3, 4, 5, 7, 12, 30, 31, 32, 100, 300, 699, 700, 5000}) {
            const check::Context here(name_of(traversal) + text(", budget", budget));
            const Asked asked(objects, queries);
            const StopRule stop{.budget = budget};
            Answers answers(1, 3);
            tree_top_k(asked.problem(traversal), 3, stop, {}, 1, ignore, answers.out());
            CHECK(asked.space->n_evaluations <= budget);
            CHECK(wanted.values[2] <= answers.values[2] + answers.gaps[0]);
            CHECK(answers.gaps[0] > 0.0 || answers == wanted);
            CHECK(budget < 700 || answers.is_exact());
            CHECK(answers.values[2] >= before);
            before = answers.values[2];
        }
    }
}

TEST(an_approximate_dual_search_finds_k_within_its_error) {
    const Tabled& objects = some_objects();
    const Tabled queries(whole_numbers(200, 3, 6));
    const Asked asked(objects, queries.ordered);
    const auto wanted = plainest(objects, queries.given, 5);
    for (const double epsilon : {1.0, 10.0, 100.0, 1000.0, 1e9}) {
        const check::Context here("epsilon " + std::to_string(epsilon));
        const StopRule stop{.epsilon = epsilon};
        Answers answers(200, 5);
        dual_tree_top_k(asked.problem(), queries.tree, 5, stop, 2, ignore, answers.out());
        bool is_within = true;
        for (std::size_t at = 0; at < 1000; ++at) {
            is_within = is_within && answers.values[at] >= wanted.values[at] - epsilon;
            is_within = is_within && answers.positions[at] >= 0 && answers.positions[at] < 700;
            const double missed = wanted.values[at] - answers.values[at];
            is_within = is_within && (at % 5 != 4 || missed <= answers.gaps[at / 5]);
        }
        CHECK(is_within);
    }
}

TEST(values_no_mercer_kernel_has_stop_a_search) {
    const Tabled& objects = some_objects();
    const auto queries = whole_numbers(1, 3, 7);
    const auto query_space = queries_of(queries);
    for (const double factor : {1e3, -1e3}) {
        const TableSpace space(700, [&](std::size_t q, std::size_t x) {
            return factor * (1.0 + std::abs(product(queries, q, objects.ordered, x)));
        });
        Answers answers(1, 2);
        const TreeProblem problem{objects.tree, space, *query_space, {}, false, {}};
        CHECK_THROWS(NotMercerFault, tree_top_k(problem, 2, {}, {}, 1, ignore, answers.out()));
    }
    const auto space = values_of(objects, queries);
    const TableSpace negative(1, [](std::size_t, std::size_t) { return -1.0; });
    Answers answers(1, 2);
    const TreeProblem problem{objects.tree, *space, negative, {}, false, {}};
    CHECK_THROWS(NotMercerFault, tree_top_k(problem, 2, {}, {}, 1, ignore, answers.out()));
}

TEST(an_exception_from_the_watch_stops_a_tree_search) {
    const Tabled& objects = some_objects();
    const Tabled queries(whole_numbers(400, 3, 8));
    for (const std::size_t threads : {1, 2}) {
        for (const bool is_dual : {false, true}) {
            const Asked asked(objects, queries.ordered);
            const TreeProblem problem = asked.problem();
            Answers answers(400, 1);
            const auto search = [&](const Watch& watch) {
                return is_dual ? dual_tree_top_k(problem, queries.tree, 1, {}, threads, watch,
                                                 answers.out())
                               : tree_top_k(problem, 1, {}, {}, threads, watch, answers.out());
            };
            const std::size_t all = search(ignore).evaluations;
            asked.space->n_evaluations = 0;
            const Watch watch = [](std::size_t) { throw std::runtime_error("enough"); };
            CHECK_THROWS(std::runtime_error, search(watch));
            CHECK(asked.space->n_evaluations < all);
        }
    }
}
