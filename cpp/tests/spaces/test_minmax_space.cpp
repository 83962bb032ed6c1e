// sum min / sum max: the canonical formula, its bounds and its rounding, dense and sparse alike.

#include "fastmks/spaces/minmax_space.hpp"
#include "tests/support/testing.hpp"

namespace {

Vectors draw_positive(std::size_t n_rows, std::size_t n_columns, int largest, std::uint64_t seed) {
    Vectors vectors = draw_vectors(n_rows, n_columns, largest, seed);
    for (double& value : vectors.data) value = std::abs(value);
    return vectors;
}

double expected(const double* x, const double* y, std::size_t n) {
    const double a = canonical_sum(n, [&](std::size_t c) { return x[c]; });
    const double b = canonical_sum(n, [&](std::size_t c) { return y[c]; });
    const double m = canonical_sum(n, [&](std::size_t c) { return std::min(x[c], y[c]); });
    return a + b == 0.0 ? 0.0 : m / ((a + b) - m);
}

long double exact(const double* x, const double* y, std::size_t n) {
    long double smaller = 0.0L, greater = 0.0L;
    for (std::size_t c = 0; c < n; ++c) {
        smaller += std::min(x[c], y[c]);
        greater += std::max(x[c], y[c]);
    }
    return greater == 0.0L ? 0.0L : smaller / greater;
}

}  // namespace

TEST(minmax_follows_its_formula_in_every_store) {
    for (const std::size_t n_columns : {1, 7, 8, 19, 70}) {
        const Vectors rows = draw_positive(23, n_columns, 6, n_columns);
        const Vectors asked = draw_positive(11, n_columns, 6, n_columns + 100);
        for (const StoreKind kind : store_kinds) {
            for (const Isa isa : available_isas()) {
                const check::Context context(to_string(kind) + " " + to_string(isa));
                const MinMaxSpace objects(make_store(rows, kind), isa);
                const MinMaxSpace queries(make_store(asked, kind), isa);
                CHECK(objects.accepts(queries) && objects.bounds());
                const std::vector<double> values = all_values(objects, queries);
                std::vector<double> bounds(values.size());
                objects.bound_values(*queries.batch(0, 11), Selection::range(0, 23), bounds.data(),
                                     23);
                for (std::size_t at = 0; at < values.size(); ++at) {
                    const double* x = asked.row(at / 23);
                    const double* y = rows.row(at % 23);
                    CHECK(same_bits(values[at], expected(x, y, n_columns)));
                    CHECK(same_bits(values[at], expected(y, x, n_columns)));
                    CHECK(values[at] <= bounds[at] && bounds[at] <= 1.0);
                    if (has_reference) {
                        const auto off = std::abs(values[at] - exact(x, y, n_columns));
                        CHECK(off <= objects.rounding().relative);
                    }
                }
                const std::vector<double> own = all_values(objects, objects);
                for (std::size_t i = 0; i < 23; ++i) {
                    CHECK(own[i * 24] == objects.self_value(i));
                    CHECK(objects.self_value(i) == (objects.is_zero(i) ? 0.0 : 1.0));
                }
            }
        }
    }
}

TEST(minmax_merges_rows_of_very_many_columns) {
    // More columns than the groups of queries keep slots for.
    const Vectors few = draw_positive(9, 12, 6, 5);
    const Csr<double> csr(few);
    Csr<double> wide = csr;
    for (auto& column : wide.columns) column *= 800'000;
    const Isa isa = available_isas().back();
    const auto narrow = csr.store(12);
    const auto spread = wide.store(10'000'000);
    const MinMaxSpace merged(spread, isa);
    const std::vector<double> values = all_values(merged, merged);
    for (std::size_t i = 0; i < 9; ++i) {
        for (std::size_t j = 0; j < 9; ++j) {
            // All columns are multiples of eight: one partial sum, in order.
            double a = 0.0, b = 0.0, m = 0.0;
            for (std::size_t c = 0; c < 12; ++c) {
                a += few.row(i)[c];
                b += few.row(j)[c];
                m += std::min(few.row(i)[c], few.row(j)[c]);
            }
            CHECK(same_bits(values[i * 9 + j], a + b == 0.0 ? 0.0 : m / ((a + b) - m)));
        }
    }
    CHECK(!merged.accepts(MinMaxSpace(narrow, isa)));
}

TEST(minmax_of_extreme_entries) {
    const double tiny = 0x1p-1074, huge = 0x1p1000;
    const Vectors rows{4, 3, {tiny, 0.0, 0.0, tiny, tiny, 0.0, huge, tiny, 1.0, 0.0, 0.0, 0.0}};
    for (const StoreKind kind : {StoreKind::dense_f64, StoreKind::sparse_f64}) {
        const MinMaxSpace space(make_store(rows, kind), available_isas().back());
        const std::vector<double> values = all_values(space, space);
        CHECK(values[1] == 0.5 && values[0] == 1.0 && values[10] == 1.0);
        CHECK(values[2] == 0.0 && values[15] == 0.0);
    }
}
