#include "fastmks/simd/loops.hpp"
#include "fastmks/spaces/normalizer.hpp"
#include "tests/support/testing.hpp"

namespace {

Normalizer make_normalizer(const std::vector<double>& self_values) {
    Normalizer normalizer(self_values.size());
    for (std::size_t i = 0; i < self_values.size(); ++i) normalizer.set(i, self_values[i]);
    return normalizer;
}

// Self values from one end of the range to the other.
std::vector<double> self_values() {
    std::vector<double> values{
        1.0,    4.0,    2.0,       0.5,   3.9999999999999996,
        5e-324, 1e-323, 0x1p-1022, 1e308, std::numeric_limits<double>::max()};
    Draw draw(1);
    while (values.size() < 500) values.push_back(std::fabs(draw.wide(1020)) + 5e-324);
    return values;
}

}  // namespace

TEST(an_object_with_itself_is_exactly_one) {
    const auto self = self_values();
    const Normalizer normalizer = make_normalizer(self);
    for (const Isa isa : available_isas()) {
        for (std::size_t i = 0; i < self.size(); ++i) {
            const check::Context here(to_string(isa) + text(", object", i));
            double value = self[i];
            normalizer.apply(normalizer, i, Selection::range(i, i + 1), 1.0, loops_for(isa).vectors,
                             &value);
            CHECK(value == 1.0);
            CHECK(!normalizer.is_zero(i));
        }
    }
}

TEST(normalised_values_keep_to_the_formula) {
    if (!has_reference) return;
    const auto self = self_values();
    const Normalizer normalizer = make_normalizer(self);
    Draw draw(2);
    for (std::size_t i = 0; i < self.size(); i += 7) {
        std::vector<double> values;
        std::vector<long double> exact;
        for (const double other : self) {
            const long double scale = std::sqrt(static_cast<long double>(self[i])) *
                                      std::sqrt(static_cast<long double>(other));
            values.push_back(static_cast<double>(scale * 0.7 * draw.unit()));
            exact.push_back(values.back() / scale);
        }
        normalizer.apply(normalizer, i, Selection::range(0, self.size()), 1.0,
                         loops_for(Isa::baseline).vectors, values.data());
        for (std::size_t j = 0; j < self.size(); ++j) CHECK(ulps_off(values[j], exact[j]) <= 2.0);
    }
}

TEST(a_zero_object_gets_zero_with_everything) {
    const Normalizer normalizer = make_normalizer({0.0, 2.0, -0.0, 1e308});
    CHECK(normalizer.is_zero(0) && normalizer.is_zero(2));
    CHECK(!normalizer.is_zero(1) && !normalizer.is_zero(3));
    for (const Isa isa : available_isas()) {
        for (const std::size_t query : {0u, 2u}) {
            std::vector<double> values{0.0, 1e300, 5.0, -1e308};
            normalizer.apply(normalizer, query, Selection::range(0, 4), 1.0, loops_for(isa).vectors,
                             values.data());
            for (const double value : values) CHECK(value == 0.0);
        }
        std::vector<double> values{7.0, 2.0, -7.0, 0.0};
        normalizer.apply(normalizer, 1, Selection::range(0, 4), infinity, loops_for(isa).vectors,
                         values.data());
        CHECK(values == std::vector<double>{0.0, 1.0, 0.0, 0.0});
    }
}

TEST(ranges_lists_and_limits_agree) {
    const auto self = self_values();
    const Normalizer objects = make_normalizer(self), queries = make_normalizer({9.0, 0.3, 1e-200});
    const std::int64_t list[] = {400, 3, 3, 0, 77};
    for (const Isa isa : available_isas()) {
        const VectorLoops& loops = loops_for(isa).vectors;
        for (const double limit : {1.0, infinity}) {
            std::vector<double> all, some, middle;
            for (const double value : self) all.push_back(std::sqrt(value));
            for (const auto position : list)
                some.push_back(all[static_cast<std::size_t>(position)]);
            middle.assign(all.begin() + 100, all.begin() + 131);
            objects.apply(queries, 1, Selection::range(0, self.size()), limit, loops, all.data());
            objects.apply(queries, 1, Selection::list(list, 5), limit, loops, some.data());
            objects.apply(queries, 1, Selection::range(100, 131), limit, loops, middle.data());
            for (std::size_t i = 0; i < 5; ++i)
                CHECK(same_bits(some[i], all[static_cast<std::size_t>(list[i])]));
            for (std::size_t i = 0; i < 31; ++i) CHECK(same_bits(middle[i], all[100 + i]));
            for (const double value : all)
                CHECK(limit == 1.0 ? value == 1.0 : std::fabs(value - 1.8257418583505538) < 1e-15);
        }
    }
}
