// Axes that are chosen, and what projections on them promise about vectors of any length.

#include "fastmks/core/faults.hpp"
#include "fastmks/filters/axes.hpp"

#include "tests/support/testing.hpp"

namespace {

// Rows that are combinations of `rank` drawn ones, and a little more.
Vectors low_rank(std::size_t n_rows, std::size_t n_columns, std::size_t rank, double rest,
                 double scale = 1.0) {
    Draw draw(3);
    std::vector<double> base(rank * n_columns);
    for (double& x : base) x = draw.unit();
    Vectors vectors{n_rows, n_columns, std::vector<double>(n_rows * n_columns)};
    for (std::size_t i = 0; i < n_rows; ++i) {
        double* const row = vectors.data.data() + i * n_columns;
        for (std::size_t r = 0; r < rank; ++r) {
            const double share = draw.unit();
            for (std::size_t c = 0; c < n_columns; ++c) row[c] += share * base[r * n_columns + c];
        }
        for (std::size_t c = 0; c < n_columns; ++c) row[c] = scale * (row[c] + rest * draw.unit());
    }
    return vectors;
}

std::vector<double> rows_of(const AxisProjection& axes) {
    std::vector<double> rows;
    for (std::size_t i = 0; i < axes.dimension(); ++i) {
        rows.insert(rows.end(), axes.axis(i), axes.axis(i) + padded(axes.n_columns()));
    }
    return rows;
}

// The greatest length that the difference of a Gram matrix from the identity gives a unit vector,
// nearly, and certainly no more.
double norm_of_defect(const std::vector<double>& rows, std::size_t n, std::size_t n_columns) {
    std::vector<long double> defect(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            defect[i * n + j] = exact_product(rows.data() + i * padded(n_columns),
                                              rows.data() + j * padded(n_columns), n_columns) -
                                (i == j ? 1.0L : 0.0L);
        }
    }
    std::vector<long double> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = 1.0L + 0.1L * static_cast<long double>(i % 7);
    long double norm = 0.0L;
    for (int step = 0; step < 50; ++step) {
        long double before = 0.0L, after = 0.0L;
        for (std::size_t i = 0; i < n; ++i) {
            y[i] = 0.0L;
            for (std::size_t j = 0; j < n; ++j) y[i] += defect[i * n + j] * x[j];
            before += x[i] * x[i];
            after += y[i] * y[i];
        }
        if (after == 0.0L) return 0.0;
        norm = std::sqrt(after / before);
        for (std::size_t i = 0; i < n; ++i) x[i] = y[i] / std::sqrt(after);
    }
    return static_cast<double>(norm * (1.0L - 1e-15L));
}

}  // namespace

TEST(axes_are_orthonormal_and_find_what_the_vectors_span) {
    for (const std::size_t n_columns : {1u, 5u, 60u, 1100u, 3000u}) {
        const check::Context at(text("columns", n_columns));
        const Vectors vectors = low_rank(400, n_columns, 4, 1e-3);
        for (const std::string form : {"linear", "gaussian", "cosine"}) {
            const VectorSpace space = space_of(vectors, {form});
            const ChosenAxes chosen = choose_axes(space, {}, 1, ignore);
            const std::size_t n = chosen.projection->dimension();
            CHECK(n >= 1 && n <= n_columns && n <= 32);
            CHECK(chosen.survivors > 0.0 && chosen.survivors <= 1.0);
            CHECK(chosen.survivors < 0.5 || n_columns == 1);
            CHECK(orthonormality_defect(rows_of(*chosen.projection), n, n_columns, space.isa()) <
                  1e-11);
            CHECK(choose_axes(space, {.dimension = 3}, 1, ignore).projection->dimension() ==
                  std::min<std::size_t>(3, n_columns));
        }
    }
}

TEST(axes_are_the_same_bits_on_every_instruction_set_and_with_any_threads) {
    for (const std::size_t n_columns : {40u, 1030u}) {
        const Vectors vectors = low_rank(300, n_columns, 20, 0.1);
        const Vectors asked = low_rank(40, n_columns, 20, 0.2);
        std::vector<double> first;
        for (const Isa isa : available_isas()) {
            const VectorSpace space = space_of(vectors, {}, StoreKind::dense_f64, isa);
            const VectorSpace queries = space_of(asked, {}, StoreKind::dense_f64, isa);
            for (const std::size_t threads : {1u, 3u}) {
                const ChosenAxes chosen =
                    choose_axes(space, {.queries = &queries}, threads, ignore);
                std::vector<double> found = rows_of(*chosen.projection);
                found.push_back(chosen.survivors);
                found.push_back(chosen.seconds_per_object);
                if (first.empty()) first = found;
                CHECK(same_bits(found, first));
            }
        }
    }
}

TEST(axes_of_vectors_of_any_size_are_axes) {
    for (const std::size_t n_columns : {6u, 1200u}) {
        for (const double scale : {0.0, 5e-324, 1e-310, 1e-200, 1e150, 1e306}) {
            const check::Context at("scale " + std::to_string(std::log10(scale)));
            const Vectors vectors = low_rank(50, n_columns, 3, 0.01, scale);
            Vectors mixed = low_rank(50, n_columns, 3, 0.01);
            for (std::size_t c = 0; c < n_columns; ++c) {
                mixed.data[7 * n_columns + c] = c % 2 == 0 ? 1e308 : -5e-324;
            }
            for (const std::string form : {"linear", "gaussian", "cosine"}) {
                const VectorSpace space = space_of(vectors, {form}),
                                  other = space_of(mixed, {form});
                const VectorSpace* const spaces[] = {&space, &other};
                for (const VectorSpace* objects : spaces) {
                    for (const VectorSpace* queries : spaces) {
                        const ChosenAxes chosen =
                            choose_axes(*objects, {.queries = queries}, 1, ignore);
                        CHECK(chosen.projection->dimension() >= 1);
                        CHECK(chosen.survivors >= 0.0 && chosen.survivors <= 1.0);
                    }
                }
            }
        }
    }
}

TEST(vectors_that_are_not_finite_have_no_axes) {
    for (const double bad : {infinity, not_a_number}) {
        Vectors vectors = low_rank(30, 5, 3, 0.0);
        vectors.data[52] = bad;
        CHECK_THROWS(CoordinateFault, choose_axes(space_of(vectors), {}, 1, ignore));
    }
}

TEST(choosing_axes_can_be_stopped) {
    struct Enough {};
    for (const std::size_t n_columns : {300u, 2000u}) {
        const VectorSpace space = space_of(low_rank(300, n_columns, 5, 0.1));
        std::size_t n_calls = 0;
        CHECK_THROWS(Enough, choose_axes(space, {}, 2, [&](std::size_t) {
                         if (++n_calls == 20) throw Enough();
                     }));
        CHECK(n_calls == 20);
    }
}

TEST(the_defect_of_axes_is_no_less_than_it_is) {
    Draw draw(9);
    for (const std::size_t n_columns : {1u, 64u, 700u, 9000u}) {
        const std::size_t n = std::min<std::size_t>(12, n_columns);
        for (const double off : {0.0, 1e-15, 1e-12, 1e-9}) {
            // Reflections of unit vectors are orthonormal up to rounding.
            std::vector<double> h(n_columns), rows(n * padded(n_columns));
            for (double& x : h) x = draw.unit();
            const auto square = static_cast<double>(exact_product(h.data(), h.data(), n_columns));
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t c = 0; c < n_columns; ++c) {
                    rows[i * padded(n_columns) + c] =
                        (c == i ? 1.0 : 0.0) - 2.0 * h[i] * h[c] / square + off * draw.unit();
                }
            }
            const double stated =
                orthonormality_defect(rows, n, n_columns, available_isas().back());
            if (has_reference) CHECK(stated >= norm_of_defect(rows, n, n_columns));
            CHECK(stated <= 1e-11 + 100.0 * off * static_cast<double>(n_columns));
            for (const Isa isa : available_isas()) {
                CHECK(orthonormality_defect(rows, n, n_columns, isa) == stated);
            }
        }
    }
    const std::vector<double> bent = {1.0,  0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
                                      1e-6, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const auto project = [](const std::vector<double>& axes, std::size_t n) {
        return AxisProjection(ScoreKind::product, axes, n, 3, {}, available_isas().back());
    };
    CHECK_THROWS(std::invalid_argument, project(bent, 2));
    CHECK_THROWS(std::invalid_argument, project(bent, 1));
    CHECK(orthonormality_defect(std::vector<double>(3 * 8), 3, 2, Isa::baseline) == infinity);
    std::vector<double> missing = bent;
    missing[8] = not_a_number;
    CHECK_THROWS(std::invalid_argument, project(missing, 2));
}

// Rows of more than one piece among them.
TEST(coordinates_of_long_vectors_lie_within_their_errors) {
    if (!has_reference) return;
    for (const std::size_t n_columns : {3u, 2048u, 4096u, 4097u, 10'001u}) {
        const check::Context at(text("columns", n_columns));
        for (const double scale : {1.0, 1e-300, 1e140}) {
            const Vectors vectors = low_rank(19, n_columns, 30, 1e-4, scale);
            const VectorSpace space = space_of(vectors);
            const auto axes = choose_axes(space, {.dimension = 9}, 1, ignore).projection;
            const std::size_t m = axes->dimension();
            Coordinates found;
            axes->project(space, 0, 19, found);
            for (std::size_t i = 0; i < 19; ++i) {
                const double* const x = vectors.row(i);
                const auto unit = std::ldexp(1.0L, -found.exponents[i]);
                long double error = 0.0L, within = 0.0L;
                for (std::size_t a = 0; a < m; ++a) {
                    const long double z = unit * exact_product(axes->axis(a), x, n_columns);
                    const long double off = z - found.rows[i * m + a];
                    error += off * off;
                    within += z * z;
                }
                long double square = 0.0L;
                for (std::size_t c = 0; c < n_columns; ++c) {
                    square += unit * x[c] * unit * x[c];
                }
                CHECK(std::sqrt(error) <= found.errors[i]);
                CHECK(std::sqrt(square) <= found.norms[i]);
                // The axes are orthonormal up to far less than the slack of the tails.
                const long double tail = std::sqrt(std::max(0.0L, square - within));
                CHECK(tail <= found.tails[i] && tail >= found.least_tails[i]);
            }
        }
    }
}
