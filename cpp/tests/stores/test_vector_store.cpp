// Dense and sparse, float32 and float64: the same numbers give the same bits.

#include "fastmks/simd/loops.hpp"
#include "fastmks/stores/vector_store.hpp"
#include "tests/support/testing.hpp"

namespace {

enum class Sum { product, distance, scaled_distance };
constexpr Sum sums[] = {Sum::product, Sum::distance, Sum::scaled_distance};
constexpr DifferenceScale scale{0x1p-600, 0x1p580};

// One more column than is asked for, which must stay untouched.
std::vector<double> evaluate(const VectorStore& objects, const VectorQueries& queries,
                             Selection selection, Sum sum, Isa isa) {
    const std::size_t stride = selection.size + 1;
    std::vector<double> out(queries.size * stride, -7.0);
    const VectorLoops& loops = loops_for(isa).vectors;
    if (sum == Sum::product) {
        objects.products(queries, selection, loops, out.data(), stride);
    } else {
        objects.squared_distances(queries, selection,
                                  sum == Sum::distance ? DifferenceScale{} : scale, loops,
                                  out.data(), stride);
    }
    return out;
}

std::vector<double> expected(const Vectors& objects, const Vectors& queries, std::size_t begin,
                             std::size_t end, Selection selection, Sum sum) {
    std::vector<double> out;
    const std::size_t n = objects.n_columns;
    for (std::size_t i = begin; i < end; ++i) {
        const double* x = queries.row(i);
        for (std::size_t j = 0; j < selection.size; ++j) {
            const double* y = objects.row(selection[j]);
            const auto [before, after] = sum == Sum::distance ? DifferenceScale{} : scale;
            out.push_back(sum == Sum::product ? canonical_product(x, y, n)
                                              : canonical_squared_distance(x, y, n, before, after));
        }
        out.push_back(-7.0);
    }
    return out;
}

void check_sums(const Vectors& objects, const Vectors& queries, StoreKind kind, std::size_t begin,
                std::size_t end, Selection selection) {
    const auto object_store = make_store(objects, kind);
    const auto taken = make_store(queries, kind)->queries(begin, end);
    CHECK(taken->size == end - begin);
    for (const Isa isa : available_isas()) {
        for (const Sum sum : sums) {
            const check::Context here(to_string(kind) + ", " + to_string(isa));
            CHECK(same_bits(evaluate(*object_store, *taken, selection, sum, isa),
                            expected(objects, queries, begin, end, selection, sum)));
        }
    }
}

template <class T>
void check_bad_rows() {
    const auto bad = [](std::vector<std::int64_t> offsets, std::vector<std::int32_t> columns) {
        std::vector<T> values(columns.size(), T{1});
        const Csr<T> csr(std::move(offsets), std::move(columns), std::move(values));
        CHECK_THROWS(std::invalid_argument, csr.store(5));
    };
    bad({1, 2, 3}, {0, 1, 2});     // does not begin at 0
    bad({-1, 2, 3}, {0, 1, 2});    //
    bad({0, 2, 2}, {0, 1, 2});     // ends before the last entry
    bad({0, 2, 4}, {0, 1, 2});     // ends after it
    bad({0, 2, -3}, {0, 1, 2});    //
    bad({0, 2, 1, 3}, {0, 1, 2});  // decreases
    bad({0, -1, 3}, {0, 1, 2});    //
    bad({0, 100, 3}, {0, 1, 2});   // leaves the entries and comes back
    bad({1}, {});                  // no rows, but an offset
    bad({0}, {0});                 // no rows, but an entry
    bad({0, 2, 3}, {0, 5, 2});     // no such column
    bad({0, 2, 3}, {-1, 1, 2});    //
    bad({0, 2, 3}, {1, 1, 2});     // a column twice
    bad({0, 2, 3}, {2, 1, 2});     // columns decrease
    bad({0, 1, 3}, {0, 2, 1});     // in the last row
}

}  // namespace

TEST(stores_give_the_canonical_sums) {
    const std::int64_t list[] = {6, 0, 3, 3, 1};
    for (const std::size_t n_columns : {1, 3, 8, 21, 64, 203}) {
        const auto objects = draw_vectors(7, n_columns, 20, n_columns);
        const auto queries = draw_vectors(19, n_columns, 20, n_columns + 1000);
        const check::Context here(text("columns", n_columns));
        for (const StoreKind kind : store_kinds) {
            check_sums(objects, queries, kind, 0, 19, Selection::range(0, 7));
            check_sums(objects, queries, kind, 3, 11, Selection::range(2, 5));
            check_sums(objects, queries, kind, 1, 2, Selection::list(list, 5));
            check_sums(objects, queries, kind, 4, 4, Selection::range(0, 7));
            check_sums(objects, queries, kind, 0, 9, Selection::range(4, 4));
        }
    }
}

TEST(stores_know_their_shape) {
    const auto vectors = draw_vectors(6, 21, 3, 1);
    std::size_t longest_row = 0;
    for (std::size_t i = 0; i < 6; ++i) {
        longest_row = std::max(
            longest_row, make_store(vectors, StoreKind::sparse_f64)->entries(i).columns.size());
    }
    for (const StoreKind kind : store_kinds) {
        const auto store = make_store(vectors, kind);
        CHECK(store->size() == 6);
        CHECK(store->n_columns() == 21);
        CHECK(store->longest_sum() == 3);
    }
    CHECK(longest_row > 3);
    const Csr<double> thin({0, 0, 2, 3}, {7, 500, 12}, {1.0, 2.0, 3.0});
    CHECK(thin.store(1000)->longest_sum() == 2);
    CHECK(thin.store(1000)->size() == 3);
    CHECK(thin.store(1000)->n_columns() == 1000);
}

TEST(entries_are_the_non_zero_ones) {
    const auto vectors = draw_vectors(6, 21, 20, 2);
    for (const StoreKind kind : store_kinds) {
        const check::Context here(to_string(kind));
        const auto store = make_store(vectors, kind);
        for (std::size_t i = 0; i < 6; ++i) {
            const VectorEntries entries = store->entries(i);
            std::vector<double> back(21);
            for (std::size_t e = 0; e < entries.columns.size(); ++e) {
                CHECK(entries.values[e] != 0.0);
                CHECK(e == 0 || entries.columns[e - 1] < entries.columns[e]);
                back[static_cast<std::size_t>(entries.columns[e])] = entries.values[e];
            }
            CHECK(entries.columns.size() == entries.values.size());
            CHECK(back == std::vector<double>(vectors.row(i), vectors.row(i) + 21));
        }
        CHECK(store->entries(1).columns.empty());
    }
}

TEST(exact_products_are_checked) {
    const std::vector<std::int64_t> offsets{0, 2};
    const std::vector<std::int32_t> columns{0, 1};
    const auto is_exact = [&](double x, double y) {
        const std::vector<double> values{x, y};
        try {
            return make_sparse_store(offsets.data(), columns.data(), values.data(), 1, 2, 2, true)
                ->has_exact_products();
        } catch (const std::invalid_argument&) {
            return false;
        }
    };
    CHECK(is_exact(3.0, -4.0));
    CHECK(is_exact(0x1p26, 0x1p26));  // 2^53 in all
    CHECK(!is_exact(0x1p26, 0x1p26 + 1));
    CHECK(!is_exact(0.5, 1.0));
    CHECK(!is_exact(0x1p1000, 1.0));
    const std::vector<double> values{3.0, 4.0};
    const StorePointer plain =
        make_sparse_store(offsets.data(), columns.data(), values.data(), 1, 2, 2);
    CHECK(!plain->has_exact_products());
}

TEST(stored_zeros_make_no_difference) {
    // a second row of stored zeros alone
    const Csr<double> zeros({0, 4, 6}, {0, 2, 3, 9, 1, 4}, {1.5, 0.0, -2.0, -0.0, 0.0, -0.0});
    const Csr<double> without({0, 2, 2}, {0, 3}, {1.5, -2.0});
    const auto a = zeros.store(10), b = without.store(10);
    CHECK(a->entries(0).columns == b->entries(0).columns);
    CHECK(a->entries(1).columns.empty());
    for (const Sum sum : sums) {
        const auto want =
            evaluate(*b, *b->queries(0, 2), Selection::range(0, 2), sum, Isa::baseline);
        CHECK(same_bits(evaluate(*a, *a->queries(0, 2), Selection::range(0, 2), sum, Isa::baseline),
                        want));
        CHECK(same_bits(evaluate(*a, *b->queries(0, 2), Selection::range(0, 2), sum, Isa::baseline),
                        want));
        CHECK(same_bits(evaluate(*b, *a->queries(0, 2), Selection::range(0, 2), sum, Isa::baseline),
                        want));
    }
}

TEST(squared_norm_is_the_product_with_itself) {
    for (const std::size_t n_columns : {1, 13, 64, 203}) {
        const auto vectors = draw_vectors(6, n_columns, 20, n_columns);
        for (const StoreKind kind : store_kinds) {
            const auto store = make_store(vectors, kind);
            for (std::size_t i = 0; i < 6; ++i) {
                CHECK(same_bits(store->squared_norm(i),
                                canonical_product(vectors.row(i), vectors.row(i), n_columns)));
            }
        }
    }
}

namespace {

// Rows of few and of many entries, in columns below 2^14.
template <class T>
Csr<T> draw_rows() {
    Draw draw(7);
    Csr<T> csr({0}, {}, {});
    for (std::size_t row = 0; row < 12; ++row) {
        std::size_t column = draw.below(9);
        for (std::size_t e = 0; e < row * 3; ++e, column += 1 + draw.below(row % 2 ? 400 : 3)) {
            csr.columns.push_back(static_cast<std::int32_t>(column));
            csr.values.push_back(static_cast<T>(static_cast<float>(draw.wide(20))));
        }
        csr.end_row();
    }
    return csr;
}

template <class T>
void check_layouts(const std::vector<double>& want, Sum sum) {
    constexpr std::size_t stride = 13;
    const Csr<T> csr = draw_rows<T>();
    const auto all = Selection::range(0, 12);
    // As many columns as one query, and as a group, has numbers or slots for; and more.
    for (const int bits : {14, 16, 31}) {
        for (const std::size_t more : {0, 1}) {
            const std::size_t n_columns = (std::size_t{1} << bits) - (bits == 31) + more;
            if (n_columns >= std::size_t{1} << 31) continue;
            const check::Context here(text("columns", n_columns));
            const auto store = csr.store(n_columns);
            CHECK(
                same_bits(evaluate(*store, *store->queries(0, 12), all, sum, Isa::baseline), want));
            const auto one = store->queries(5, 6);
            for (std::size_t i = 0; i < 12; ++i) {
                store->refill(*one, i);
                const std::vector<double> row(want.begin() + static_cast<int>(i * stride),
                                              want.begin() + static_cast<int>((i + 1) * stride));
                CHECK(same_bits(evaluate(*store, *one, all, sum, Isa::baseline), row));
            }
        }
    }
}

}  // namespace

TEST(however_columns_are_looked_up_the_bits_are_the_same) {
    const Csr<float> csr = draw_rows<float>();
    const auto store = csr.store(std::size_t{1} << 14);
    const auto all = Selection::range(0, 12);
    for (const Sum sum : sums) {
        const auto want = evaluate(*store, *store->queries(0, 12), all, sum, Isa::baseline);
        check_layouts<float>(want, sum);
        check_layouts<double>(want, sum);
    }
}

TEST(scaled_product_scales_exactly) {
    const auto vectors = draw_vectors(4, 37, 20, 9);
    const auto store = make_store(vectors, StoreKind::dense_f64);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            const double product = canonical_product(vectors.row(i), vectors.row(j), 37);
            const VectorEntries x = store->entries(i), y = store->entries(j);
            CHECK(same_bits(scaled_product(x, 0, y, 0), product));
            CHECK(same_bits(scaled_product(x, 500, y, -450), std::ldexp(product, 50)));
        }
    }
    const VectorEntries huge{{0, 5}, {0x1p1000, 0x1p1001}}, tiny{{1, 5}, {0x1p-1074, 0x1p-1070}};
    CHECK(scaled_product(huge, -1000, huge, -1000) == 5.0);
    CHECK(scaled_product(tiny, 1074, tiny, 1074) == 257.0);
    CHECK(scaled_product(huge, -1000, tiny, 1074) == 32.0);
}

TEST(sparse_rows_that_are_not_csr_are_refused) {
    check_bad_rows<double>();
    check_bad_rows<float>();
}

TEST(stores_may_be_empty) {
    const Csr<double> nothing({0}, {}, {});
    CHECK(nothing.store(5)->size() == 0);
    CHECK(nothing.store(0)->longest_sum() == 0);
    const Csr<double> blank({0, 0, 0}, {}, {});
    const auto store = blank.store(5);
    const StorePointer dense = make_dense_store<double>(nullptr, 2, 0, 0);
    for (const Sum sum : sums) {
        const std::vector<double> want{0.0, 0.0, -7.0, 0.0, 0.0, -7.0};
        const auto all = Selection::range(0, 2);
        CHECK(same_bits(evaluate(*store, *store->queries(0, 2), all, sum, Isa::baseline), want));
        CHECK(same_bits(evaluate(*dense, *dense->queries(0, 2), all, sum, Isa::baseline), want));
    }
    CHECK(store->squared_norm(1) == 0.0);
    CHECK(dense->longest_sum() == 0);
    CHECK(dense->entries(1).columns.empty());
}
