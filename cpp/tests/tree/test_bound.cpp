// Upper bounds on kernel values: never below a value they cover, and tight where they should be.

#include "fastmks/tree/bound.hpp"

#include <optional>

#include "tests/support/testing.hpp"

namespace {

constexpr std::size_t n_rows = 14;

// Vectors that lie awkwardly to each other: parallel, nearly so, opposite, tiny, zero.
Vectors awkward_vectors(std::size_t n_columns, double scale, std::uint64_t seed) {
    Draw draw(seed);
    Vectors vectors{n_rows, n_columns, std::vector<double>(n_rows * n_columns)};
    const auto row = [&](std::size_t i) { return vectors.data.data() + i * n_columns; };
    for (double& entry : vectors.data) entry = draw.unit();
    for (std::size_t c = 0; c < n_columns; ++c) {
        const double noise = draw.unit();
        row(5)[c] = row(0)[c] * (1.0 + 1e-9 * noise);    // nearly parallel and nearly equal
        row(6)[c] = -row(0)[c];                          // opposite
        row(7)[c] = -3.0 * row(1)[c] + 1e-12 * noise;    // nearly opposite, longer
        row(8)[c] = row(1)[c] * 7.0;                     // parallel
        row(9)[c] = row(2)[c] * 1e-6;                    // short
        row(10)[c] = row(3)[c] * 1e-12 + 1e-20 * noise;  // very short
        row(11)[c] = row(0)[c];                          // equal
        row(12)[c] = 0.0;
        row(13)[c] = row(0)[c] + 1e-15 * noise;  // an ulp or so away
    }
    for (std::size_t c = 0; c < n_columns; ++c) row(4)[c] *= 1e-90;  // shorter than any share
    for (double& entry : vectors.data) entry *= scale;
    return vectors;
}

double above(long double x) {
    return std::nextafter(static_cast<double>(x), infinity);
}
double below(long double x) {
    return std::max(0.0, std::nextafter(static_cast<double>(x), -infinity));
}

// Objects p and x, their values with a query and a region around p that holds x.
struct Case {
    double value_p;
    double value_x;
    Region region;
};

void check_covers(const QueryBounds& bounds, const Case& it) {
    CHECK(!(bounds.ball(it.region, it.value_p) < it.value_x));
    CHECK(!(bounds.cap(it.region) < it.value_x));
    CHECK(!(bounds.shell(it.region, it.value_p) < it.value_x));
}

// The region that a tree would store, and two looser ones.
template <class Visit>
void for_each_region(const Region& tight, Visit visit) {
    visit(tight);
    visit(Region{tight.point_norm, tight.radius * 1.7, tight.least_norm, tight.greatest_norm});
    visit(Region{tight.point_norm, tight.radius, tight.least_norm * 0.8, tight.greatest_norm});
    visit(Region{tight.point_norm, tight.radius, tight.least_norm, tight.greatest_norm * 1.3});
}

// Checks every query with every pair of objects; regions from the values alone, as a tree has them.
void check_all(const Space& objects, const Space& queries) {
    const Geometry geometry(objects.rounding(), queries.rounding());
    const auto values = all_values(objects, queries), among = all_values(objects, objects);
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const QueryBounds bounds(geometry, queries.self_value(q));
        for (std::size_t p = 0; p < objects.size(); ++p) {
            for (std::size_t x = 0; x < objects.size(); ++x) {
                const check::Context here(text("q", q) + text(", p", p) + text(", x", x));
                const double self_p = objects.self_value(p), self_x = objects.self_value(x);
                const double raw = self_p + self_x - 2.0 * among[p * n_rows + x];
                const double away =
                    raw > geometry.square_slack(self_p, self_x) ? std::sqrt(raw) : 0.0;
                const double square = geometry.square_above(self_p, self_x, away);
                const Region region{geometry.norm_above(self_p),
                                    p == x ? 0.0 : std::sqrt(square) * Geometry::up,
                                    geometry.norm_below(self_x), geometry.norm_above(self_x)};
                for_each_region(region, [&](const Region& looser) {
                    check_covers(bounds, {values[q * n_rows + p], values[q * n_rows + x], looser});
                });
            }
        }
    }
}

// The bounds from exact distances and norms, one rounding off: no tree has them so exact.
void check_exact(const Vectors& objects, const Space& object_space, const Space& query_space) {
    if (!has_reference) return;
    const std::size_t d = objects.n_columns;
    const Geometry geometry(object_space.rounding(), query_space.rounding());
    const auto values = all_values(object_space, query_space);
    for (std::size_t q = 0; q < n_rows; ++q) {
        const QueryBounds bounds(geometry, query_space.self_value(q));
        for (std::size_t p = 0; p < n_rows; ++p) {
            for (std::size_t x = 0; x < n_rows; ++x) {
                const check::Context here(text("exact, q", q) + text(", p", p) + text(", x", x));
                const long double norm_x =
                    std::sqrt(exact_product(objects.row(x), objects.row(x), d));
                const long double norm_p =
                    std::sqrt(exact_product(objects.row(p), objects.row(p), d));
                const Region region{above(norm_p),
                                    above(exact_distance(objects.row(p), objects.row(x), d)),
                                    below(norm_x), above(norm_x)};
                check_covers(bounds, {values[q * n_rows + p], values[q * n_rows + x], region});
            }
        }
    }
}

// Scales at which squares, or fourth powers of norms, leave the float64 range, and others.
constexpr double scales[] = {1.0,    1e-3, 1e5,  1e-38, 1e38,  1e-70, 1e-78,  1e-85, 1e-100,
                             1e-130, 1e77, 1e78, 1e79,  1e100, 1e150, 1e-150, 1e-160};

// --- a plane, where the greatest value over ball and norms can be told ---------------------------
struct Plane {
    long double x, y;
};

// The greatest <(q, 0), x> over |x - p| <= radius and least <= |x| <= greatest; it is at the tip of
// the ball, the tip of the greater circle, or where two of the circles meet.
std::optional<long double> greatest_in_plane(long double q, Plane p, long double radius,
                                             long double least, long double greatest) {
    const long double slip = 1e-12L;
    std::optional<long double> best;
    const auto try_point = [&](Plane x) {
        const long double norm = std::hypot(x.x, x.y);
        const long double away = std::hypot(x.x - p.x, x.y - p.y);
        if (norm < least * (1 - slip) || norm > greatest * (1 + slip)) return;
        if (away > radius * (1 + slip) + slip * std::hypot(p.x, p.y)) return;
        if (!best || q * x.x > *best) best = q * x.x;
    };
    try_point({p.x + radius, p.y});
    try_point({greatest, 0.0L});
    const long double norm = std::hypot(p.x, p.y);
    for (const long double r : {least, greatest}) {
        const long double along = (norm * norm + r * r - radius * radius) / (2 * norm);
        if (std::fabs(along) > r) continue;
        const long double across = std::sqrt(r * r - along * along);
        for (const long double side : {across, -across}) {
            try_point({(p.x * along - p.y * side) / norm, (p.y * along + p.x * side) / norm});
        }
    }
    return best;
}

}  // namespace

TEST(bounds_cover_every_value_of_vectors) {
    for (const std::size_t n_columns : {1, 2, 3, 9}) {
        for (const double scale : scales) {
            for (const double query_scale : {1.0, scale, 1.0 / scale, 1e-120, 1e75}) {
                const check::Context here(text("columns", n_columns) + ", scales 1e" +
                                          std::to_string(std::log10(scale)) + " and 1e" +
                                          std::to_string(std::log10(query_scale)));
                const auto objects = awkward_vectors(n_columns, scale, 7 * n_columns),
                           queries = awkward_vectors(n_columns, query_scale, 7 * n_columns);
                if (!(scale * query_scale < 1e150)) continue;  // no finite values
                const auto space = space_of(objects), query_space = space_of(queries);
                check_all(space, query_space);
                check_exact(objects, space, query_space);
            }
        }
    }
}

TEST(bounds_cover_every_value_of_kernels) {
    const VectorKernel kernels[] = {
        {"cosine"},
        {"polynomial", 3, 0.5, 1.0},
        {"polynomial", 2, 1.0, 0.0},
        {"gaussian", 1, 1.0, 0.0, 0.4},
        {"laplacian"},
        {"exponential", 1, 0.3},
    };
    for (const VectorKernel& kernel : kernels) {
        for (const std::size_t n_columns : {1, 2, 3, 8}) {
            for (std::uint64_t seed = 1; seed <= 4; ++seed) {
                const check::Context here(kernel.form + text(", columns", n_columns) +
                                          text(", seed", seed));
                const auto space = space_of(awkward_vectors(n_columns, 1.0, seed), kernel);
                check_all(space, space);
                check_all(space, space_of(awkward_vectors(n_columns, 1.0, seed + 100), kernel));
            }
        }
    }
}

TEST(together_the_bounds_are_tight) {
    Draw draw(5);
    const Geometry geometry({5 * 0x1p-53, 0.0});
    int n_shells = 0;
    for (int round = 0; round < 200000; ++round) {
        const double q = std::ldexp(1.0 + draw.unit() / 2, draw.exponent(3));
        const double x = draw.unit(), y = draw.unit();
        const double norm = std::hypot(x, y);
        if (norm < 0.05) continue;
        const double radius = std::abs(draw.unit()) * 2.0;
        // norms that some point of the ball has
        const double closest = std::abs(norm - radius), furthest = norm + radius;
        const double a = closest + (furthest - closest) * std::abs(draw.unit()),
                     b = closest + (furthest - closest) * std::abs(draw.unit());
        const Region region{norm, radius, std::min(a, b), std::max(a, b)};
        const auto best =
            greatest_in_plane(q, {x, y}, radius, region.least_norm, region.greatest_norm);
        if (!best) continue;
        const QueryBounds bounds(geometry, q * q);
        const double shell = bounds.shell(region, q * x);
        const double bound = std::min({bounds.ball(region, q * x), bounds.cap(region), shell});
        n_shells += shell == bound ? 1 : 0;
        const double size = q * (norm + radius);
        CHECK(bound >= *best - 1e-11L * size);
        CHECK(bound <= *best + 1e-6L * size);
    }
    CHECK(n_shells > 10000);
}

TEST(theorem_4_2_is_the_shell_of_unit_norms) {
    const Geometry geometry({5 * 0x1p-53, 0.0});
    const QueryBounds bounds(geometry, 1.0);
    for (const double angle : {0.3, 0.9, 1.5, 2.5}) {        // between q and p
        for (const double width : {0.01, 0.1, 0.25, 0.5}) {  // between p and x
            const double radius = 2.0 * std::sin(width / 2.0);
            const Region region{1.0, radius, 1.0, 1.0};
            CHECK(std::abs(bounds.shell(region, std::cos(angle)) -
                           std::cos(std::max(0.0, angle - width))) < 1e-6 ||
                  width >= angle);
        }
    }
}

TEST(what_is_not_a_number_never_prunes) {
    const Geometry geometry({1e-15, 0.0}), unknown({infinity, infinity});
    const Region good{1.0, 0.5, 0.8, 1.2};
    const auto prunes = [](double bound) { return bound <= 1e308; };
    for (const double bad : {not_a_number, infinity}) {
        const QueryBounds bounds(geometry, 1.0), without(geometry, bad);
        CHECK(!prunes(without.ball(good, 0.1)));
        CHECK(!prunes(without.cap(good)));
        CHECK(!prunes(without.shell(good, 0.1)));
        for (double Region::* field :
             {&Region::point_norm, &Region::radius, &Region::greatest_norm}) {
            Region region = good;
            region.*field = bad;
            CHECK(!prunes(bounds.ball(region, 0.1)));
            CHECK(field != &Region::greatest_norm || !prunes(bounds.cap(region)));
            CHECK(!prunes(bounds.shell(region, 0.1)));
            CHECK(!prunes(bounds.shell(region, -0.9)));
        }
    }
    const QueryBounds bounds(geometry, 1.0);
    CHECK(!prunes(bounds.ball(good, not_a_number)));
    CHECK(!prunes(bounds.shell(good, not_a_number)));
    const QueryBounds blind(unknown, 1.0);
    CHECK(!prunes(blind.ball(good, 0.1)) && !prunes(blind.cap(good)));
    CHECK(!prunes(blind.shell(good, 0.1)) && !prunes(blind.shell(good, -0.9)));
}
