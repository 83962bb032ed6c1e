// Searches through postings against the scan, bit for bit, on data chosen to break their bounds.

#include "fastmks/filters/postings.hpp"

#include "fastmks/spaces/algebra.hpp"
#include "tests/support/testing.hpp"

namespace {

// Counts: few columns are common, most are rare; one row in eleven is empty.
double count_entry(Draw& draw, std::size_t row, std::size_t column) {
    const bool is_there = draw.below(column + 2) == 0 && row % 11 != 3;
    const std::size_t size = draw.below(40);
    const double large = size == 0 ? 1e6 : size < 3 ? 17.0 : 3.0;
    const double count = size < 10 ? large : 1.0 + static_cast<double>(size % 2);
    return is_there ? count : 0.0;
}

double signed_entry(Draw& draw, std::size_t row, std::size_t column) {
    const double sign = draw.below(3) == 0 ? -1.0 : 1.0;
    return sign * count_entry(draw, row, column);
}

double real_entry(Draw& draw, std::size_t row, std::size_t) {
    const double value = draw.unit();
    return draw.below(4) == 0 && row != 5 ? value : 0.0;
}

// Rows from 2^-200 to 2^200.
double scattered_entry(Draw& draw, std::size_t row, std::size_t column) {
    const double value = real_entry(draw, row, column);
    return std::ldexp(value, static_cast<int>(row % 5) * 100 - 200);
}

double huge_entry(Draw& draw, std::size_t row, std::size_t column) {
    return std::ldexp(real_entry(draw, row, column), 480);
}

double tiny_entry(Draw& draw, std::size_t row, std::size_t column) {
    return std::ldexp(real_entry(draw, row, column), -500);
}

// Numbers that float32 cannot tell apart, so that every score is a near-tie.
double close_entry(Draw& draw, std::size_t, std::size_t column) {
    const auto step = static_cast<double>(draw.below(3));
    return column % 2 == 0 ? 1.0 + step * 0x1p-40 : 0.0;
}

double equal_entry(Draw&, std::size_t, std::size_t column) {
    return column == 1 ? 2.0 : 0.0;
}

double zero_entry(Draw&, std::size_t, std::size_t) {
    return 0.0;
}

double negative_entry(Draw& draw, std::size_t, std::size_t) {
    return -1.0 - static_cast<double>(draw.below(4));
}

struct Family {
    std::string name;
    std::function<double(Draw&, std::size_t, std::size_t)> entry;
    bool is_moderate;  // powers and exponentials of products stay finite
};

const Family families[] = {
    {"counts", count_entry, false}, {"signed counts", signed_entry, false},
    {"reals", real_entry, true},    {"scattered", scattered_entry, false},
    {"huge", huge_entry, false},    {"tiny", tiny_entry, true},
    {"close", close_entry, true},   {"equal", equal_entry, true},
    {"zeros", zero_entry, true},    {"negative", negative_entry, true},
};

std::vector<VectorKernel> kernels(bool is_moderate) {
    std::vector<VectorKernel> all{{}, {"cosine"}};
    if (!is_moderate) return all;
    all.push_back({"polynomial", 3, 0.5, -1.0, 1.0});
    all.push_back({"tanh", 1, 1.0, 0.25, 1.0});
    all.push_back({"exponential", 1, 0.125, 0.0, 1.0});
    return all;
}

void check_top_k(const ScanProblem& problem, const Postings& postings, std::size_t k,
                 std::size_t threads) {
    Answer answer(problem.queries, k);
    postings_top_k(problem, postings, k, threads, ignore, answer.values.data(),
                   answer.positions.data());
    CHECK(answer == scanned(problem, k));
}

// Thresholds at values that objects have.
void check_above(const ScanProblem& problem, const Postings& postings) {
    const std::size_t n = problem.queries.size(), k = std::min<std::size_t>(problem.among.size, 20);
    ScanProblem with_self = problem;
    with_self.skip_self = false;
    const Answer best = scanned(with_self, k);
    std::vector<double> thresholds(n);
    for (std::size_t i = 0; i < n; ++i) thresholds[i] = best.values[i * k + i % k];
    const auto want = scan_above(with_self, thresholds.data(), 1, ignore);
    std::vector<std::vector<Hit>> answers;
    postings_above(with_self, postings, thresholds.data(), 2, ignore, answers);
    CHECK(answers.size() == n);
    for (std::size_t i = 0; i < n; ++i) CHECK(same_hits(answers[i], want[i]));
}

void check_searches(const ScanProblem& problem, const Postings& postings) {
    const std::size_t most = problem.among.size - (problem.skip_self ? 1 : 0);
    for (const std::size_t k : {std::size_t{1}, std::size_t{10}, std::size_t{300}, most}) {
        const check::Context here(text("k", k));
        if (k <= most) check_top_k(problem, postings, k, 1 + k % 2);
    }
    check_above(problem, postings);
}

VectorSpace sparse_space(const Vectors& vectors, const VectorKernel& kernel,
                         Isa isa = available_isas().back()) {
    return space_of(vectors, kernel, StoreKind::sparse_f64, isa);
}

// The rows in a store of many more columns; every other row has an entry in the last.
VectorSpace widened_space(const Vectors& vectors, const VectorKernel& kernel) {
    constexpr std::size_t n_columns = 5000000;
    const Csr<double> csr(vectors);
    Csr<double> wide({0}, {}, {});
    for (std::size_t i = 0; i < vectors.n_rows; ++i) {
        for (auto e = csr.offsets[i]; e < csr.offsets[i + 1]; ++e) {
            wide.columns.push_back(csr.columns[static_cast<std::size_t>(e)]);
            wide.values.push_back(csr.values[static_cast<std::size_t>(e)]);
        }
        if (i % 2 == 0) {
            wide.columns.push_back(static_cast<std::int32_t>(n_columns) - 1);
            wide.values.push_back(3.0);
        }
        wide.end_row();
    }
    return VectorSpace(make_sparse(std::move(wide), n_columns), kernel, available_isas().back());
}

}  // namespace

TEST(postings_lose_nothing) {
    for (const Family& family : families) {
        const auto objects = draw_rows(700, 24, 1, family.entry);
        const auto queries = draw_rows(9, 24, 2, family.entry);
        for (const VectorKernel& kernel : kernels(family.is_moderate)) {
            for (const Isa isa : available_isas()) {
                const check::Context here(family.name + ", " + to_string(isa) + ", " + kernel.form);
                const VectorSpace space = sparse_space(objects, kernel, isa);
                const VectorSpace asked = sparse_space(queries, kernel, isa);
                const Postings postings(space, ignore);
                check_searches({space, asked, Selection::range(0, 700)}, postings);
            }
        }
    }
}

TEST(postings_search_among_some_under_other_names_and_skip_the_query) {
    constexpr std::size_t n = 600;
    const std::vector<std::int64_t> names = mixed_names(n, 3);
    for (const Family& family : families) {
        const check::Context here(family.name);
        const auto objects = draw_rows(n, 24, 3, family.entry);
        for (const VectorKernel& kernel : kernels(false)) {
            const VectorSpace space = sparse_space(objects, kernel);
            const Postings postings(space, ignore);
            const auto list = positions_from(1, n, 3);
            const Selection some = Selection::list(list.data(), list.size());
            check_top_k({space, space, Selection::range(0, n), true}, postings, 7, 2);
            check_top_k({space, space, some, true}, postings, 7, 1);
            check_top_k({space, space, Selection::range(0, n), true, names.data()}, postings, 7, 1);
            check_searches({space, space, some, false, names.data()}, postings);
            check_searches({space, space, Selection::range(590, 593)}, postings);
        }
    }
}

TEST(postings_of_several_shelves) {
    const std::size_t n = Postings::shelf_size + 700;
    for (const Family& family : families) {
        const check::Context here(family.name);
        const auto objects = draw_rows(n, 12, 4, family.entry);
        const auto queries = draw_rows(5, 12, 5, family.entry);
        for (const VectorKernel& kernel : kernels(false)) {
            const StoreKind kind =
                family.is_moderate ? StoreKind::sparse_f32 : StoreKind::sparse_f64;
            const VectorSpace space = space_of(objects, kernel, kind);
            const VectorSpace asked = space_of(queries, kernel, kind);
            const Postings postings(space, ignore);
            CHECK(postings.n_shelves() == 2);
            const ScanProblem problem{space, asked, Selection::range(0, n)};
            for (const std::size_t k : {std::size_t{3}, std::size_t{100}, n - 1}) {
                check_top_k(problem, postings, k, 1);
            }
            check_above(problem, postings);
            const Selection last = Selection::range(n - 5, n);
            check_top_k({space, asked, last}, postings, 4, 1);
        }
    }
}

TEST(queries_may_have_columns_that_no_object_has) {
    for (const Family& family : families) {
        const check::Context here(family.name);
        const auto objects = draw_rows(300, 24, 6, family.entry);
        const auto queries = draw_rows(9, 24, 7, family.entry);
        for (const VectorKernel& kernel : kernels(false)) {
            const VectorSpace space = sparse_space(objects, kernel);
            const VectorSpace asked = widened_space(queries, kernel);
            check_searches({space, asked, Selection::range(0, 300)}, Postings(space, ignore));
            // Few entries in many columns are found by bisection.
            const VectorSpace far = widened_space(objects, kernel);
            check_searches({far, asked, Selection::range(0, 300)}, Postings(far, ignore));
        }
    }
}

TEST(few_objects_of_counts_are_evaluated) {
    const auto objects = draw_rows(3000, 40, 8, count_entry);
    const auto queries = draw_rows(20, 40, 9, count_entry);
    for (const VectorKernel& kernel : kernels(false)) {
        const VectorSpace space = sparse_space(objects, kernel);
        const VectorSpace asked = sparse_space(queries, kernel);
        const Postings postings(space, ignore);
        CHECK(postings.n_planes() > 0 && postings.n_postings() > 0);
        CHECK(postings.n_bytes() < 3000 * 40 * 8);
        Answer answer(asked, 1);
        const ScanProblem problem{space, asked, Selection::range(0, 3000)};
        const auto counts = postings_top_k(problem, postings, 1, 1, ignore, answer.values.data(),
                                           answer.positions.data());
        // Two of the queries are empty, and tie with everything.
        CHECK(counts.evaluations <= 2 * 3000 + 20 * 30);
        CHECK(counts.bounds <= 20 * 3000 && counts.operations > 0);
    }
}

TEST(spaces_without_a_growing_score_of_sparse_vectors_do_not_fit) {
    const auto rows = draw_rows(20, 6, 10, real_entry);
    const VectorSpace dense = space_of(rows);
    const VectorSpace even = sparse_space(rows, {"polynomial", 2, 1.0, 1.0, 1.0});
    const VectorSpace gaussian = sparse_space(rows, {"gaussian", 1, 1.0, 0.0, 1.0});
    for (const VectorSpace* space : {&dense, &even, &gaussian}) {
        CHECK(!Postings::fits(*space));
        CHECK_THROWS(std::invalid_argument, Postings(*space, ignore));
    }
    CHECK(Postings::fits(sparse_space(rows, {})));
}
