// The scan that evaluates each pair once, against the scan that evaluates both orders.

#include "fastmks/core/faults.hpp"
#include "fastmks/scan/scan.hpp"

#include <chrono>
#include <thread>

#include "tests/support/testing.hpp"

namespace {

constexpr std::size_t thread_counts[] = {1, 2, 5};

// Few different values, so that ties are everywhere.
double tied(std::size_t a, std::size_t b) {
    const std::size_t low = std::min(a, b), high = std::max(a, b);
    return static_cast<double>((low * 7919 + high * 104729 + low * high) % 1009 % 7) - 3.0;
}

Answer self_scanned(const Space& space, const std::int64_t* names, std::size_t k,
                    std::size_t threads) {
    Answer answer(space, k);
    scan_self(space, names, k, threads, ignore, answer.values.data(), answer.positions.data());
    return answer;
}

}  // namespace

TEST(a_self_scan_evaluates_each_pair_once_and_gives_the_answers_of_a_scan) {
    for (const std::size_t n : {2, 3, 64, 65, 70, 300, 1100}) {
        TableSpace space(n, tied, Symmetry::proven);
        if (n == 300) {  // long enough for every thread to take part
            space.before_evaluate = [] {
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            };
        }
        const auto names = n % 7 == 0 ? std::vector<std::int64_t>{} : mixed_names(n, 2);
        const std::int64_t* const named = names.empty() ? nullptr : names.data();
        for (const std::size_t k : {std::size_t{1}, std::size_t{3}, n - 1}) {
            if (k > n - 1) continue;
            const Answer want = scanned({space, space, Selection::range(0, n), true, named}, k);
            for (const std::size_t threads : thread_counts) {
                const check::Context here(text("objects", n) + text(", k", k) +
                                          text(", threads", threads));
                space.n_evaluations = 0;
                CHECK(self_scanned(space, named, k, threads) == want);
                CHECK(space.n_evaluations == n * (n - 1) / 2);
                CHECK(self_scan_evaluations(space) == n * (n - 1) / 2);
            }
        }
    }
}

TEST(a_declared_symmetry_is_checked_once_for_each_object) {
    const std::size_t n = 300;
    const TableSpace space(n, tied, Symmetry::declared);
    static_cast<void>(self_scanned(space, nullptr, 4, 2));
    CHECK(space.n_evaluations == n * (n - 1) / 2 + n - 1);
    CHECK(self_scan_evaluations(space) == n * (n - 1) / 2 + n - 1);
    for (const std::size_t threads : thread_counts) {
        // every object has a pair that is evaluated in both orders: one bad row is enough
        const TableSpace bad(
            n, [](std::size_t a, std::size_t b) { return a == 170 ? 5.0 : tied(a, b); },
            Symmetry::declared);
        const auto fault = check::caught<AsymmetryFault>(
            [&] { static_cast<void>(self_scanned(bad, nullptr, 4, threads)); });
        CHECK(fault && (fault->a == 170 || fault->b == 170));
        CHECK(fault && (fault->ab == 5.0) != (fault->ba == 5.0));
    }
}

TEST(a_self_scan_tells_which_value_is_at_fault) {
    const auto faulty = [](std::size_t a, std::size_t b) {
        return std::min(a, b) == 97 && std::max(a, b) == 603 ? not_a_number : tied(a, b);
    };
    const TableSpace space(900, faulty, Symmetry::proven);
    for (const std::size_t threads : thread_counts) {
        const auto fault = check::caught<ValueFault>(
            [&] { static_cast<void>(self_scanned(space, nullptr, 4, threads)); });
        CHECK(fault && fault->query == 97 && fault->object == 603);
    }
}

TEST(an_exception_from_the_watch_stops_a_self_scan) {
    const TableSpace space(2000, tied, Symmetry::proven);
    Answer answer(space, 2);
    const Watch watch = [](std::size_t) { throw std::runtime_error("enough"); };
    CHECK_THROWS(std::runtime_error, scan_self(space, nullptr, 2, 1, watch, answer.values.data(),
                                               answer.positions.data()));
    CHECK(space.n_evaluations < 2000);
}
