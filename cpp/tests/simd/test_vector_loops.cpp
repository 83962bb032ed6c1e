// The sums over columns: one canonical order, whatever the instruction set and the blocks.

#include "fastmks/simd/loops.hpp"
#include "fastmks/stores/lane_sum.hpp"
#include "tests/support/testing.hpp"

namespace {

// Queries and rows with entries of many sizes, so that any other order of the sum gives other bits.
// Each array ends with its last column: a sanitizer sees a loop that reads beyond.
template <class T>
struct Problem {
    Problem(std::size_t n_queries_, std::size_t n_rows_, std::size_t n_columns_, std::uint64_t seed)
        : n_queries(n_queries_), n_rows(n_rows_), n_columns(n_columns_) {
        Draw draw(seed);
        queries.resize(n_queries * padded(n_columns));
        for (std::size_t i = 0; i < n_queries; ++i) {
            double* row = queries.data() + i * padded(n_columns);
            for (std::size_t c = 0; c < n_columns; ++c) row[c] = draw.wide(3);
        }
        data.resize(n_rows * n_columns);
        for (T& value : data) value = static_cast<T>(draw.wide(3));
        for (std::size_t j = 0; j < n_rows; ++j) rows.push_back(data.data() + j * n_columns);
    }
    const T* end() const { return data.data() + data.size(); }
    const double* query(std::size_t i) const { return queries.data() + i * padded(n_columns); }

    std::size_t n_queries, n_rows, n_columns;
    std::vector<double> queries;
    std::vector<T> data;
    std::vector<const T*> rows;
};

struct Range {
    std::size_t begin, end;
};

template <class T>
std::vector<double> expected_products(const Problem<T>& p) {
    std::vector<double> out;
    for (std::size_t i = 0; i < p.n_queries; ++i) {
        for (std::size_t j = 0; j < p.n_rows; ++j) {
            out.push_back(canonical_product(p.query(i), p.rows[j], p.n_columns));
        }
    }
    return out;
}

template <class T>
std::vector<double> expected_distances(const Problem<T>& p, DifferenceScale scale) {
    std::vector<double> out;
    for (std::size_t i = 0; i < p.n_queries; ++i) {
        for (std::size_t j = 0; j < p.n_rows; ++j) {
            out.push_back(canonical_squared_distance(p.query(i), p.rows[j], p.n_columns,
                                                     scale.before, scale.after));
        }
    }
    return out;
}

template <class T>
void check_sums(const VectorLoops& loops, const Problem<T>& p) {
    const DenseQueries queries{p.queries.data(), p.n_queries, p.n_columns};
    const DenseBlock<T> block{p.rows.data(), p.n_rows, p.n_columns, p.end()};
    std::vector<double> out(p.n_queries * p.n_rows);
    loops.rows<T>().products(queries, block, out.data(), p.n_rows);
    CHECK(same_bits(out, expected_products(p)));
    for (const DifferenceScale scale :
         {DifferenceScale{}, DifferenceScale{0x1p-1000, 1.0}, DifferenceScale{1.0, 0x1p900}}) {
        loops.rows<T>().squared_distances(queries, block, scale, out.data(), p.n_rows);
        CHECK(same_bits(out, expected_distances(p, scale)));
    }
}

// One block of a problem into its place in a larger array, nothing else touched.
template <class T>
void check_block(const VectorLoops& loops, const Problem<T>& p, Range queries, Range rows,
                 const std::vector<double>& all_products,
                 const std::vector<double>& all_distances) {
    const DenseQueries some{p.query(queries.begin), queries.end - queries.begin, p.n_columns};
    const DenseBlock<T> block{p.rows.data() + rows.begin, rows.end - rows.begin, p.n_columns,
                              p.end()};
    const std::size_t first = queries.begin * p.n_rows + rows.begin;
    std::vector<double> want_products(all_products.size(), -7.0), want_distances = want_products;
    for (std::size_t i = queries.begin; i < queries.end; ++i) {
        for (std::size_t j = rows.begin; j < rows.end; ++j) {
            want_products[i * p.n_rows + j] = all_products[i * p.n_rows + j];
            want_distances[i * p.n_rows + j] = all_distances[i * p.n_rows + j];
        }
    }
    std::vector<double> out(all_products.size(), -7.0);
    loops.rows<T>().products(some, block, out.data() + first, p.n_rows);
    CHECK(same_bits(out, want_products));
    std::fill(out.begin(), out.end(), -7.0);
    loops.rows<T>().squared_distances(some, block, {}, out.data() + first, p.n_rows);
    CHECK(same_bits(out, want_distances));
}

template <class T>
void check_blocks(const VectorLoops& loops) {
    const Problem<T> p(9, 9, 13, 5);
    const auto all_products = expected_products(p);
    const auto all_distances = expected_distances(p, {});
    for (std::size_t n_queries = 0; n_queries <= 9; ++n_queries) {
        for (std::size_t n_rows = 0; n_rows <= 9; ++n_rows) {
            const check::Context here(text("queries", n_queries) + text(", rows", n_rows));
            check_block(loops, p, {9 - n_queries, 9}, {9 - n_rows, 9}, all_products, all_distances);
            check_block(loops, p, {0, n_queries}, {0, n_rows}, all_products, all_distances);
        }
    }
}

// Queries side by side as SparseQueries needs them, over `n_columns` columns.
struct SideBySide {
    SideBySide(std::size_t n_queries_, std::size_t n_columns, Draw& draw)
        : n_queries(n_queries_), slots(n_columns, -1), rows(8, std::vector<double>(n_columns)) {
        std::int32_t n_slots = 0;
        for (std::size_t c = 0; c < n_columns; ++c) {
            if (draw.below(3) == 0) continue;
            slots[c] = n_slots++;
            for (std::size_t i = 0; i < 8; ++i) {
                if (i < n_queries && draw.below(2) == 0) rows[i][c] = draw.wide(3);
                table.push_back(rows[i][c]);
            }
        }
    }
    SparseQueries view() const { return {slots.data(), table.data(), n_queries}; }

    std::size_t n_queries;
    std::vector<std::int32_t> slots;
    std::vector<double> table;
    std::vector<std::vector<double>> rows;
};

void check_sparse(const VectorLoops& loops, std::size_t n_queries, std::size_t n_columns) {
    Draw draw(n_queries * 1000 + n_columns);
    const SideBySide queries(n_queries, n_columns, draw);
    std::vector<std::int32_t> columns;
    std::vector<double> values, dense(n_columns);
    std::vector<float> floats;
    for (std::size_t c = 0; c < n_columns; ++c) {
        if (draw.below(2) == 0) continue;
        columns.push_back(static_cast<std::int32_t>(c));
        dense[c] = draw.short_wide(3);
        values.push_back(dense[c]);
        floats.push_back(static_cast<float>(dense[c]));
    }
    std::vector<double> want(n_queries * 3, -7.0), got = want, got_f32 = want;
    for (std::size_t i = 0; i < n_queries; ++i) {
        want[i * 3] = canonical_product(queries.rows[i].data(), dense.data(), n_columns);
    }
    loops.f64.sparse_products(queries.view(), {columns.data(), values.data(), values.size()},
                              got.data(), 3);
    loops.f32.sparse_products(queries.view(), {columns.data(), floats.data(), floats.size()},
                              got_f32.data(), 3);
    CHECK(same_bits(got, want));
    CHECK(same_bits(got_f32, want));
}

std::vector<std::size_t> column_counts() {
    std::vector<std::size_t> counts{0, 63, 64, 65, 127, 1000, 4099};
    for (std::size_t n = 1; n <= 40; ++n) counts.push_back(n);
    return counts;
}

}  // namespace

TEST(isas_are_listed_weakest_first) {
    const auto isas = available_isas();
    CHECK(!isas.empty() && isas.front() == Isa::baseline);
    for (std::size_t i = 1; i < isas.size(); ++i) CHECK(isas[i - 1] < isas[i]);
    CHECK(to_string(Isa::baseline) == "baseline");
    std::printf("     instruction sets that are tested here:");
    for (const Isa isa : isas) std::printf(" %s", to_string(isa).c_str());
    std::printf("\n");
}

TEST(padding_fills_whole_lanes) {
    CHECK(padded(0) == 0);
    CHECK(padded(1) == 8);
    CHECK(padded(8) == 8);
    CHECK(padded(9) == 16);
}

TEST(the_reference_depends_on_its_order) {
    // Otherwise the tests below would accept any order.
    int n_other = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Problem<double> p(1, 1, 20, seed);
        double plain = 0.0;
        for (std::size_t c = 0; c < 20; ++c) plain += p.query(0)[c] * p.rows[0][c];
        n_other += same_bits(plain, canonical_product(p.query(0), p.rows[0], 20)) ? 0 : 1;
    }
    const check::Context here(text("other in", static_cast<std::size_t>(n_other)));
    CHECK(n_other > 50);
}

TEST(lane_sum_is_the_canonical_sum) {
    for (std::size_t n = 0; n <= 40; ++n) {
        const Problem<double> p(1, 1, n, n);
        LaneSum sum;
        for (std::size_t c = 0; c < n; ++c) sum.add(c, p.rows[0][c]);
        CHECK(same_bits(sum.total(), canonical_sum(n, [&](auto c) { return p.rows[0][c]; })));
    }
}

TEST(dense_sums_follow_the_canonical_order) {
    for (const Isa isa : available_isas()) {
        for (const std::size_t n_columns : column_counts()) {
            const check::Context here(to_string(isa) + text(", columns", n_columns));
            check_sums(loops_for(isa).vectors, Problem<double>(5, 7, n_columns, n_columns));
            check_sums(loops_for(isa).vectors, Problem<float>(5, 7, n_columns, n_columns));
        }
    }
}

TEST(dense_sums_do_not_depend_on_blocks) {
    for (const Isa isa : available_isas()) {
        const check::Context here(to_string(isa));
        check_blocks<double>(loops_for(isa).vectors);
        check_blocks<float>(loops_for(isa).vectors);
    }
}

TEST(dense_sums_overflow_and_underflow_alike) {
    Problem<double> p(3, 3, 19, 11);
    p.queries[2] = 0x1p1000;
    p.queries[padded(19) + 4] = -0x1p1000;
    p.data[2] = 0x1p1000;
    p.data[19 + 4] = 0x1p1000;
    for (std::size_t c = 0; c < 19; ++c) {
        p.queries[2 * padded(19) + c] *= 0x1p-520;
        p.data[2 * 19 + c] *= 0x1p-540;
    }
    for (const Isa isa : available_isas()) {
        const check::Context here(to_string(isa));
        check_sums(loops_for(isa).vectors, p);
    }
}

TEST(sparse_products_follow_the_canonical_order) {
    for (const Isa isa : available_isas()) {
        for (std::size_t n_queries = 1; n_queries <= 8; ++n_queries) {
            for (const std::size_t n_columns : column_counts()) {
                const check::Context here(to_string(isa) + text(", queries", n_queries) +
                                          text(", columns", n_columns));
                check_sparse(loops_for(isa).vectors, n_queries, n_columns);
            }
        }
    }
}

TEST(what_lies_behind_a_row_is_never_used) {
    for (const Isa isa : available_isas()) {
        for (std::size_t n_columns = 1; n_columns < 20; ++n_columns) {
            Problem<double> p(5, 9, n_columns, n_columns);
            const auto expected = expected_products(p);
            // Each row gets a space of its own, with NaN after it that may be read.
            std::vector<double> apart(9 * (n_columns + 8), std::nan(""));
            for (std::size_t j = 0; j < 9; ++j) {
                double* to = apart.data() + j * (n_columns + 8);
                std::copy_n(p.rows[j], n_columns, to);
                p.rows[j] = to;
            }
            const DenseBlock<double> block{p.rows.data(), 9, n_columns,
                                           apart.data() + apart.size()};
            std::vector<double> out(45);
            loops_for(isa).vectors.f64.products({p.queries.data(), 5, n_columns}, block, out.data(),
                                                9);
            CHECK(same_bits(out, expected));
        }
    }
}
