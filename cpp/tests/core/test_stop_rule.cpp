// When a search may prune objects: the promise of each rule, in exact arithmetic.

#include "fastmks/core/stop_rule.hpp"
#include "tests/support/testing.hpp"

namespace {

std::vector<double> thresholds() {
    std::vector<double> all{0.0, -0.0};
    for (const double size : {1.0, 1.5, 0.1, 3.0, 1e-5, 1e5, 1e-100, 1e100, 1e-300, 1e300, DBL_MIN,
                              1e-310, 5e-324, 15e-324, 3e-321, DBL_MAX}) {
        all.push_back(size);
        all.push_back(-size);
    }
    Draw draw(1);
    for (int i = 0; i < 2000; ++i) all.push_back(draw.wide(i % 2 == 0 ? 3 : 900));
    return all;
}

StopRule with_epsilon(double epsilon) {
    return {.epsilon = epsilon};
}

StopRule with_relative(double relative) {
    return {.relative = relative};
}

}  // namespace

TEST(an_exact_search_leaves_out_only_what_is_below_the_threshold) {
    const StopRule exact;
    for (const double threshold : thresholds()) {
        const double limit = exact.limit(threshold);
        CHECK(limit < threshold);
        CHECK(std::nextafter(limit, infinity) == threshold);  // and all of that
    }
}

TEST(before_k_are_found_nothing_is_left_out) {
    const StopRule both{.epsilon = 1e300, .relative = 10.0};
    for (const StopRule& rule : {StopRule{}, with_epsilon(1e300), with_relative(10.0), both}) {
        CHECK(rule.limit(-infinity) == -infinity);
    }
}

TEST(above_everything_nothing_finite_remains) {
    CHECK(StopRule{}.limit(infinity) == DBL_MAX);
}

TEST(epsilon_is_never_exceeded) {
    if (!has_reference) return;
    for (const double epsilon : {1e-300, 1e-17, 1e-9, 0.1, 1.0, 1.0 / 3.0, 1e10, 1e300, 5e-324}) {
        const StopRule rule = with_epsilon(epsilon);
        for (const double threshold : thresholds()) {
            const check::Context here("epsilon " + std::to_string(epsilon) + ", threshold " +
                                      std::to_string(threshold));
            const double limit = rule.limit(threshold);
            const long double left_out = static_cast<long double>(limit) - threshold;
            CHECK(left_out <= epsilon);
            CHECK(limit >= StopRule{}.limit(threshold));
            // and used, but for a rounding
            const long double reach = static_cast<long double>(threshold) + epsilon;
            const double unused = static_cast<double>(std::fabs(reach) * 0x1p-51L) + 2 * 5e-324;
            CHECK(limit >= reach - unused || std::abs(threshold) == DBL_MAX || limit == DBL_MAX);
        }
    }
}

TEST(a_relative_error_is_never_exceeded) {
    if (!has_reference) return;
    for (const double relative : {1e-17, 1e-9, 0.1, 0.2, 1.0 / 3.0, 0.5, 1.0, 1.5, 10.0, 1e300}) {
        const StopRule rule = with_relative(relative);
        for (const double threshold : thresholds()) {
            const check::Context here("relative " + std::to_string(relative) + ", threshold " +
                                      std::to_string(threshold * 1e308) + "e-308");
            const double limit = rule.limit(threshold);
            CHECK(limit >= StopRule{}.limit(threshold));
            if (!(limit > threshold) || std::isinf(limit)) continue;
            // Of all t that are missed, threshold < t <= limit, the greatest is the worst.
            const long double t = limit;
            CHECK(t - threshold <= relative * std::fabs(t));
            CHECK(threshold > 0.0 || limit < 0.0);
        }
    }
}

TEST(a_relative_error_is_made_use_of) {
    for (const double relative : {1e-9, 0.1, 0.5, 1.0, 10.0}) {
        const StopRule rule = with_relative(relative);
        for (const double threshold : {1.0, 0.1, 1e5, 1e-100, 1e100}) {
            CHECK(rule.limit(threshold) >= threshold * (1.0 + relative) * (1.0 - 1e-14));
            CHECK(rule.limit(-threshold) >= -threshold / (1.0 + relative) * (1.0 + 1e-14));
        }
        CHECK(rule.limit(0.0) <= 0.0);
    }
}

TEST(a_huge_relative_error_gives_no_nonsense) {
    const StopRule rule = with_relative(DBL_MAX);
    for (const double threshold : {1.0, 10.0, -1.0, -10.0, 1e-300, 1e300}) {
        const double limit = rule.limit(threshold);
        CHECK(limit >= StopRule{}.limit(threshold));     // so it is no NaN
        CHECK(threshold > 0.0 || !(limit > threshold));  // values near 0 would be too far off
    }
    CHECK(!std::isnan(rule.limit(0.0)) && rule.limit(0.0) <= 0.0);
}

TEST(an_error_of_zero_is_exact) {
    const StopRule rule{.epsilon = 0.0, .relative = 0.0};
    for (const double threshold : thresholds()) {
        CHECK(same_bits(rule.limit(threshold), StopRule{}.limit(threshold)));
    }
}
