// Lengths and distances from canonical values: each errs on its safe side, and not by much.

#include "fastmks/core/geometry.hpp"

#include "tests/support/testing.hpp"

namespace {

constexpr std::size_t column_counts[] = {1, 2, 7, 50};

struct Family {
    std::string name;
    double offset;  // of every entry
    double spread;  // around it
};

const Family families[] = {
    {"around the origin", 0.0, 1.0},
    {"spread 1e-6 around 1000", 1000.0, 1e-6},
    {"1e-9 apart at 1e4", 1e4, 1e-9},
    {"distances of a few ulps", 1.0, 1e-15},
    {"tiny", 0.0, 1e-150},
    {"huge", 0.0, 1e150},
    {"squares that underflow", 0.0, 1e-161},
    {"subnormal squares", 0.0, 1e-156},
    {"far out and huge", 1e150, 1e135},
    {"all zero", 0.0, 0.0},
};

// Some rows of a family; the last ones are a copy, an opposite and a near-copy of the first.
Vectors draw_family(const Family& family, std::size_t n_columns, std::uint64_t seed) {
    constexpr std::size_t n_rows = 12;
    Vectors vectors = spread_out(n_rows, n_columns, family.offset, family.spread, seed);
    for (std::size_t c = 0; c < n_columns; ++c) {
        const double first = vectors.data[c];
        vectors.data[9 * n_columns + c] = first;
        vectors.data[10 * n_columns + c] = -first;
        vectors.data[11 * n_columns + c] = first * (1.0 + 0x1p-50);
    }
    return vectors;
}

// Calls visit(vectors, space, values) for every family, length and a few seeds.
template <class Visit>
void for_each_set(Visit visit) {
    if (!has_reference) return;
    for (const Family& family : families) {
        for (const std::size_t n_columns : column_counts) {
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                const check::Context here(family.name + text(", columns", n_columns) +
                                          text(", seed", seed));
                const auto vectors = draw_family(family, n_columns, seed);
                const auto space = space_of(vectors);
                visit(vectors, space, all_values(space, space));
            }
        }
    }
}

}  // namespace

TEST(norms_err_on_their_side) {
    for_each_set([](const Vectors& vectors, const Space& space, const std::vector<double>&) {
        const Geometry geometry(space.rounding());
        for (std::size_t i = 0; i < vectors.n_rows; ++i) {
            const long double norm =
                std::sqrt(exact_product(vectors.row(i), vectors.row(i), vectors.n_columns));
            const double self = space.self_value(i);
            CHECK(geometry.norm_above(self) >= norm);
            CHECK(geometry.norm_below(self) <= norm);
            CHECK(geometry.norm_below(self) >= 0.0);
            if (self > 1e-290) {  // and are close
                CHECK(geometry.norm_above(self) <= norm * (1 + 1e-14L));
                CHECK(geometry.norm_below(self) >= norm * (1 - 1e-14L));
            }
        }
    });
}

TEST(norms_hold_whatever_the_rounding_did) {
    if (!has_reference) return;
    Draw draw(1);
    for (const Rounding rounding : {Rounding{0.0, 0.0}, Rounding{1e-15, 0.0}, Rounding{1e-3, 1e-9},
                                    Rounding{0.09, 0.5}, Rounding{1e-15, 0x1p-1070}}) {
        const Geometry geometry(rounding);
        for (int round = 0; round < 2000; ++round) {
            const double self = std::abs(draw.wide(60));
            const long double error = rounding.relative * static_cast<long double>(self) +
                                      static_cast<long double>(rounding.absolute);
            const long double share = draw.unit();
            for (const long double off : {-1.0L, share, 1.0L}) {
                // rounded towards the exact one, so that it is within the stated error
                const double seen = static_cast<double>(self + off * error * (1 - 1e-12L));
                if (seen < 0.0 || std::fabs(seen - static_cast<long double>(self)) > error)
                    continue;
                const long double norm = std::sqrt(static_cast<long double>(self));
                CHECK(geometry.norm_above(seen) >= norm);
                CHECK(geometry.norm_below(seen) <= norm);
            }
        }
    }
}

TEST(the_slack_covers_the_rounding_of_squared_distances) {
    long double greatest_share = 0.0L;
    for_each_set(
        [&](const Vectors& vectors, const Space& space, const std::vector<double>& values) {
            const Geometry geometry(space.rounding());
            const std::size_t n = vectors.n_rows;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    if (i == j) continue;
                    const double self_x = space.self_value(i), self_y = space.self_value(j);
                    const long double distance =
                        exact_distance(vectors.row(i), vectors.row(j), vectors.n_columns);
                    const long double exact = distance * distance;
                    const double slack = geometry.square_slack(self_x, self_y);
                    const double raw = self_x + self_y - 2.0 * values[i * n + j];
                    // the distance a tree knows: 0 where it cannot be told from 0
                    const double known = raw > slack ? std::sqrt(raw) : 0.0;
                    const double above = geometry.square_above(self_x, self_y, known);
                    CHECK(std::fabs(raw - exact) <= slack);
                    CHECK(exact <= above);
                    CHECK(above <= exact + 5.0L * slack);  // and close
                    if (self_x > 1e-290) {
                        greatest_share = std::max(greatest_share, std::fabs(raw - exact) / slack);
                    }
                }
            }
        });
    CHECK(!has_reference || greatest_share > 0.02L);  // no idle slack
}

TEST(a_square_that_counts_as_zero_may_be_twice_its_slack) {
    const Geometry geometry({1e-15, 1e-300});
    const double slack = geometry.square_slack(2.0, 3.0);
    CHECK(slack > 5e-15 && slack < 5e-14);
    CHECK(geometry.square_above(2.0, 3.0, 0.0) == 2.0 * slack);
    CHECK(geometry.square_above(2.0, 3.0, 1.0) == 1.0 + slack);
    CHECK(geometry.square_above(0.0, 0.0, 0.0) >= 1e-300);
}

TEST(the_largest_value_bounds_every_value) {
    for_each_set([](const Vectors& vectors, const Space& space, const std::vector<double>& values) {
        const Geometry geometry(space.rounding());
        const std::size_t n = vectors.n_rows;
        std::vector<double> norms;
        for (std::size_t i = 0; i < n; ++i)
            norms.push_back(geometry.norm_above(space.self_value(i)));
        for (std::size_t at = 0; at < n * n; ++at) {
            const double largest = geometry.largest_value(norms[at / n], norms[at % n]);
            CHECK(std::abs(values[at]) <= largest);
            if (largest > 1e-290) CHECK(largest <= norms[at / n] * norms[at % n] * (1.0 + 1e-13));
        }
    });
}

TEST(without_a_rounding_bound_nothing_is_known) {
    for (const Rounding rounding : {Rounding{infinity, infinity}, Rounding{infinity, 0.0},
                                    Rounding{0.1, 0.0}, Rounding{not_a_number, 0.0}}) {
        const Geometry geometry(rounding);
        CHECK(geometry.norm_above(4.0) == infinity);
        CHECK(geometry.norm_below(4.0) == 0.0);
        CHECK(geometry.square_slack(4.0, 4.0) == infinity);
        CHECK(geometry.square_above(4.0, 4.0, 0.0) == infinity);
        CHECK(!(1e308 > geometry.largest_value(2.0, 2.0)));
    }
    const Geometry lost({1e-15, infinity});  // a share is known, what underflow takes is not
    CHECK(lost.norm_above(4.0) == infinity);
    CHECK(lost.norm_below(4.0) == 0.0);
    CHECK(lost.square_above(4.0, 4.0, 1.0) == infinity);
}

TEST(self_values_at_the_end_of_the_range_are_no_trap) {
    const Geometry geometry({1e-15, 0.0});
    CHECK(geometry.norm_above(DBL_MAX) >= std::sqrt(DBL_MAX));
    CHECK(geometry.norm_below(DBL_MAX) <= std::sqrt(DBL_MAX));
    CHECK(geometry.norm_above(infinity) == infinity);
    // a sum that overflows: the distance may be anything
    CHECK(geometry.square_slack(DBL_MAX, DBL_MAX) == infinity);
    CHECK(geometry.norm_above(0.0) == 0.0);
    CHECK(geometry.norm_below(0.0) == 0.0);
}

TEST(two_spaces_have_the_greater_error) {
    const Geometry geometry({1e-15, 1e-300}, {1e-12, 1e-310});
    CHECK(geometry.relative() == 1e-12);
    CHECK(geometry.absolute() == 1e-300);
    CHECK(std::isinf(Geometry({1e-15, 0.0}, {infinity, infinity}).relative()));
}
