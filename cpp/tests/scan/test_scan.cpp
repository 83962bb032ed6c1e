// The scan against the simplest search, and the options that must not change its answers.

#include "fastmks/core/faults.hpp"
#include "fastmks/scan/scan.hpp"

#include <chrono>
#include <thread>

#include "tests/support/testing.hpp"

namespace {

constexpr std::size_t thread_counts[] = {1, 2, 5};

// Few different values, so that ties are everywhere, zeros of both signs among them.
double tied(std::size_t query, std::size_t object) {
    const std::size_t mixed = (query * 7919 + object * 104729 + query * object) % 1009;
    const double value = static_cast<double>(mixed % 7) - 3.0;
    return value == 0.0 && mixed % 2 == 0 ? -0.0 : value;
}

// Every hit of one query, best first, by way of a stable sort.
std::vector<Hit> ranking(const ScanProblem& problem, std::size_t query,
                         const TableSpace::Kernel& kernel) {
    std::vector<Hit> hits;
    for (std::size_t j = 0; j < problem.among.size; ++j) {
        const std::size_t object = problem.among[j];
        if (problem.skip_self && object == query) continue;
        hits.push_back({kernel(query, object), static_cast<std::int64_t>(object)});
    }
    std::stable_sort(hits.begin(), hits.end(), [](Hit a, Hit b) { return a.value > b.value; });
    return hits;
}

void check_top_k(const ScanProblem& problem, std::size_t k, std::size_t threads,
                 const std::vector<std::vector<Hit>>& rankings) {
    const std::size_t n = rankings.size();
    std::vector<double> values(n * k + 1, -7.0);
    std::vector<std::int64_t> positions(n * k + 1, -7);
    scan_top_k(problem, k, threads, ignore, values.data(), positions.data());
    bool same = values.back() == -7.0 && positions.back() == -7;
    for (std::size_t at = 0; at < n * k; ++at) {
        same = same && same_hit({values[at], positions[at]}, rankings[at / k][at % k]);
    }
    CHECK(same);
}

void check_above(const ScanProblem& problem, std::size_t threads,
                 const std::vector<std::vector<Hit>>& rankings) {
    std::vector<double> thresholds;  // -3 takes all, 4 none
    for (std::size_t i = 0; i < rankings.size(); ++i)
        thresholds.push_back(static_cast<double>(i % 8) - 3.0);
    const auto answers = scan_above(problem, thresholds.data(), threads, ignore);
    CHECK(answers.size() == rankings.size());
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        const auto end = std::find_if(rankings[i].begin(), rankings[i].end(),
                                      [&](const Hit& hit) { return hit.value < thresholds[i]; });
        CHECK(same_hits(answers[i], {rankings[i].begin(), end}));
    }
}

void check_matrix(const ScanProblem& problem, std::size_t threads,
                  const TableSpace::Kernel& kernel) {
    const std::size_t n = problem.among.size;
    std::vector<double> out(problem.queries.size() * n + 1, -7.0), want = out;
    for (std::size_t at = 0; at + 1 < out.size(); ++at)
        want[at] = kernel(at / n, problem.among[at % n]);
    scan_matrix(problem, threads, ignore, out.data());
    CHECK(same_bits(out, want));
}

void check_scans(const ScanProblem& problem, const TableSpace::Kernel& kernel) {
    std::vector<std::vector<Hit>> rankings;
    for (std::size_t i = 0; i < problem.queries.size(); ++i)
        rankings.push_back(ranking(problem, i, kernel));
    const std::size_t most = problem.among.size - (problem.skip_self ? 1 : 0);
    for (const std::size_t threads : thread_counts) {
        const check::Context here(text("queries", problem.queries.size()) +
                                  text(", objects", problem.among.size) +
                                  text(", threads", threads));
        for (const std::size_t k : {std::size_t{1}, std::size_t{3}, std::size_t{100}, most}) {
            if (k >= 1 && k <= most) check_top_k(problem, k, threads, rankings);
        }
        check_above(problem, threads, rankings);
        check_matrix(problem, threads, kernel);
    }
}

struct Shape {
    std::size_t n_queries, n_objects;
};

// One query to several batches of them; one object to many blocks.
constexpr Shape shapes[] = {{1, 1},    {1, 5000}, {3, 700},   {64, 256},
                            {65, 257}, {300, 40}, {200, 600}, {2, 255}};

// The three scans, one after the other.
using Scan = void (*)(const ScanProblem&, std::size_t threads, const Watch&);
constexpr Scan scans[] = {
    [](const ScanProblem& problem, std::size_t threads, const Watch& watch) {
        Answer answer(problem.queries, 2);
        scan_top_k(problem, 2, threads, watch, answer.values.data(), answer.positions.data());
    },
    [](const ScanProblem& problem, std::size_t threads, const Watch& watch) {
        const std::vector<double> thresholds(problem.queries.size(), 2.0);
        static_cast<void>(scan_above(problem, thresholds.data(), threads, watch));
    },
    [](const ScanProblem& problem, std::size_t threads, const Watch& watch) {
        std::vector<double> out(problem.queries.size() * problem.among.size);
        scan_matrix(problem, threads, watch, out.data());
    }};

}  // namespace

TEST(scans_lose_nothing) {
    for (const Shape shape : shapes) {
        TableSpace objects(shape.n_objects, tied);
        const TableSpace queries(shape.n_queries, tied);
        const ScanProblem problem{objects, queries, Selection::range(0, shape.n_objects)};
        check_scans(problem, tied);
        // long enough for every thread to take part
        objects.before_evaluate = [] {
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        };
        check_scans(problem, tied);
    }
}

TEST(scans_search_among_some) {
    for (const Shape shape : shapes) {
        const TableSpace objects(shape.n_objects + 10, tied), queries(shape.n_queries, tied);
        check_scans({objects, queries, Selection::range(7, shape.n_objects + 9)}, tied);
        const auto list = positions_from((shape.n_objects + 1) % 3, shape.n_objects + 10, 3);
        check_scans({objects, queries, Selection::list(list.data(), list.size())}, tied);
    }
}

TEST(scans_skip_the_query_itself) {
    for (const std::size_t n : {2, 70, 300, 600}) {
        const TableSpace space(n, tied);
        check_scans({space, space, Selection::range(0, n), true},
                    [&](std::size_t q, std::size_t x) { return tied(q, x); });
        const auto list = positions_from(n % 3, n, 3);
        if (list.size() > 1)
            check_scans({space, space, Selection::list(list.data(), list.size()), true}, tied);
    }
}

TEST(among_equals_the_smallest_positions_win) {
    const auto same = [](std::size_t, std::size_t) { return 1.5; };
    const TableSpace objects(3000, same), queries(3, same);
    for (const std::size_t threads : thread_counts) {
        Answer answer(queries, 20);
        scan_top_k({objects, queries, Selection::range(0, 3000)}, 20, threads, ignore,
                   answer.values.data(), answer.positions.data());
        for (std::size_t at = 0; at < 60; ++at)
            CHECK(answer.positions[at] == static_cast<std::int64_t>(at % 20));
    }
}

TEST(scans_of_vectors_return_the_values_of_the_space) {
    const auto objects = draw_vectors(700, 5, 1, 1), queries = draw_vectors(70, 5, 1, 2);
    for (const StoreKind kind : store_kinds) {
        for (const Isa isa : available_isas()) {
            const check::Context here(to_string(kind) + ", " + to_string(isa));
            const auto space = space_of(objects, {}, kind, isa);
            const auto query_space = space_of(queries, {}, kind, isa);
            const auto values = all_values(space, query_space);
            check_scans({space, query_space, Selection::range(0, 700)},
                        [&](std::size_t q, std::size_t x) { return values[q * 700 + x]; });
        }
    }
}

TEST(nothing_to_search_is_no_fault) {
    const TableSpace objects(5, tied), queries(3, tied), nobody(0, tied);
    for (const std::size_t threads : thread_counts) {
        for (const Scan scan : scans)
            scan({objects, nobody, Selection::range(0, 5)}, threads, ignore);
        const std::vector<double> thresholds(3, 0.0);
        const auto answers = scan_above({objects, queries, Selection::range(2, 2)},
                                        thresholds.data(), threads, ignore);
        CHECK(answers.size() == 3 && answers[0].empty() && answers[2].empty());
        scan_matrix({objects, queries, Selection::range(2, 2)}, threads, ignore, nullptr);
    }
}

TEST(the_watch_is_told_every_evaluation) {
    const auto caller = std::this_thread::get_id();
    for (const Scan scan : scans) {
        for (const std::size_t threads : thread_counts) {
            const TableSpace objects(900, tied), queries(130, tied);
            std::size_t last = 0;
            bool elsewhere = false;
            scan({objects, queries, Selection::range(0, 900)}, threads, [&](std::size_t done) {
                CHECK(done >= last);
                last = done;
                elsewhere = elsewhere || std::this_thread::get_id() != caller;
            });
            CHECK(!elsewhere);
            CHECK(objects.n_evaluations == 900 * 130);
            CHECK(threads == 1 ? last == 900 * 130 : last <= 900 * 130);
        }
    }
}

TEST(an_exception_from_the_watch_stops_a_scan) {
    const auto caller = std::this_thread::get_id();
    for (const Scan scan : scans) {
        for (const std::size_t threads : thread_counts) {
            TableSpace objects(3000, tied);
            const TableSpace queries(200, tied);
            std::atomic<std::size_t> n_blocks{0};
            std::atomic<bool> stopped{false};
            objects.before_evaluate = [&] {  // the others stay in their first block until then
                ++n_blocks;
                do std::this_thread::sleep_for(std::chrono::milliseconds(1));
                while (std::this_thread::get_id() != caller && !stopped);
            };
            const Watch watch = [&](std::size_t) {
                if (n_blocks < threads) return;
                stopped = true;
                throw std::runtime_error("enough");
            };
            CHECK_THROWS(std::runtime_error,
                         scan({objects, queries, Selection::range(0, 3000)}, threads, watch));
            CHECK(objects.n_evaluations > 0 && objects.n_evaluations < 3000 * 200);
        }
    }
}

TEST(a_scan_tells_which_value_is_at_fault) {
    const auto list = positions_from(0, 900, 3);
    const auto faulty = [](std::size_t q, std::size_t x) {
        return q == 97 && x == 603 ? not_a_number : tied(q, x);
    };
    const TableSpace objects(900, faulty), queries(130, faulty);
    for (const Selection among :
         {Selection::range(0, 900), Selection::list(list.data(), list.size())}) {
        for (const Scan scan : scans) {
            for (const std::size_t threads : thread_counts) {
                const auto fault = check::caught<ValueFault>(
                    [&] { return scan({objects, queries, among}, threads, ignore); });
                CHECK(fault && fault->query == 97 && fault->object == 603);
                CHECK(fault && std::isnan(fault->value));
            }
        }
    }
}

TEST(a_slow_kernel_gives_the_same_answers) {
    TableSpace objects(500, tied);
    const TableSpace queries(3, tied);
    int n_calls = 0;
    objects.before_evaluate = [&] {  // as slow as makes blocks shrink, stay and grow again
        constexpr int milliseconds[] = {0, 60, 60, 10};
        if (n_calls < 4)
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds[n_calls]));
        ++n_calls;
    };
    check_matrix({objects, queries, Selection::range(0, 500)}, 1, tied);
}
