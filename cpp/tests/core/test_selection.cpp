#include "fastmks/core/selection.hpp"
#include "tests/support/testing.hpp"

TEST(a_range_counts_on) {
    const Selection range = Selection::range(5, 9);
    CHECK(range.size == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(range[i] == 5 + i);
    const Selection part = range.part(1, 3);
    CHECK(part.size == 2 && part[0] == 6 && part[1] == 7);
    CHECK(range.part(2, 2).size == 0);
    CHECK(Selection{}.size == 0);
}

TEST(a_list_is_itself) {
    const std::int64_t positions[] = {2, 3, 11, 40};
    const Selection list = Selection::list(positions, 4);
    CHECK(list.size == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(list[i] == static_cast<std::size_t>(positions[i]));
    const Selection part = list.part(2, 4).part(1, 2);
    CHECK(part.size == 1 && part[0] == 40);
    CHECK(list.part(4, 4).size == 0);
}
