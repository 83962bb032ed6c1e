// Cosine of vectors, and bandwidths, from one end of the float64 range to the other.

#include "fastmks/spaces/vector_space.hpp"
#include "tests/support/testing.hpp"

namespace {

constexpr double largest = std::numeric_limits<double>::max();
const VectorKernel cosine{"cosine", 1, 1.0, 0.0, 1.0};

// Integers up to 15: any power of two times them is exact, subnormal ones included.
Vectors integer_vectors(std::size_t n_rows, std::size_t n_columns, std::uint64_t seed) {
    Draw draw(seed);
    Vectors vectors{n_rows, n_columns, {}};
    for (std::size_t at = 0; at < n_rows * n_columns; ++at) {
        vectors.data.push_back(static_cast<double>(draw.below(31)) - 15.0);
    }
    return vectors;
}

Vectors scaled(Vectors vectors, int exponent) {
    for (double& value : vectors.data) value = std::ldexp(value, exponent);
    return vectors;
}

// Three of each, from subnormal to huge; the sizes in between are where squares leave the range.
Vectors vectors_at_every_scale() {
    Vectors vectors{0, 6, {}};
    Draw draw(3);
    for (const double scale : {1.0, 1e-300, 1e300, 0x1p-1060, 1e-153, 1e-156, 1e-160, 1e153, 1e160,
                               1e-120, 1e120, 0.0}) {
        for (int copy = 0; copy < 3; ++copy, ++vectors.n_rows) {
            for (int c = 0; c < 6; ++c) vectors.data.push_back(draw.unit() * scale);
        }
    }
    return vectors;
}

void check_cosine(const Vectors& vectors) {
    for (const StoreKind kind : {StoreKind::dense_f64, StoreKind::sparse_f64}) {
        const auto space = space_of(vectors, cosine, kind);
        const auto values = all_values(space, space);
        const std::size_t n = vectors.n_rows;
        for (std::size_t at = 0; at < n * n; ++at) {
            const double *x = vectors.row(at / n), *y = vectors.row(at % n);
            CHECK(std::fabs(values[at]) <= 1.0);
            if (has_reference) {
                const long double exact = exact_value(cosine, x, y, vectors.n_columns);
                CHECK(within(space.rounding(), values[at], exact, 1.0L, 1.0L));
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double* x = vectors.row(i);
            const bool is_zero =
                std::all_of(x, x + vectors.n_columns, [](double v) { return v == 0.0; });
            CHECK(values[i * n + i] == (is_zero ? 0.0 : 1.0));
            CHECK(space.self_value(i) == values[i * n + i]);
        }
    }
}

void check_distances(const Vectors& vectors, double bandwidth) {
    const std::size_t n = vectors.n_rows;
    for (const std::string form : distance_forms) {
        const check::Context here(form);
        const VectorKernel kernel = distance_kernel(form, bandwidth);
        for (const StoreKind kind : {StoreKind::dense_f64, StoreKind::sparse_f64}) {
            const auto space = space_of(vectors, kernel, kind);
            const auto values = all_values(space, space);
            for (std::size_t at = 0; at < n * n; ++at) {
                if (at / n == at % n) CHECK(values[at] == 1.0);
                if (!has_reference) continue;
                const long double exact = exact_value(kernel, vectors.row(at / n),
                                                      vectors.row(at % n), vectors.n_columns);
                CHECK(within(space.rounding(), values[at], exact, 1.0L, 1.0L));
            }
        }
    }
}

}  // namespace

TEST(cosine_does_not_see_powers_of_two) {
    const auto objects = integer_vectors(5, 21, 1);
    const auto queries = integer_vectors(4, 21, 2);
    const auto want = all_values(space_of(objects, cosine), space_of(queries, cosine));
    std::vector<int> exponents{-1074, -1070, -1022, -997, -600, -300, 0, 300, 600, 997, 1018};
    for (int e = 390; e <= 405; ++e) {  // where rows begin to be shifted
        exponents.push_back(e);
        exponents.push_back(-e);
    }
    for (const int a : exponents) {
        for (const int b : {-1074, -402, -396, 0, 399, 1018}) {
            const check::Context here("2^" + std::to_string(a) + ", 2^" + std::to_string(b));
            CHECK(same_bits(all_values(space_of(scaled(objects, a), cosine),
                                       space_of(scaled(queries, b), cosine)),
                            want));
        }
    }
}

TEST(cosine_holds_at_every_scale_within_one_set) {
    check_cosine(vectors_at_every_scale());
}

TEST(cosine_of_some_is_part_of_all) {
    const auto space = space_of(vectors_at_every_scale(), cosine);
    const auto all = all_values(space, space);
    const std::size_t n = space.size();
    const std::int64_t list[] = {14, 0, 7, 8, 29, 3, 3, 20};
    for (std::size_t begin = 0; begin < n; begin += 7) {
        const auto batch = space.batch(begin, std::min(begin + 7, n));
        for (const Selection selection : {Selection::range(begin, n), Selection::list(list, 8)}) {
            std::vector<double> got(batch->size * selection.size), want;
            space.values(*batch, selection, got.data());
            for (std::size_t at = 0; at < got.size(); ++at) {
                want.push_back(
                    all[(begin + at / selection.size) * n + selection[at % selection.size]]);
            }
            CHECK(same_bits(got, want));
        }
    }
}

TEST(cosine_holds_where_one_vector_spans_the_range) {
    Vectors vectors{40, 9, {}};
    Draw draw(4);
    for (int at = 0; at < 40 * 9; ++at) vectors.data.push_back(draw.wide(1000));
    check_cosine(vectors);
    check_cosine({6,
                  2,
                  {largest, largest, largest, -largest, 5e-324, 5e-324, 5e-324, largest, -0.0, 0.0,
                   0.0, -5e-324}});
}

TEST(opposite_and_parallel_vectors_stay_within_one) {
    const auto base = draw_vectors(30, 50, 3, 5);
    Vectors vectors = base;
    for (const double factor : {-1.0, 3.0, 7.0, -1e-9, 1e9}) {
        vectors.n_rows += base.n_rows;
        for (const double value : base.data) vectors.data.push_back(value * factor);
    }
    check_cosine(vectors);
    const auto space = space_of(vectors, cosine);
    const auto values = all_values(space, space);
    for (std::size_t i = 0; i < 30; ++i) {
        if (i != 1) CHECK(values[i * vectors.n_rows + 30 + i] == -1.0);
        if (i == 1) CHECK(values[i * vectors.n_rows + 30 + i] == 0.0);  // the empty row
    }
}

TEST(distance_forms_do_not_see_powers_of_two) {
    const auto objects = draw_vectors(5, 21, 0, 6);
    const auto queries = draw_vectors(4, 21, 0, 7);
    for (const std::string form : distance_forms) {
        const auto at = [&](int e) {
            const VectorKernel kernel = distance_kernel(form, std::ldexp(1.7, e));
            return all_values(space_of(scaled(objects, e), kernel),
                              space_of(scaled(queries, e), kernel));
        };
        const auto want = at(0);
        for (const int e : {-1022, -997, -300, -202, -201, -200, -199, -5, 1, 199, 200, 201, 202,
                            300, 997, 1022}) {
            const check::Context here(form + ", 2^" + std::to_string(e));
            CHECK(same_bits(at(e), want));
        }
    }
}

TEST(distance_forms_hold_at_extreme_bandwidths) {
    for (const double bandwidth :
         {5e-324, 0x1p-1024, 1e-300, 0x1p-1022, 1e-61, 1e-60, 1.0, 1e60, 1e61, 1e300, 1e308}) {
        const check::Context here("bandwidth " + std::to_string(std::log10(bandwidth)));
        Vectors vectors{0, 5, {}};
        Draw draw(8);
        for (const double share : {0.0, 0.05, 0.3, 0.7, 1.7, 1e-9}) {
            for (int copy = 0; copy < 3; ++copy, ++vectors.n_rows) {
                for (int c = 0; c < 5; ++c) vectors.data.push_back(draw.unit() * share * bandwidth);
            }
        }
        check_distances(vectors, bandwidth);
    }
}

TEST(distance_forms_hold_for_far_and_near_points) {
    const Vectors vectors{9,
                          2,
                          {0.0, 0.0, 1.0, 1.0, 1e-300, 0.0, 5e-324, -5e-324, 1e300, -1e300, largest,
                           largest, -largest, -largest, -1e-150, 1e150, 1.0, 1.0 + 0x1p-52}};
    for (const double bandwidth :
         {5e-324, 0x1p-1024, 0x1p-1022, 1e-300, 1e-150, 1.0, 1e150, 1e300, largest}) {
        const check::Context here("bandwidth " + std::to_string(std::log10(bandwidth)));
        check_distances(vectors, bandwidth);
    }
}
