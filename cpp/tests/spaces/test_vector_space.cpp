// Each form against its formula, and what must not make a difference.

#include "fastmks/core/faults.hpp"
#include "fastmks/spaces/vector_space.hpp"
#include "tests/support/testing.hpp"

namespace {

// tanh promises no rounding; its slope is at most 1, so it is off by what its argument is.
Rounding promised(const VectorSpace& space, const VectorKernel& kernel) {
    return kernel.form == "tanh" ? Rounding{1e-13, 0.0} : space.rounding();
}

// The same with all 53 bits in use.
Vectors draw_doubles(std::size_t n_rows, std::size_t n_columns, std::uint64_t seed) {
    Vectors vectors = draw_vectors(n_rows, n_columns, 1, seed);
    Draw draw(seed);
    for (double& value : vectors.data) value *= 1.0 + 0.5 * draw.unit();
    return vectors;
}

void check_formula(const VectorKernel& kernel, const Vectors& objects, const Vectors& queries) {
    const auto space = space_of(objects, kernel);
    const auto values = all_values(space, space_of(queries, kernel));
    const Rounding rounding = promised(space, kernel);
    CHECK(rounding.relative < 1e-10);
    CHECK(rounding.absolute < 1e-300);
    const std::size_t n = objects.n_columns;
    const auto self = [&](const double* x) {
        return kernel.form == "tanh" ? exact_product(x, x, n) + 1 : exact_value(kernel, x, x, n);
    };
    for (std::size_t at = 0; at < values.size(); ++at) {
        const double* x = queries.row(at / objects.n_rows);
        const double* y = objects.row(at % objects.n_rows);
        CHECK(within(rounding, values[at], exact_value(kernel, x, y, n), self(x), self(y)));
    }
}

ValueFault fault_of(const Space& objects, const QueryBatch& queries, Selection selection) {
    std::vector<double> out(queries.size * selection.size);
    const auto fault =
        check::caught<ValueFault>([&] { return objects.values(queries, selection, out.data()); });
    CHECK(fault);
    return fault.value_or(ValueFault{0, 0, 0.0});
}

}  // namespace

TEST(forms_keep_to_their_formulas_within_rounding) {
    if (!has_reference) return;
    for (const VectorKernel& kernel : all_kernels()) {
        for (const std::size_t n_columns : {1, 7, 64, 300}) {
            const check::Context here(kernel.form + text(", columns", n_columns));
            check_formula(kernel, draw_doubles(6, n_columns, n_columns),
                          draw_doubles(9, n_columns, n_columns + 1000));
        }
    }
}

TEST(rounding_covers_the_worst_sum) {
    if (!has_reference) return;
    // Every eighth column has a product of 2^-53, which the 1 of the first column swallows.
    for (const std::size_t terms : {10, 100, 1000}) {
        const check::Context here(text("terms", terms));
        const std::size_t n_columns = terms * n_lanes;
        Vectors vectors{3, n_columns, std::vector<double>(3 * n_columns)};
        for (std::size_t c = 0; c < n_columns; c += n_lanes) {
            vectors.data[c] = c == 0 ? 1.0 : 0x1p-26;
            vectors.data[n_columns + c] = c == 0 ? 1.0 : 0x1p-27;
        }
        for (const VectorKernel& kernel : all_kernels()) check_formula(kernel, vectors, vectors);
        const auto space = space_of(vectors);
        const long double error =
            exact_product(vectors.row(0), vectors.row(1), n_columns) - all_values(space, space)[1];
        CHECK(error > 0.6 * space.rounding().relative);  // so nothing less would do
    }
}

TEST(a_negative_offset_keeps_the_formula_but_promises_nothing) {
    const VectorKernel kernel{"polynomial", 3, 0.5, -1.5, 1.0};
    const auto vectors = draw_vectors(6, 20, 1, 4);
    const auto space = space_of(vectors, kernel);
    CHECK(space.rounding().relative == infinity);
    const auto values = all_values(space, space);
    for (std::size_t at = 0; has_reference && at < 36; ++at) {
        const long double exact = exact_value(kernel, vectors.row(at / 6), vectors.row(at % 6), 20);
        CHECK(std::fabs(values[at] - exact) < 1e-12);
    }
}

TEST(tanh_promises_nothing) {
    const VectorKernel kernel{"tanh", 1, 1.0, 0.0, 1.0};
    CHECK(space_of(draw_vectors(2, 3, 1, 1), kernel).rounding().relative == infinity);
}

TEST(stores_and_isas_make_no_difference) {
    const auto objects = draw_vectors(11, 45, 1, 2);
    const auto queries = draw_vectors(10, 45, 1, 3);
    for (const VectorKernel& kernel : all_kernels()) {
        const auto want =
            all_values(space_of(objects, kernel, StoreKind::dense_f64, Isa::baseline),
                       space_of(queries, kernel, StoreKind::dense_f64, Isa::baseline));
        for (const Isa isa : available_isas()) {
            for (const StoreKind kind : store_kinds) {
                const check::Context here(kernel.form + ", " + to_string(isa) + ", " +
                                          to_string(kind));
                const auto space = space_of(objects, kernel, kind, isa);
                CHECK(space.isa() == isa);
                CHECK(space.size() == 11);
                CHECK(same_bits(all_values(space, space_of(queries, kernel, kind, isa)), want));
            }
        }
    }
}

TEST(batches_and_selections_make_no_difference) {
    const auto objects = draw_vectors(11, 21, 1, 5);
    const auto queries = draw_vectors(10, 21, 1, 6);
    const std::int64_t list[] = {10, 1, 4, 4, 0};
    for (const VectorKernel& kernel : all_kernels()) {
        for (const StoreKind kind : store_kinds) {
            const check::Context here(kernel.form + ", " + to_string(kind));
            const auto space = space_of(objects, kernel, kind);
            const auto query_space = space_of(queries, kernel, kind);
            const auto all = all_values(space, query_space);
            const auto batch = query_space.batch(3, 8);
            CHECK(batch->begin == 3 && batch->size == 5);
            for (const Selection selection : {Selection::range(2, 9), Selection::list(list, 5)}) {
                std::vector<double> got(5 * selection.size), want;
                space.values(*batch, selection, got.data());
                for (std::size_t i = 3; i < 8; ++i) {
                    for (std::size_t j = 0; j < selection.size; ++j)
                        want.push_back(all[i * 11 + selection[j]]);
                }
                CHECK(same_bits(got, want));
            }
        }
    }
}

TEST(self_value_is_the_value_with_itself) {
    const auto vectors = draw_vectors(8, 45, 1, 7);
    for (const VectorKernel& kernel : all_kernels()) {
        for (const StoreKind kind : store_kinds) {
            const check::Context here(kernel.form + ", " + to_string(kind));
            const auto space = space_of(vectors, kernel, kind);
            const auto values = all_values(space, space);
            for (std::size_t i = 0; i < 8; ++i) {
                CHECK(same_bits(space.self_value(i), values[i * 8 + i]));
                CHECK(space.self_value(i) <= space.largest_self_value());
            }
        }
    }
}

TEST(values_are_symmetric) {
    const auto vectors = draw_vectors(8, 45, 1, 8);
    for (const VectorKernel& kernel : all_kernels()) {
        const auto space = space_of(vectors, kernel);
        const auto values = all_values(space, space);
        for (std::size_t at = 0; at < 64; ++at)
            CHECK(same_bits(values[at], values[at % 8 * 8 + at / 8]));
    }
}

TEST(bounded_forms_know_their_largest_self_value) {
    const auto vectors = draw_vectors(2, 3, 1, 1);
    for (const VectorKernel& kernel : all_kernels()) {
        const bool unbounded =
            kernel.form == "linear" || kernel.form == "polynomial" || kernel.form == "exponential";
        CHECK(space_of(vectors, kernel).largest_self_value() == (unbounded ? infinity : 1.0));
    }
}

TEST(a_value_fault_names_the_pair) {
    Vectors objects{5, 2, {1.0, 1.0, 2.0, 0.0, 0x1p600, 0.0, 0.0, 3.0, 0x1p600, -0x1p600}};
    Vectors queries{4, 2, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0x1p600, 0x1p600}};
    for (const StoreKind kind : {StoreKind::dense_f64, StoreKind::sparse_f64}) {
        const auto space = space_of(objects, {}, kind);
        const auto query_space = space_of(queries, {}, kind);
        const auto batch = query_space.batch(1, 4);
        const ValueFault first = fault_of(space, *batch, Selection::range(0, 5));
        CHECK(first.query == 3 && first.object == 2 && first.value == infinity);
        const ValueFault later = fault_of(space, *batch, Selection::range(3, 5));
        CHECK(later.query == 3 && later.object == 4 && std::isnan(later.value));
        const std::int64_t list[] = {1, 4, 0, 2};
        const ValueFault listed = fault_of(space, *batch, Selection::list(list, 4));
        CHECK(listed.query == 3 && listed.object == 4);
        std::vector<double> out(10);
        space.values(*query_space.batch(1, 3), Selection::range(0, 5), out.data());
        CHECK(out[7] == 0x1.4p602);  // query 2 with object 2 is large, not infinite
        space.evaluate(*query_space.batch(3, 4), Selection::range(2, 3), out.data(), 1);
        CHECK(out[0] == infinity);  // evaluate does not check
    }
}

TEST(overflow_in_a_form_is_a_fault_and_underflow_is_not) {
    const Vectors vectors{2, 1, {30.0, -30.0}};
    const auto exponential = space_of(vectors, {"exponential", 1, 1.0, 0.0, 1.0});
    const ValueFault fault =
        fault_of(exponential, *exponential.batch(0, 2), Selection::range(0, 2));
    CHECK(fault.query == 0 && fault.object == 0 && fault.value == infinity);
    double value = -1.0;
    exponential.values(*exponential.batch(0, 1), Selection::range(1, 2), &value);
    CHECK(same_bits(value, 0.0));
    const auto power = space_of(vectors, {"polynomial", 401, 1.0, 0.0, 1.0});
    CHECK(fault_of(power, *power.batch(1, 2), Selection::range(0, 1)).value == -infinity);
}

TEST(a_refilled_batch_is_as_good_as_a_new_one) {
    const Vectors vectors = draw_doubles(9, 13, 5);
    for (const StoreKind kind : store_kinds) {
        for (const std::string form : {"linear", "cosine", "gaussian"}) {
            const auto space = space_of(vectors, {form}, kind);
            const auto other = space_of(draw_doubles(4, 13, 6), {form}, kind);
            std::unique_ptr<QueryBatch> batch;
            for (const std::size_t position : {3, 0, 8, 8, 1}) {
                std::vector<double> got(9), want(9);
                space.refill(batch, position);
                space.values(*batch, Selection::range(0, 9), got.data());
                space.values(*space.batch(position, position + 1), Selection::range(0, 9),
                             want.data());
                CHECK(same_bits(got, want));
                CHECK(batch->begin == position && batch->size == 1);
                if (position == 0) batch = other.batch(0, 3);  // of another space and size
            }
        }
    }
}
