// A space that records the objects evaluated, and is otherwise the one it stands for.

#include "fastmks/spaces/traced_space.hpp"

#include "fastmks/spaces/precomputed_space.hpp"
#include "tests/support/testing.hpp"

namespace {

const std::vector<double> gram{4.0, 1.0, 0.5, 1.0, 9.0, 2.0, 0.5, 2.0, 1.0};

std::shared_ptr<const Space> objects() {
    return std::make_shared<PrecomputedSpace>(
        ValueTable{gram.data(), 3, 3}, std::vector<std::int64_t>{0, 1, 2}, true,
        std::vector<double>{4.0, 9.0, 1.0}, 1e-10, available_isas().back());
}

}  // namespace

TEST(traced_values_are_those_of_the_space_and_are_noted) {
    const std::shared_ptr<const Space> space = objects();
    const TracedSpace traced(space);
    CHECK(!traced.is_seen(0) && !traced.is_seen(1) && !traced.is_seen(2));
    const std::int64_t second = 1;
    double value = 0.0;
    traced.values(*traced.batch(0, 1), Selection::list(&second, 1), &value);
    CHECK(value == 1.0);
    CHECK(!traced.is_seen(0) && traced.is_seen(1) && !traced.is_seen(2));
    CHECK(all_values(traced, traced) == all_values(*space, *space));
    CHECK(traced.is_seen(0) && traced.is_seen(2));
}

TEST(a_traced_space_is_what_it_stands_for) {
    const std::shared_ptr<const Space> space = objects();
    const TracedSpace traced(space);
    CHECK(&untraced(traced) == space.get());
    CHECK(&untraced(*space) == space.get());
    CHECK(traced.accepts(*space));
    CHECK(traced.size() == 3 && traced.self_value(1) == 9.0 && !traced.is_zero(0));
    CHECK(traced.rounding().relative == space->rounding().relative);
    CHECK(traced.is_parallel() == space->is_parallel() && traced.isa() == space->isa());
    CHECK(!traced.scores() && !traced.bounds());
}
