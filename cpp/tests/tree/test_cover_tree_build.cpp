// Construction: what it costs, what stops it, which values it refuses, what must make no
// difference.

#include <atomic>
#include <chrono>
#include <thread>

#include "fastmks/core/faults.hpp"
#include "fastmks/core/geometry.hpp"
#include "fastmks/tree/cover_tree.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/testing.hpp"
#include "tests/support/trees.hpp"

namespace {

// Inner products of whole numbers, without any rounding.
TableSpace::Kernel products_of(const Vectors& vectors) {
    return [vectors](std::size_t i, std::size_t j) {
        return canonical_product(vectors.row(i), vectors.row(j), vectors.n_columns);
    };
}

// The fault that building a tree throws, if any.
template <class Fault>
std::optional<Fault> refusal(const Space& space, double base = 1.3) {
    return check::caught<Fault>([&] { return build_cover_tree(space, base, 1, ignore); });
}

bool same_trees(const CoverTree& a, const CoverTree& b) {
    return same_bytes(arrays_of(a), arrays_of(b));
}

}  // namespace

TEST(building_counts_its_evaluations) {
    for (const std::size_t n : {1, 2, 50, 400}) {
        const TableSpace space(n, products_of(whole_numbers(n, 3, n)));
        const auto tree = build_cover_tree(space, 1.3, 1, ignore);
        CHECK(tree.build_evaluations == space.n_evaluations);
        CHECK(tree.build_evaluations + 1 >= n);
        CHECK(tree.build_evaluations < n * n);
        CHECK(tree.size() == n);
    }
}

TEST(a_tree_of_exact_values_has_no_fault) {
    const auto vectors = whole_numbers(400, 3, 7);
    const auto tree = build_cover_tree(TableSpace(400, products_of(vectors)), 1.3, 1, ignore);
    CHECK(find_fault(tree, TableSpace(400, products_of(in_order(vectors, tree))), ignore) == "");
}

TEST(threads_make_no_difference_to_the_tree) {
    const auto vectors = whole_numbers(3000, 4, 1);
    TableSpace space(3000, products_of(vectors));
    space.before_evaluate = [] {  // long enough for every thread to take part
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    };
    const auto one = build_cover_tree(space, 1.3, 1, ignore);
    CHECK(same_trees(one, build_cover_tree(space, 1.3, 1, ignore)));
    CHECK(same_trees(one, build_cover_tree(space, 1.3, 2, ignore)));
    CHECK(same_trees(one, build_cover_tree(space, 1.3, 4, ignore)));
    CHECK(!same_trees(one, build_cover_tree(space, 1.4, 1, ignore)));
}

TEST(values_beyond_cauchy_schwarz_are_not_mercer) {
    const auto odd = [](double value) {
        return TableSpace(6, [value](std::size_t i, std::size_t j) {
            return i == j ? 1.0 : (i + j == 7 && i * j == 10 ? value : 0.25);  // objects 2 and 5
        });
    };
    for (const double bad : {1.0 + 1e-9, -1.0 - 1e-9, 17.0, -1e300}) {
        const auto fault = refusal<NotMercerFault>(odd(bad));
        CHECK(fault && fault->value == bad && fault->query + fault->object == 7);
        CHECK(fault && fault->limit >= 1.0 && fault->limit < 1.0 + 1e-9);
    }
    static_cast<void>(build_cover_tree(odd(0.3), 1.3, 1, ignore));
}

TEST(negative_self_values_are_not_mercer) {
    const TableSpace space(
        5, [](std::size_t i, std::size_t j) { return i == 3 && j == 3 ? -1e-300 : 0.0; });
    const auto fault = refusal<NotMercerFault>(space);
    CHECK(fault && fault->query == 3 && fault->object == itself && fault->value == -1e-300);
}

TEST(distances_that_break_the_triangle_inequality_are_not_mercer) {
    // Three objects: 1 and 2 are close to 0 (0.63), and further from each other than that allows,
    // but not so far that they would never be compared.
    const TableSpace space(3, [](std::size_t i, std::size_t j) {
        if (i == j) return 1.0;
        return i * j == 2 ? 0.1 : 0.8;
    });
    bool is_found = false;
    for (const double base : {1.3, 2.0, 4.0}) {
        const auto fault = refusal<TriangleFault>(space, base);
        if (!fault) continue;
        is_found = fault->a == 0 && fault->b + fault->c == 3 && fault->bc > fault->ab + fault->ca;
    }
    CHECK(is_found);
}

TEST(random_tables_are_not_mercer) {
    // Symmetric, with ones on the diagonal and values within Cauchy-Schwarz: like tanh, or worse.
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const check::Context here(text("seed", seed));
        const TableSpace space(60, [seed](std::size_t i, std::size_t j) {
            if (i == j) return 1.0;
            return Draw(seed * 10007 + std::min(i, j) * 101 + std::max(i, j)).unit();
        });
        CHECK_THROWS(TriangleFault, build_cover_tree(space, 1.3, 1, ignore));
    }
}

TEST(values_that_are_not_finite_stop_a_build) {
    for (const double bad : {infinity, -infinity, not_a_number}) {
        const TableSpace space(6, [=](std::size_t i, std::size_t j) {
            const bool is_bad = std::min(i, j) == 2 && std::max(i, j) == 4;
            return is_bad ? bad : (i == j ? 1.0 : 0.5);
        });
        const auto fault = refusal<ValueFault>(space);
        CHECK(fault && same_bits(fault->value, bad) && fault->query + fault->object == 6);
    }
}

TEST(objects_too_long_for_distances_are_leaves_of_the_root) {
    for (const double large :
         {Geometry::largest_self_value * 1.01, DBL_MAX, infinity, not_a_number}) {
        for (const std::size_t n_long : {1, 2, 3}) {  // the last of them: of three objects, all
            const TableSpace space(3, [=](std::size_t i, std::size_t j) {
                if (i != j) return i + j == 3 && n_long >= 2 ? infinity : 0.5;
                return i + n_long >= 3 ? large : 1.0;
            });
            const CoverTree tree = build_cover_tree(space, 1.3, 1, ignore);
            CHECK(tree.nodes.size() == 1 && tree.nodes[0].leaves == 1);
            CHECK(std::count(tree.norms.begin(), tree.norms.end(), infinity) ==
                  static_cast<std::ptrdiff_t>(n_long));
            CHECK(tree.nodes[0].radius == infinity);
            const TableSpace ordered(3, [&](std::size_t i, std::size_t j) {
                const auto a = static_cast<std::size_t>(tree.order[i]),
                           b = static_cast<std::size_t>(tree.order[j]);
                if (a != b) return a + b == 3 && n_long >= 2 ? infinity : 0.5;
                return a + n_long >= 3 ? large : 1.0;
            });
            CHECK(find_fault(tree, ordered, ignore).empty());
        }
    }
}

TEST(bases_and_sizes_that_make_no_tree_are_refused) {
    const TableSpace space(3, [](std::size_t i, std::size_t j) { return i == j ? 1.0 : 0.0; });
    for (const double base : {1.0, 0.5, 0.0, -2.0, infinity, not_a_number, 1.0 + 1e-12}) {
        CHECK_THROWS(std::invalid_argument, build_cover_tree(space, base, 1, ignore));
    }
    const TableSpace nothing(0, [](std::size_t, std::size_t) { return 1.0; });
    CHECK_THROWS(std::invalid_argument, build_cover_tree(nothing, 1.3, 1, ignore));
    CHECK(build_cover_tree(space, smallest_base, 1, ignore).size() == 3);
    CHECK(build_cover_tree(space, 1e300, 1, ignore).size() == 3);
}

TEST(an_exception_from_the_watch_stops_a_build) {
    for (const std::size_t threads : {1, 3}) {
        const TableSpace whole(3000, products_of(whole_numbers(3000, 3, 2)));
        const auto all = build_cover_tree(whole, 1.3, threads, ignore).build_evaluations;
        const TableSpace space(3000, products_of(whole_numbers(3000, 3, 2)));
        const Watch watch = [&](std::size_t done) {
            if (done > 300) throw std::runtime_error("enough");
        };
        CHECK_THROWS(std::runtime_error, build_cover_tree(space, 1.3, threads, watch));
        CHECK(space.n_evaluations > 0 && space.n_evaluations < all);
    }
}

TEST(the_watch_is_told_of_objects_placed_on_the_calling_thread) {
    const auto caller = std::this_thread::get_id();
    const TableSpace space(3000, products_of(whole_numbers(3000, 3, 3)));
    std::size_t last = 0, n_calls = 0;
    bool is_right = true;
    static_cast<void>(build_cover_tree(space, 1.3, 3, [&](std::size_t done) {
        is_right = is_right && done >= last && done <= 3000;
        is_right = is_right && std::this_thread::get_id() == caller;
        last = done;
        ++n_calls;
    }));
    CHECK(is_right);
    CHECK(n_calls > 20 && last > 2000);
}

TEST(an_exception_from_the_watch_stops_a_check) {
    const auto vectors = spread_out(200, 3, 0.0, 1.0, 1);
    const Built built(vectors);
    const Watch watch = [](std::size_t) { throw std::runtime_error("enough"); };
    CHECK_THROWS(std::runtime_error, find_fault(built.tree, built.space, watch));
}
