// Objects on the span of pivots: coordinates of known length, contradictions found, and searches
// that find what the scan finds.

#include "fastmks/core/faults.hpp"
#include "fastmks/filters/pivot_projection.hpp"

#include <random>

#include "fastmks/filters/pivot_search.hpp"
#include "tests/support/testing.hpp"

namespace {

// Inner products of a few whole numbers, which are exact.
struct Whole {
    Whole(std::size_t n, std::size_t n_columns, unsigned seed) : columns(n_columns) {
        std::mt19937 draw(seed);
        for (std::size_t i = 0; i < n * n_columns; ++i) {
            rows.push_back(static_cast<double>(draw() % 19) - 9.0);
        }
    }
    [[nodiscard]] double product(std::size_t i, const Whole& other, std::size_t j) const {
        double sum = 0.0;
        for (std::size_t c = 0; c < columns; ++c) {
            sum += rows[i * columns + c] * other.rows[j * columns + c];
        }
        return sum;
    }
    [[nodiscard]] TableSpace space() const {
        return TableSpace(rows.size() / columns,
                          [this](std::size_t i, std::size_t j) { return product(i, *this, j); });
    }
    std::size_t columns;
    std::vector<double> rows;
};

std::vector<std::int64_t> first(std::size_t n) {
    return positions_from(0, n, 1);
}

Answer searched(const ScanProblem& problem, const PivotTable& table, std::size_t k,
                BoundCounts& counts) {
    Answer answer(problem.queries, k);
    counts =
        pivots_top_k(problem, table, k, 2, ignore, answer.values.data(), answer.positions.data());
    return answer;
}

}  // namespace

TEST(pivot_coordinates_are_those_of_the_span) {
    const Whole vectors(40, 5, 1);
    const TableSpace space = vectors.space();
    const PivotProjection projection(space, first(8));
    CHECK(projection.n_pivots() == 5);  // no more exist
    CHECK(projection.error_share() < 1e-11);
    CHECK(projection.known().size() == 5);
    Coordinates found;
    projection.project(space, 0, 40, found);
    for (std::size_t i = 0; i < 40; ++i) {
        const double unit_i = std::ldexp(1.0, found.exponents[i]);
        CHECK(found.tails[i] < 2e-5 && found.least_tails[i] == 0.0);
        CHECK(found.norms[i] >= 1.0 && found.norms[i] < 2.0);
        for (std::size_t j = 0; j < 40; ++j) {
            double product = 0.0;
            for (std::size_t c = 0; c < 5; ++c) {
                product += found.rows[i * 5 + c] * found.rows[j * 5 + c];
            }
            product *= unit_i * std::ldexp(1.0, found.exponents[j]);
            CHECK(std::abs(product - vectors.product(i, vectors, j)) < 1e-9);
        }
        for (std::size_t j = 0; j < 5; ++j) {
            const auto pivot = static_cast<std::size_t>(projection.known()[j]);
            CHECK(found.known[i * 5 + j] == vectors.product(i, vectors, pivot));
        }
    }
}

TEST(pivot_bounds_hold_for_exact_values) {
    // Canonical values round; the bounds are on exact ones, which long double stands for here.
    if (!has_reference) return;
    std::mt19937 draw(7);
    std::normal_distribution<double> normal;
    constexpr std::size_t n = 60, columns = 4;
    for (const double spread : {1.0, 1e-3, 1e-6}) {
        Vectors rows{n, columns, std::vector<double>(n * columns)};
        for (double& x : rows.data) x = 1.0 + spread * normal(draw);
        for (const VectorKernel& kernel : all_kernels()) {
            if (kernel.form == "tanh" || kernel.form == "epanechnikov" ||
                kernel.form == "triangular" || kernel.form == "spherical") {
                continue;  // not Mercer
            }
            const check::Context context(kernel.form + " " + std::to_string(spread));
            const VectorSpace space = space_of(rows, kernel);
            const PivotProjection projection(space, first(10));
            Coordinates found;
            projection.project(space, 0, n, found);
            const std::size_t m = found.dimension;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    long double sum = 0.0L;
                    for (std::size_t c = 0; c < m; ++c) {
                        sum +=
                            static_cast<long double>(found.rows[i * m + c]) * found.rows[j * m + c];
                    }
                    const long double slack =
                        static_cast<long double>(found.errors[i]) * found.norms[j] +
                        static_cast<long double>(found.errors[j]) * found.norms[i] +
                        static_cast<long double>(found.errors[i]) * found.errors[j];
                    const long double tails =
                        static_cast<long double>(found.tails[i]) * found.tails[j];
                    const long double exact =
                        std::ldexp(exact_value(kernel, rows.row(i), rows.row(j), columns),
                                   -found.exponents[i] - found.exponents[j]);
                    CHECK(std::fabs(exact - sum) <= tails + slack);
                }
            }
        }
    }
}

TEST(pivots_that_others_span_are_left_out) {
    const TableSpace same(9, [](std::size_t, std::size_t) { return 2.0; });
    CHECK(PivotProjection(same, first(9)).pivots() == (std::vector<std::int64_t>{0}));
    const TableSpace nothing(3, [](std::size_t, std::size_t) { return 0.0; });
    const PivotProjection empty(nothing, first(3));
    CHECK(empty.n_pivots() == 0 && empty.dimension() == 1);
    Coordinates found;
    empty.project(nothing, 0, 3, found);
    CHECK(found.norms[1] == 0.0 && found.rows[1] == 0.0 && found.errors[1] == 0.0);
    CHECK_THROWS(std::invalid_argument, PivotProjection(same, {0, 9}));
    CHECK_THROWS(std::invalid_argument, PivotProjection(same, {3, 3}));
}

TEST(pivots_contradict_what_is_not_mercer) {
    // Every three of these four have a positive definite Gram matrix.
    const TableSpace four(4, [](std::size_t i, std::size_t j) { return i == j ? 1.0 : -0.4; });
    const PivotProjection projection(four, {2, 0, 3});
    CHECK(projection.n_pivots() == 3);
    Coordinates found;
    projection.project(four, 2, 4, found);
    const auto fault =
        check::caught<PivotFault>([&] { return projection.project(four, 0, 4, found); });
    CHECK(fault && fault->query == 1 && fault->object == itself && fault->limit == 1.0);
    CHECK(fault && fault->value > 2.0 && fault->pivots == std::vector<std::int64_t>{2, 0, 3});
    const TableSpace negative(2, [](std::size_t i, std::size_t j) { return i == j ? -1.0 : 0.0; });
    CHECK_THROWS(NotMercerFault, PivotProjection(negative, {0}));
    const double gram[2][2] = {{4.0, 1.0}, {1.0, 0.0}};
    const TableSpace zero(2, [&](std::size_t i, std::size_t j) { return gram[i][j]; });
    CHECK_THROWS(NotMercerFault, PivotProjection(zero, {0}).project(zero, 0, 2, found));
}

TEST(searches_with_pivots_find_what_the_scan_finds) {
    const std::vector<std::int64_t> some{0, 1, 2, 3, 4, 5, 6};
    for (const std::size_t n : {7, 700}) {
        const Whole vectors(n, 6, 3);
        for (const std::size_t m : {0, 1, 4, 6}) {
            const check::Context context(text("objects", n) + text(", pivots", m));
            const TableSpace space = vectors.space();
            const auto projection = std::make_shared<PivotProjection>(space, first(m));
            const PivotTable table(projection, 2, ignore);
            CHECK(table.size() == n && table.n_bytes() > 4 * n * m);
            for (const bool is_all : {true, false}) {
                const ScanProblem problem{
                    space, space,
                    is_all ? Selection::range(0, n) : Selection::list(some.data(), some.size()),
                    is_all};
                for (const std::size_t k :
                     {std::size_t{1}, std::size_t{5}, problem.among.size - 1}) {
                    const Answer wanted = scanned(problem, k);
                    const std::size_t before = space.n_evaluations;
                    BoundCounts counts;
                    CHECK(searched(problem, table, k, counts) == wanted);
                    CHECK(space.n_evaluations - before == counts.evaluations + counts.projections);
                    // The values of pivots with themselves are known.
                    CHECK(counts.projections == (n - 1) * projection->n_pivots());
                    // No object is evaluated twice, but pivots that are not searched.
                    CHECK(counts.evaluations + (is_all ? counts.projections : 0) <=
                          n * problem.among.size);
                }
                const std::vector<double> thresholds(n, 40.0);
                std::vector<std::vector<Hit>> found;
                const ScanProblem above{space, space, problem.among};
                pivots_above(above, table, thresholds.data(), 2, ignore, found);
                const auto wanted = scan_above(above, thresholds.data(), 1, ignore);
                for (std::size_t i = 0; i < n; ++i) CHECK(same_hits(found[i], wanted[i]));
            }
        }
    }
}

TEST(values_beyond_the_bounds_of_pivots_are_contradictions) {
    // Objects 0 and 1 are close, 2 is far from the pivot 0 and yet close to 1.
    const double gram[3][3] = {{1.0, 0.9, -0.9}, {0.9, 1.0, 0.9}, {-0.9, 0.9, 1.0}};
    const TableSpace space(3, [&](std::size_t i, std::size_t j) { return gram[i][j]; });
    const auto projection = std::make_shared<PivotProjection>(space, std::vector<std::int64_t>{0});
    const PivotTable table(projection, 1, ignore);
    const ScanProblem problem{space, space, Selection::range(0, 3), true};
    BoundCounts counts;
    const auto fault =
        check::caught<PivotFault>([&] { return searched(problem, table, 2, counts); });
    CHECK(fault && fault->query == 1 && fault->object == 2 && fault->value == 0.9);
    CHECK(fault && fault->limit < -0.6 && fault->pivots == std::vector<std::int64_t>{0});
}
