#include "fastmks/spaces/scaled_float.hpp"
#include "tests/support/testing.hpp"

TEST(wide_numbers_keep_what_doubles_hold) {
    for (const double value : {0.0, 1.0, 3.5, 0x1p-1074, 0x1.8p-1030, 1e308, 0.1}) {
        CHECK(to_double(make_wide(value)) == value);
    }
    const Wide wide = make_wide(12.0, 5000);
    CHECK(wide.mantissa == 1.5 && wide.exponent == 5003);
    CHECK(to_double(wide) == HUGE_VAL && to_double(make_wide(12.0, -5000)) == 0.0);
    CHECK(make_wide(0.0, 77) == Wide{});
}

TEST(wide_sums_and_products_round_once) {
    Draw draw(3);
    for (int i = 0; i < 2000; ++i) {
        const double a = std::fabs(draw.wide(300)), b = std::fabs(draw.wide(300));
        for (const std::int64_t shift : {-100000, 0, 100000}) {
            const Wide x = make_wide(a, shift), y = make_wide(b, shift);
            CHECK(x + y == make_wide(a + b, shift));
            CHECK(x + y == y + x);
            const Wide product = x * y;
            CHECK(product == make_wide(make_wide(a).mantissa * make_wide(b).mantissa,
                                       make_wide(a).exponent + make_wide(b).exponent + 2 * shift));
        }
    }
}

TEST(wide_sums_drop_only_what_is_nothing) {
    const Wide large = make_wide(1.0, 3000), tiny = make_wide(1.0, -3000);
    CHECK(large + tiny == large && tiny + large == large);
    CHECK(large + Wide{} == large && Wide{} + tiny == tiny);
    CHECK(make_wide(1.0, 52) + make_wide(1.0) == make_wide(0x1p52 + 1.0));
}

TEST(quotients_of_equal_values_are_one) {
    Draw draw(4);
    for (int i = 0; i < 2000; ++i) {
        const std::int64_t shift = (i - 1000) * 777;
        const Wide value = make_wide(std::fabs(draw.wide(20)) + 1e-9, shift);
        const WideRoot root = make_root(value);
        CHECK(root.square >= 1.0 && root.square < 4.0);
        CHECK(quotient(value, root, root) == 1.0);
    }
    const WideRoot four = make_root(make_wide(1.0, 4002)), one = make_root(make_wide(1.0));
    CHECK(quotient(make_wide(1.0, 2000), four, one) == 0.5);
    CHECK(quotient(Wide{}, four, four) == 0.0);
}
