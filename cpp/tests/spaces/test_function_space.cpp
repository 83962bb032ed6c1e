// Spaces of compiled functions: every pair once, in the right order, whatever the layout.

#include "fastmks/spaces/function_space.hpp"
#include "tests/support/testing.hpp"

namespace {

// Not symmetric, so that a swapped pair shows.
double weighted(const double* x, const double* y, std::ptrdiff_t n) {
    double sum = 0.0;
    for (std::ptrdiff_t i = 0; i < n; ++i) sum += x[i] * (1.0 + static_cast<double>(i)) - y[i];
    return sum;
}

// 1 for rows that begin at whole cache lines.
double is_aligned(const double* x, const double* y, std::ptrdiff_t) {
    return (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y)) % 64 == 0;
}

double product(const double* x, const double* y, std::ptrdiff_t n) {
    double sum = 0.0;
    for (std::ptrdiff_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

struct Numbers {
    Numbers(std::size_t n, std::size_t n_columns, std::size_t stride, std::size_t offset)
        : memory(n * stride + offset) {
        for (std::size_t i = 0; i < memory.size(); ++i) {
            memory[i] = static_cast<double>(i * 7919 % 23) - 11.0;
        }
        rows = {memory.data() + offset, n, n_columns, stride};
    }
    std::vector<double> memory;
    DoubleRows rows;
};

}  // namespace

TEST(function_space_calls_the_function_for_each_pair) {
    const Isa isa = available_isas().back();
    for (const std::size_t n_columns : {1, 3, 8, 64, 3000}) {
        for (const std::size_t offset : {0, 1}) {
            const Numbers objects(70, n_columns, n_columns + offset, offset);
            for (const std::size_t n_queries : {1, 2, 9}) {
                const Numbers queries(n_queries, n_columns, n_columns, 0);
                const FunctionSpace space(objects.rows, weighted, {1e-10}, isa);
                const FunctionSpace asked(queries.rows, weighted, {1e-10}, isa);
                CHECK(space.accepts(asked));
                const std::vector<double> values = all_values(space, asked);
                for (std::size_t i = 0; i < n_queries; ++i) {
                    for (std::size_t j = 0; j < 70; ++j) {
                        CHECK(values[i * 70 + j] ==
                              weighted(queries.rows[i], objects.rows[j],
                                       static_cast<std::ptrdiff_t>(n_columns)));
                    }
                }
            }
        }
    }
}

TEST(function_space_refills_and_selects) {
    const Isa isa = available_isas().back();
    const Numbers numbers(30, 5, 5, 0);
    const FunctionSpace space(numbers.rows, weighted, {0.0}, isa);
    const std::vector<std::int64_t> some{4, 0, 29};
    std::unique_ptr<QueryBatch> batch;
    for (const std::size_t query : {3, 11, 29}) {
        space.refill(batch, query);
        std::vector<double> values(3);
        space.values(*batch, Selection::list(some.data(), 3), values.data());
        for (std::size_t j = 0; j < 3; ++j) {
            const auto object = static_cast<std::size_t>(some[j]);
            CHECK(values[j] == weighted(numbers.rows[query], numbers.rows[object], 5));
        }
        CHECK(space.self_value(query) == weighted(numbers.rows[query], numbers.rows[query], 5));
    }
}

TEST(function_space_hands_over_aligned_rows) {
    for (const std::size_t n_columns : {1, 5, 8, 16, 2500}) {
        for (const std::size_t offset : {0, 1, 2, 4}) {
            const Numbers numbers(20, n_columns, n_columns, offset);
            const FunctionSpace space(numbers.rows, is_aligned, {0.0}, available_isas().back());
            for (const double value : all_values(space, space)) CHECK(value == 1.0);
            std::unique_ptr<QueryBatch> batch;
            space.refill(batch, 7);
            space.refill(batch, 13);
            double value = 0.0;
            space.values(*batch, Selection::range(5, 6), &value);
            CHECK(value == 1.0 && space.self_value(3) == 1.0);
        }
    }
}

TEST(function_space_states_what_it_was_told) {
    const Isa isa = available_isas().back();
    Numbers numbers(3, 4, 4, 0);
    for (std::size_t i = 4; i < 8; ++i) numbers.memory[i] = 0.0;
    const FunctionSpace mercer(numbers.rows, product, {1e-9}, isa);
    const FunctionSpace other(numbers.rows, product, {HUGE_VAL}, isa);
    CHECK(mercer.rounding().relative == 1e-9 && mercer.rounding().absolute == 0.0);
    CHECK(std::isinf(other.rounding().relative) && std::isinf(other.rounding().absolute));
    CHECK(mercer.is_zero(1) && !mercer.is_zero(0) && !other.is_zero(1));
    const FunctionSpace another(numbers.rows, weighted, {1e-9}, isa);
    CHECK(!mercer.accepts(another));
    CHECK(mercer.is_parallel() && !mercer.bounds());
}
