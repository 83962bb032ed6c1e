// Spaces made of spaces: sums, products, multiples and normalised ones.

#include "fastmks/core/faults.hpp"
#include "fastmks/spaces/algebra.hpp"

#include "tests/support/testing.hpp"

namespace {

constexpr std::size_t n_columns = 13;

VectorKernel kernel_of(const std::string& form, double scale = 1.0) {
    return {form, 3, scale, 0.5, 2.5};
}

const VectorKernel linear = kernel_of("linear");
const VectorKernel gaussian = kernel_of("gaussian");
const VectorKernel polynomial = kernel_of("polynomial", 0.7);
const VectorKernel laplacian = kernel_of("laplacian");

SpacePointer make_space(const Vectors& vectors, const VectorKernel& kernel) {
    return std::make_shared<VectorSpace>(space_of(vectors, kernel));
}

SpacePointer make_table(std::size_t n, TableSpace::Kernel kernel) {
    return std::make_shared<TableSpace>(n, std::move(kernel));
}

// A space with the same value for every pair but (x, x) of one object.
SpacePointer make_odd(double value, double odd_self_value) {
    return make_table(
        4, [=](std::size_t i, std::size_t j) { return i == 2 && j == 2 ? odd_self_value : value; });
}

using Fold = double (*)(double, double, double);

// combined(K1, K2, K3) is `fold` of the three values, bit for bit: values and self values.
void check_fold(SpacePointer (*combine)(std::vector<SpacePointer>), Fold fold) {
    const auto objects = draw_vectors(9, n_columns, 2, 1),
               queries = draw_vectors(5, n_columns, 2, 2);
    const auto of = [&](const Vectors& v) {
        return std::vector{make_space(v, linear), make_space(v, gaussian),
                           make_space(v, polynomial)};
    };
    const auto parts = of(objects), query_parts = of(queries);
    const auto space = combine(parts), query_space = combine(query_parts);
    CHECK(space->size() == 9);
    CHECK(space->isa() == available_isas().back());
    std::vector<std::vector<double>> part_values;
    for (int p = 0; p < 3; ++p) part_values.push_back(all_values(*parts[p], *query_parts[p]));
    std::vector<double> want;
    for (std::size_t at = 0; at < 45; ++at) {
        want.push_back(fold(part_values[0][at], part_values[1][at], part_values[2][at]));
    }
    CHECK(same_bits(all_values(*space, *query_space), want));
    for (std::size_t i = 0; i < 9; ++i) {
        CHECK(same_bits(space->self_value(i), fold(parts[0]->self_value(i), parts[1]->self_value(i),
                                                   parts[2]->self_value(i))));
    }
    // some queries, some objects, rows further apart
    const std::int64_t list[] = {8, 0, 3};
    std::vector<double> out(2 * 5, -7.0);
    space->evaluate(*query_space->batch(3, 5), Selection::list(list, 3), out.data(), 5);
    const std::vector<double> some{want[35], want[27], want[30], -7.0, -7.0,
                                   want[44], want[36], want[39], -7.0, -7.0};
    CHECK(same_bits(out, some));
}

using ExactFold = long double (*)(long double, long double);

// Exact values of a combination of two kernels, to compare with what it computes.
void check_rounding(const Space& space, const Vectors& vectors, const VectorKernel& a,
                    const VectorKernel& b, ExactFold fold) {
    if (!has_reference) return;
    const auto exact = [&](std::size_t i, std::size_t j) {
        return fold(exact_value(a, vectors.row(i), vectors.row(j), n_columns),
                    exact_value(b, vectors.row(i), vectors.row(j), n_columns));
    };
    const std::size_t n = vectors.n_rows;
    const auto values = all_values(space, space);
    CHECK(space.rounding().relative < 1e-13);
    CHECK(space.rounding().absolute < 1e-300);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            CHECK(
                within(space.rounding(), values[i * n + j], exact(i, j), exact(i, i), exact(j, j)));
        }
    }
}

}  // namespace

TEST(a_sum_adds_from_the_left) {
    check_fold(make_sum, [](double a, double b, double c) { return (a + b) + c; });
}

TEST(a_product_multiplies_from_the_left) {
    check_fold(make_product, [](double a, double b, double c) { return (a * b) * c; });
}

TEST(one_part_is_itself) {
    const auto space = make_space(draw_vectors(6, n_columns, 2, 3), polynomial);
    const auto want = all_values(*space, *space);
    for (const auto& same : {make_sum({space}), make_product({space}), make_scaled(space, 1.0)}) {
        CHECK(same_bits(all_values(*same, *same), want));
        CHECK(same_bits(same->self_value(3), space->self_value(3)));
    }
}

TEST(a_multiple_is_one_product) {
    const auto space = make_space(draw_vectors(6, n_columns, 2, 4), polynomial);
    const auto scaled = make_scaled(space, 0.3);
    auto want = all_values(*space, *space);
    for (double& value : want) value *= 0.3;
    CHECK(same_bits(all_values(*scaled, *scaled), want));
    CHECK(same_bits(scaled->self_value(5), space->self_value(5) * 0.3));
    CHECK(scaled->size() == 6);
    std::vector<double> out(2 * 4, -7.0);
    scaled->evaluate(*scaled->batch(1, 3), Selection::range(2, 5), out.data(), 4);
    CHECK(same_bits(out, {want[8], want[9], want[10], -7.0, want[14], want[15], want[16], -7.0}));
}

TEST(combinations_nest) {
    const auto vectors = draw_vectors(6, n_columns, 2, 5);
    const auto a = make_space(vectors, linear), b = make_space(vectors, gaussian);
    const auto space =
        make_sum({make_scaled(make_product({a, b}), 0.25), make_normalized(a, true)});
    const auto va = all_values(*a, *a), vb = all_values(*b, *b);
    const auto normalized = make_normalized(a, true);
    const auto vn = all_values(*normalized, *normalized);
    std::vector<double> want;
    for (std::size_t at = 0; at < 36; ++at) want.push_back((va[at] * vb[at]) * 0.25 + vn[at]);
    CHECK(same_bits(all_values(*space, *space), want));
}

TEST(combinations_keep_within_their_rounding) {
    const auto vectors = draw_vectors(8, n_columns, 2, 6);
    const auto make = [&](const VectorKernel& kernel) { return make_space(vectors, kernel); };
    check_rounding(*make_sum({make(linear), make(gaussian)}), vectors, linear, gaussian,
                   [](long double a, long double b) { return a + b; });
    check_rounding(*make_product({make(laplacian), make(gaussian)}), vectors, laplacian, gaussian,
                   [](long double a, long double b) { return a * b; });
    check_rounding(*make_product({make(polynomial), make(gaussian)}), vectors, polynomial, gaussian,
                   [](long double a, long double b) { return a * b; });
    check_rounding(*make_scaled(make(polynomial), 0.3), vectors, polynomial, gaussian,
                   [](long double a, long double) { return a * 0.3; });
}

TEST(unknown_rounding_stays_unknown) {
    const auto vectors = draw_vectors(3, n_columns, 2, 7);
    const auto tanh = make_space(vectors, kernel_of("tanh"));
    const auto other = make_space(vectors, gaussian);
    CHECK(make_sum({other, tanh})->rounding().relative == infinity);
    CHECK(make_product({other, tanh})->rounding().relative == infinity);
    CHECK(make_product({tanh, other})->rounding().relative == infinity);
    CHECK(make_scaled(tanh, 0.5)->rounding().relative == infinity);
    CHECK(make_normalized(make_scaled(tanh, 0.5), false)->rounding().relative == infinity);
}

TEST(largest_self_values_combine) {
    const auto vectors = draw_vectors(3, n_columns, 2, 8);
    const auto bounded = make_space(vectors, gaussian), unbounded = make_space(vectors, linear);
    CHECK(make_sum({bounded, bounded, bounded})->largest_self_value() == 3.0);
    CHECK(make_sum({bounded, unbounded})->largest_self_value() == infinity);
    const double product =
        make_product({make_scaled(bounded, 4.0), make_scaled(bounded, 0.5)})->largest_self_value();
    CHECK(product >= 2.0 && product < 2.0 + 1e-14);
    CHECK(make_product({bounded, unbounded})->largest_self_value() == infinity);
    CHECK(make_scaled(unbounded, 0.1)->largest_self_value() == infinity);
    CHECK(make_normalized(unbounded, true)->largest_self_value() == 1.0);
}

TEST(parts_of_different_size_are_refused) {
    const auto small = make_space(draw_vectors(3, n_columns, 2, 1), linear);
    const auto large = make_space(draw_vectors(4, n_columns, 2, 1), linear);
    CHECK_THROWS(std::invalid_argument, make_sum({small, large}));
    CHECK_THROWS(std::invalid_argument, make_product({small, small, large}));
    CHECK_THROWS(std::invalid_argument, make_sum({}));
    CHECK_THROWS(std::invalid_argument, make_product({}));
}

TEST(normalized_linear_is_cosine) {
    const auto objects = draw_vectors(9, n_columns, 2, 9),
               queries = draw_vectors(7, n_columns, 2, 10);
    const VectorKernel cosine = kernel_of("cosine");
    const auto space = make_normalized(make_space(objects, linear), true);
    const auto query_space = make_normalized(make_space(queries, linear), true);
    CHECK(same_bits(all_values(*space, *query_space),
                    all_values(*make_space(objects, cosine), *make_space(queries, cosine))));
    const auto values = all_values(*space, *space);
    for (std::size_t i = 0; i < 9; ++i) {
        CHECK(values[i * 9 + i] == (i == 1 ? 0.0 : 1.0));  // row 1 is the zero vector
        CHECK(space->self_value(i) == values[i * 9 + i]);
    }
}

TEST(normalized_values_keep_within_their_rounding) {
    if (!has_reference) return;
    const auto vectors = draw_vectors(8, n_columns, 2, 11);
    const auto space = make_normalized(make_space(vectors, polynomial), true);
    const auto values = all_values(*space, *space);
    const auto exact = [&](std::size_t i, std::size_t j) {
        return exact_value(polynomial, vectors.row(i), vectors.row(j), n_columns);
    };
    CHECK(space->rounding().relative < 1e-13);
    CHECK(space->rounding().absolute == 0.0);
    for (std::size_t i = 0; i < 8; ++i) {
        for (std::size_t j = 0; j < 8; ++j) {
            const long double want = exact(i, j) / std::sqrt(exact(i, i) * exact(j, j));
            CHECK(within(space->rounding(), values[i * 8 + j], want, 1.0L, 1.0L));
        }
    }
}

TEST(only_mercer_values_are_cut_at_one) {
    const auto table = make_table(
        3, [](std::size_t i, std::size_t j) { return i == j ? 4.0 : (i < j ? 12.0 : -12.0); });
    const std::vector<double> cut{1, 1, 1, -1, 1, 1, -1, -1, 1},
        uncut{1, 3, 3, -3, 1, 3, -3, -3, 1};
    const auto is_mercer = make_normalized(table, true), is_not = make_normalized(table, false);
    CHECK(same_bits(all_values(*is_mercer, *is_mercer), cut));
    CHECK(same_bits(all_values(*is_not, *is_not), uncut));
}

TEST(self_values_that_cannot_be_normalized_are_refused) {
    for (const double bad : {-1.0, -1e-300, 5e-324, 0.99e-270}) {
        const auto fault = check::caught<SelfValueFault>(
            [&] { return make_normalized(make_odd(1.0, bad), true); });
        CHECK(fault && fault->object == 2 && fault->value == bad);
    }
    for (const double bad : {infinity, -infinity, not_a_number}) {
        const auto fault =
            check::caught<ValueFault>([&] { return make_normalized(make_odd(1.0, bad), true); });
        CHECK(fault && fault->query == 2 && fault->object == 2 && same_bits(fault->value, bad));
    }
    for (const double good : {0.0, -0.0, 1e-270, 1e308}) {
        const auto space = make_normalized(make_odd(0.0, good), true);
        CHECK(space->self_value(2) == (good == 0.0 ? 0.0 : 1.0));
        CHECK(all_values(*space, *space)[2 * 4 + 2] == space->self_value(2));
    }
}

TEST(a_fault_of_a_combination_names_the_pair) {
    const auto huge =
        make_table(3, [](std::size_t i, std::size_t j) { return i == 1 && j == 2 ? 1e308 : 1.0; });
    for (const auto& space :
         {make_sum({huge, huge}), make_product({huge, huge}), make_scaled(huge, 2.0)}) {
        const auto fault = check::caught<ValueFault>([&] { return all_values(*space, *space); });
        CHECK(fault && fault->query == 1 && fault->object == 2 && fault->value == infinity);
    }
}
