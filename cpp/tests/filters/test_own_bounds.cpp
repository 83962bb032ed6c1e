// The search in the order of bounds against the scan, whatever the bounds are like.

#include "fastmks/core/faults.hpp"
#include "fastmks/filters/own_bounds.hpp"

#include "fastmks/spaces/algebra.hpp"
#include "tests/support/testing.hpp"

namespace {

// Few different values, so that ties are everywhere.
double tied(std::size_t query, std::size_t object) {
    return static_cast<double>((query * 7919 + object * 104729 + query * object) % 1009 % 7) - 3.0;
}

Answer filtered(const ScanProblem& problem, std::size_t k, std::size_t threads,
                BoundCounts& counts) {
    Answer answer(problem.queries, k);
    counts = own_bounds_top_k(problem, k, threads, ignore, answer.values.data(),
                              answer.positions.data());
    return answer;
}

TableSpace bounded(std::size_t n, double slack) {
    TableSpace space(n, tied);
    space.bound = [slack](std::size_t query, std::size_t object) -> double {
        if (object % 11 == 3) return NAN;  // bounds nothing
        return tied(query, object) + slack * static_cast<double>((query + object) % 3);
    };
    return space;
}

}  // namespace

TEST(filter_finds_what_the_scan_finds) {
    const std::vector<std::int64_t> some{1, 2, 5, 8, 13, 40, 41, 99, 150, 299};
    const std::vector<std::int64_t> names = mixed_names(300, 0);
    for (const double slack : {0.0, 0.5, 100.0}) {
        const TableSpace objects = bounded(300, slack), queries(20, tied);
        for (const bool is_all : {true, false}) {
            for (const bool is_named : {true, false}) {
                const ScanProblem problem{
                    objects, queries,
                    is_all ? Selection::range(0, 300) : Selection::list(some.data(), some.size()),
                    false, is_named ? names.data() : nullptr};
                for (const std::size_t k : {1, 3, 10}) {
                    BoundCounts one, many;
                    const Answer truth = scanned(problem, k);
                    CHECK(filtered(problem, k, 1, one) == truth);
                    CHECK(filtered(problem, k, 3, many) == truth);
                    CHECK(one.evaluations == many.evaluations && one.bounds == many.bounds);
                    CHECK(one.bounds == 20 * problem.among.size);
                    CHECK(one.evaluations <= one.bounds);
                }
                std::vector<double> thresholds(20, 2.0);
                std::vector<std::vector<Hit>> found;
                own_bounds_above(problem, thresholds.data(), 2, ignore, found);
                const auto truth = scan_above(problem, thresholds.data(), 1, ignore);
                for (std::size_t i = 0; i < 20; ++i) CHECK(same_hits(found[i], truth[i]));
            }
        }
    }
}

TEST(filter_skips_an_object_in_its_own_answer) {
    const TableSpace objects = bounded(64, 0.5);
    const ScanProblem problem{objects, objects, Selection::range(0, 64), true};
    BoundCounts counts;
    CHECK(filtered(problem, 63, 1, counts) == scanned(problem, 63));
    CHECK(filtered(problem, 2, 1, counts) == scanned(problem, 2));
}

TEST(filter_evaluates_few_objects_under_close_bounds) {
    TableSpace objects(5000, [](std::size_t, std::size_t j) { return static_cast<double>(j); });
    objects.bound = [](std::size_t, std::size_t j) { return static_cast<double>(j) + 0.5; };
    const TableSpace queries(3, tied);
    const ScanProblem problem{objects, queries, Selection::range(0, 5000)};
    BoundCounts counts;
    CHECK(filtered(problem, 2, 1, counts).positions.front() == 4999);
    CHECK(counts.evaluations <= 3 * 16);
}

TEST(filter_notices_a_bound_that_is_none) {
    TableSpace objects(100, tied);
    objects.bound = [](std::size_t, std::size_t) { return -3.0; };
    const TableSpace queries(1, tied);
    const ScanProblem problem{objects, queries, Selection::range(0, 100)};
    BoundCounts counts;
    CHECK_THROWS(BoundFault, filtered(problem, 1, 1, counts));
}

TEST(filter_notices_bounds_of_minus_infinity) {
    TableSpace objects(3, tied);
    objects.bound = [](std::size_t, std::size_t) { return -infinity; };
    const TableSpace queries(1, tied);
    const ScanProblem problem{objects, queries, Selection::range(0, 3)};
    BoundCounts counts;
    CHECK_THROWS(BoundFault, filtered(problem, 3, 1, counts));
}

TEST(filter_searches_many_objects_under_loose_bounds) {
    // More objects than one call bounds, and bounds that come in every order.
    const auto value = [](std::size_t i, std::size_t j) {
        return static_cast<double>((i + j * 7919) % 10007 % 251);
    };
    for (const double slack : {0.0, 3.0, 400.0}) {
        TableSpace objects(10000, value);
        objects.bound = [&](std::size_t i, std::size_t j) {
            return value(i, j) + slack * static_cast<double>((i + 3 * j) % 5);
        };
        const TableSpace queries(4, tied);
        const ScanProblem problem{objects, queries, Selection::range(0, 10000)};
        BoundCounts counts;
        for (const std::size_t k : {1, 40, 3000, 10000}) {
            CHECK(filtered(problem, k, 2, counts) == scanned(problem, k));
        }
        CHECK(filtered(problem, 1, 1, counts) == scanned(problem, 1));
        CHECK(slack > 0.0 || counts.evaluations <= 4 * 64);  // of each query, some 40 tie
    }
}

TEST(bounds_of_sums_and_multiples) {
    const auto part = std::make_shared<TableSpace>(bounded(50, 0.5));
    const auto sum = make_sum({part, make_scaled(part, 0.3)});
    CHECK(sum->bounds());
    const ScanProblem problem{*sum, *sum, Selection::range(0, 50)};
    BoundCounts counts;
    CHECK(filtered(problem, 4, 1, counts) == scanned(problem, 4));
    const auto bare = std::make_shared<TableSpace>(50, tied);
    CHECK(!make_sum({part, bare})->bounds());
    CHECK(!make_product({part, part})->bounds());
    CHECK_THROWS(std::logic_error, filtered({*bare, *bare, Selection::range(0, 50)}, 1, 1, counts));
}
