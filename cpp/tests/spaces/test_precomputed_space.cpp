// Spaces of values that were computed before: rows and columns in any order of the objects.

#include "fastmks/core/faults.hpp"
#include "fastmks/spaces/precomputed_space.hpp"
#include "tests/support/testing.hpp"

namespace {

// A table of 3 x 3 with room behind each row.
const std::vector<double> gram{4.0, 1.0, 0.5, -1.0, 1.0, 9.0, 2.0, -1.0, 0.5, 2.0, 0.0, -1.0};
const ValueTable table{gram.data(), 3, 4};
const std::vector<double> asked{7.0, 8.0, 9.0};

PrecomputedSpace objects(std::vector<std::int64_t> places, double relative = 1e-10) {
    std::vector<double> self;
    for (const std::int64_t place : places)
        self.push_back(gram[static_cast<std::size_t>(5 * place)]);
    return {table, std::move(places), true, std::move(self), relative, available_isas().back()};
}

PrecomputedSpace query(double self_value) {
    return {{asked.data(), 3, 3}, {0}, false, {self_value}, 1e-10, available_isas().back()};
}

}  // namespace

TEST(precomputed_values_follow_the_order_of_the_objects) {
    CHECK(all_values(objects({0, 1, 2}), query(NAN)) == (std::vector<double>{7.0, 8.0, 9.0}));
    CHECK(all_values(objects({2, 0, 1}), query(NAN)) == (std::vector<double>{9.0, 7.0, 8.0}));
    const PrecomputedSpace turned = objects({2, 0, 1});
    CHECK(all_values(turned, turned) ==
          (std::vector<double>{0.0, 0.5, 2.0, 0.5, 4.0, 1.0, 2.0, 1.0, 9.0}));
    CHECK(turned.self_value(1) == 4.0);
    CHECK(turned.is_zero(0) && !turned.is_zero(1));
}

TEST(precomputed_queries_may_lack_their_self_value) {
    CHECK(query(3.0).self_value(0) == 3.0);
    const auto fault = check::caught<MissingSelfValue>([] { return query(NAN).self_value(0); });
    CHECK(fault && fault->object == 0);
}

TEST(precomputed_queries_are_no_objects) {
    CHECK(objects({0, 1}).accepts(query(NAN)));
    CHECK(!query(NAN).accepts(objects({0, 1})));
    CHECK(std::isinf(objects({0}, HUGE_VAL).rounding().absolute));
    CHECK(!objects({2}, HUGE_VAL).is_zero(0));
}
