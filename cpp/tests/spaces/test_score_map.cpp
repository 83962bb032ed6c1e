// Values from scores: every score in the range has a value below, and the range is not
// needlessly small.

#include "fastmks/spaces/score_map.hpp"

#include "fastmks/spaces/algebra.hpp"
#include "fastmks/spaces/score_search.hpp"
#include "tests/support/testing.hpp"

namespace {

const VectorKernel kernels[] = {
    {"linear"},
    {"polynomial", 3, 0.5, 1.0},
    {"polynomial", 2, 2.0, -3.0},
    {"polynomial", 10, 1.0, 0.25},
    {"tanh", 1, 0.01, 0.5},
    {"tanh", 1, 50.0},  // saturated
    {"exponential", 1, 0.02},
    {"cosine"},
    {"gaussian", 1, 1.0, 0.0, 3.0},
    {"laplacian", 1, 1.0, 0.0, 9.0},
    {"epanechnikov", 1, 1.0, 0.0, 20.0},
    {"triangular", 1, 1.0, 0.0, 20.0},
    {"spherical", 1, 1.0, 0.0, 20.0},
};

std::string name_of(const VectorKernel& kernel) {
    return kernel.form + text(" ", kernel.degree);
}

// The score of two vectors, closer to the exact one than any bound here.
long double exact_score(ScoreKind kind, const double* x, const double* y, std::size_t n) {
    long double product = 0, square = 0, x_square = 0, y_square = 0;
    for (std::size_t c = 0; c < n; ++c) {
        const long double a = x[c], b = y[c];
        product += a * b;
        square += (a - b) * (a - b);
        x_square += a * a;
        y_square += b * b;
    }
    if (kind == ScoreKind::distance) return -square / 2;
    if (kind == ScoreKind::product) return product;
    const long double norms = std::sqrt(x_square) * std::sqrt(y_square);
    return norms > 0 ? product / norms : 0;
}

void check_space(const Space& space, const Vectors& vectors) {
    const ScoreMap& map = scores_of(space);
    const std::size_t n = space.size();
    const std::vector<double> values = all_values(space, space);
    std::vector<long double> scores(n * n);
    double largest = 0.0;
    for (std::size_t i = 0; i < n * n; ++i) {
        scores[i] =
            exact_score(map.kind, vectors.row(i / n), vectors.row(i % n), vectors.n_columns);
        largest = std::max(largest, 1.01 * static_cast<double>(std::abs(scores[i])) + 1e-300);
    }
    for (std::size_t i = 0; i < n * n; ++i) {
        const ScoreRange range = map.scores_below(values[i], largest);
        std::size_t n_inside = 0, n_below = 0;
        for (std::size_t j = 0; j < n * n; ++j) {
            const bool is_inside = range.low < scores[j] && scores[j] < range.high;
            if (is_inside) CHECK(values[j] < values[i]);
            n_inside += is_inside;
            // A value well below must be seen to be so.
            n_below += values[j] < values[i] - 1e-6 * std::abs(values[i]) - 1e-6;
        }
        CHECK(n_inside >= n_below);
    }
    for (std::size_t i = 0; i < n * n; ++i) {
        const double value = map.value_from(static_cast<double>(scores[i]), largest);
        if (!map.is_increasing) {
            CHECK(value == -HUGE_VAL);
            const long double distance = std::abs(scores[i] - map.middle);
            const double least = map.value_beyond(static_cast<double>(distance), largest);
            for (std::size_t j = 0; j < n * n; ++j) {
                const long double other = std::abs(scores[j] - map.middle);
                if (other >= static_cast<double>(distance)) CHECK(values[j] >= least);
            }
            CHECK(least >= values[i] - 1e-6 * std::abs(values[i]) - 1e-6);
        }
        std::size_t n_less = 0;
        for (std::size_t j = 0; j < n * n; ++j) {
            if (scores[j] >= static_cast<double>(scores[i])) CHECK(values[j] >= value);
            n_less += values[j] < values[i] - 1e-6 * std::abs(values[i]) - 1e-6;
        }
        // And not much less than the values there.
        if (map.is_increasing && n_less > 0) {
            CHECK(value >= values[i] - 1e-6 * std::abs(values[i]) - 1e-6);
        }
    }
}

}  // namespace

TEST(scores_in_the_range_have_lesser_values) {
    if (!has_reference) return;
    for (const VectorKernel& kernel : kernels) {
        const check::Context context(name_of(kernel));
        for (const std::size_t n_columns : {1, 9}) {
            Vectors vectors = draw_vectors(14, n_columns, 3, 29);
            vectors.data[0] = vectors.data[n_columns * 5];  // a near tie
            check_space(space_of(vectors, kernel), vectors);
        }
    }
}

TEST(sums_products_and_multiples_keep_what_orders_them) {
    if (!has_reference) return;
    const Isa isa = available_isas().back();
    const Vectors vectors = draw_vectors(12, 6, 2, 31);
    const auto store = make_store(vectors, StoreKind::dense_f64);
    const auto make = [&](VectorKernel kernel) -> SpacePointer {
        return std::make_shared<VectorSpace>(store, kernel, isa);
    };
    const auto linear = make({"linear"});
    const auto cubic = make({"polynomial", 3, 0.1, 1.0, 1.0});
    const auto square = make({"polynomial", 2, 0.1, 1.0, 1.0});
    const auto cosine = make({"cosine"});
    const auto normalized = make_normalized(linear, true);
    check_space(*normalized, vectors);
    check_space(*make_sum({cosine, make_scaled(normalized, 2.0)}), vectors);
    const auto wide = make({"gaussian", 1, 1.0, 0.0, 9.0});
    const auto narrow = make({"laplacian", 1, 1.0, 0.0, 4.0});
    check_space(*make_sum({linear, make_scaled(cubic, 0.3)}), vectors);
    check_space(*make_scaled(square, 1e-7), vectors);
    check_space(*make_sum({wide, narrow}), vectors);
    check_space(*make_product({wide, narrow}), vectors);
    CHECK(!make_sum({linear, wide})->scores());
    CHECK(!make_sum({linear, square})->scores());
    CHECK(!make_product({linear, linear})->scores());
    CHECK(!make_normalized(cubic, true)->scores());
    const auto other = std::make_shared<VectorSpace>(space_of(vectors));
    CHECK(!make_sum({linear, other})->scores());
}

TEST(small_factors_make_values_that_underflow) {
    if (!has_reference) return;
    const Isa isa = available_isas().back();
    Vectors vectors = draw_vectors(12, 3, 2, 37);
    for (double& x : vectors.data) x *= 9.0;  // values of narrow kernels underflow
    const auto store = make_store(vectors, StoreKind::dense_f64);
    for (const VectorKernel& kernel : kernels) {
        const check::Context context(name_of(kernel));
        const auto space = std::make_shared<VectorSpace>(store, kernel, isa);
        for (const double factor : {0.05, 0x1p-60, 1e-160, 1e-310, 0x1p-1074}) {
            check_space(*make_scaled(space, factor), vectors);
            check_space(*make_scaled(make_scaled(space, 0x1p-540), factor), vectors);
            const auto sum = make_sum({space, make_scaled(space, factor)});
            if (sum->scores()) check_space(*sum, vectors);
        }
    }
}

TEST(a_guess_changes_the_work_and_not_the_limit) {
    const auto value = [](double t) { return t * t * t; };
    const double none = std::nan("");
    for (const double guess : {none, 0.5, 0.5 + 1e-9, 0.499, -1.0, 3.0, -2.0, 9.0, HUGE_VAL}) {
        const double t = greatest_below(value, 0.125, -2.0, 3.0, guess);
        CHECK(value(t) < 0.125);
        CHECK(t > 0.5 - 1e-12);
        CHECK(greatest_below(value, 28.0, -2.0, 3.0, guess) == 3.0);
        CHECK(greatest_below(value, -9.0, -2.0, 3.0, guess) == -HUGE_VAL);
        CHECK(greatest_below(value, -8.0, -2.0, 3.0, guess) == -HUGE_VAL);
    }
    const auto step = [](double t) { return t < 1.0 ? 0.0 : 1.0; };  // a plateau and a cliff
    for (const double guess : {none, 0.2, 1.0, 1.7}) {
        const double t = greatest_below(step, 1.0, 0.0, 2.0, guess);
        CHECK(t < 1.0);
        CHECK(t > 1.0 - 1e-12);
    }
    std::size_t n_looks = 0;
    const auto counted = [&](double t) {
        ++n_looks;
        return t;
    };
    CHECK(greatest_below(counted, 0.3, -1.0, 1.0, 0.3) < 0.3);
    CHECK(n_looks <= 4);
}

TEST(guesses_are_near_the_score) {
    const auto store = make_store(draw_vectors(4, 6, 2, 31), StoreKind::dense_f64);
    for (const VectorKernel& kernel : kernels) {
        const check::Context context(name_of(kernel));
        const VectorSpace space(store, kernel, available_isas().back());
        if (!space.is_increasing || kernel.form == "spherical") continue;
        const double score = space.kind == ScoreKind::distance ? -2.0 : 0.3;
        const double value = space.value_above(score);
        if (value < 1.0 - 1e-9 || kernel.form == "polynomial") {
            CHECK(std::abs(space.score_near(value) - score) < 1e-6);
        }
    }
}
