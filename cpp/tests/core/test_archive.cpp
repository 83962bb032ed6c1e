// Structures to arrays and back: the same answers, bit for bit, and refusals of what is forged.

#include "fastmks/core/archive.hpp"

#include "fastmks/filters/codes.hpp"
#include "fastmks/filters/pivot_search.hpp"
#include "fastmks/filters/postings.hpp"
#include "fastmks/stores/grams.hpp"
#include "fastmks/tree/cover_tree.hpp"
#include "fastmks/tree/tree_search.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/testing.hpp"
#include "tests/support/trees.hpp"

namespace {

constexpr std::size_t k = 5;

// The k best, whatever finds them, and what they cost.
struct Search {
    Answer answer;
    std::size_t evaluations;
    std::size_t bounds;
    bool operator==(const Search&) const = default;
};

// A search by run(values, positions), which returns the counts.
template <class Run>
Search search(const Space& queries, Run run) {
    Answer answer(queries, k);
    const auto counts = run(answer.values.data(), answer.positions.data());
    return {std::move(answer), counts.evaluations, counts.bounds};
}

Search search_tree(const CoverTree& tree, const Space& objects, const Space& queries) {
    std::vector<double> gaps(queries.size());
    const TreeProblem problem{tree, objects, queries, {}, false, {}};
    return search(queries, [&](double* values, std::int64_t* positions) {
        return tree_top_k(problem, k, {}, {}, 2, ignore, {values, positions, gaps.data()});
    });
}

// A search through the structure of a filter.
template <auto top_k, class Structure>
Search search_in(const Structure& structure, const Space& objects, const Space& queries) {
    const ScanProblem problem{objects, queries, Selection::range(0, objects.size())};
    return search(queries, [&](double* values, std::int64_t* positions) {
        return top_k(problem, structure, k, 2, ignore, values, positions);
    });
}

constexpr auto search_codes = search_in<codes_top_k, CodeTable>;
constexpr auto search_postings = search_in<postings_top_k, Postings>;
constexpr auto search_pivots = search_in<pivots_top_k, PivotTable>;

CodeTable code_table_of(const Space& objects, std::size_t n_columns, bool has_origin) {
    std::vector<double> axes(2 * n_columns);
    axes[0] = axes[n_columns + 1] = 1.0;
    std::vector<double> origin(has_origin ? n_columns : 0, 0.25);
    const auto projection = std::make_shared<AxisProjection>(scores_of(objects).kind,
                                                             padded_rows(axes.data(), 2, n_columns),
                                                             2, n_columns, origin, objects.isa());
    return CodeTable(objects, projection, 2, ignore);
}

// Checks that restore(arrays) refuses the arrays with one number changed.
template <class Restore>
auto refusal_by(const Arrays& arrays, Restore restore) {
    return [&arrays, restore](const std::string& name, std::size_t offset, auto number) {
        const check::Context here(name + text(" at", offset));
        CHECK_THROWS(std::invalid_argument, restore(forged(arrays, name, offset, number)));
    };
}

PivotTable restore_table(const Space& objects, const Arrays& arrays) {
    const ArrayReader reader(arrays);
    return PivotTable(std::make_shared<PivotProjection>(objects, reader), reader);
}

}  // namespace

TEST(an_array_owns_or_borrows) {
    Array<int> own(3, 7);
    own.edit()[1] = 8;
    CHECK(own.size() == 3 && own[1] == 8 && own.back() == 7 && own.n_bytes() == 3 * sizeof(int));
    const Array<int> copy = own;
    own.edit()[1] = 9;
    CHECK(copy[1] == 8 && copy.data() != own.data());
    const int* const data = own.data();
    const Array<int> taken = std::move(own);
    CHECK(taken.data() == data && taken[1] == 9);
    CHECK(Array<int>().empty() && Array<int>().begin() == Array<int>().end());

    auto owner = std::make_shared<std::vector<int>>(std::vector<int>{1, 2, 3});
    const std::weak_ptr<std::vector<int>> watched = owner;
    Array<int> borrowed(owner->data(), 3, owner);
    owner.reset();
    CHECK(!watched.expired() && borrowed[2] == 3);
    CHECK_THROWS(std::logic_error, borrowed.edit());
    Array<int> second = borrowed;
    borrowed = {};
    CHECK(watched.expired() && second[2] == 3);
    second.edit()[2] = 4;
}

TEST(arrays_are_read_as_they_were_written) {
    Array<double> numbers(std::vector<double>{1.0, 2.0});
    const int exponent = -3;
    const bool is_there = true;
    ArrayWriter writer;
    writer("numbers", numbers);
    writer.counts("counts", exponent, is_there, std::size_t{9});
    writer.figures("figures", 0.5, not_a_number);
    CHECK_THROWS(std::logic_error, writer("numbers", numbers));
    const Arrays arrays = writer.take();
    for (const std::size_t shift : {0, 1, 8}) {
        const Arrays others = moved(arrays, shift);
        const ArrayReader reader(others);
        Array<double> read;
        int first = 0;
        bool second = false;
        std::size_t third = 0;
        double half = 0.0, none = 0.0;
        reader("numbers", read);
        CHECK(read.size() == 2 && read[1] == 2.0);
        CHECK((read.data() == others.at("numbers").data) == (shift % 8 == 0));
        reader.counts("counts", first, second, third);
        CHECK(first == -3 && second && third == 9);
        reader.figures("figures", half, none);
        CHECK(half == 0.5 && std::isnan(none));
        CHECK_THROWS(std::invalid_argument, reader("missing", read));
        CHECK_THROWS(std::invalid_argument, reader("counts", read));
        CHECK_THROWS(std::invalid_argument, reader.counts("counts", first, first));
        CHECK_THROWS(std::invalid_argument, reader.counts("counts", third, second, first));
        CHECK_THROWS(std::invalid_argument, reader.counts("counts", first, first, second));
        CHECK_THROWS(std::invalid_argument, reader.matrix("numbers", read));
    }
}

TEST(trees_come_back) {
    const Built built(spread_out(500, 3, 0.0, 2.0, 1));
    const auto queries = space_of(spread_out(9, 3, 0.0, 2.0, 2));
    const Search wanted = search_tree(built.tree, built.space, queries);
    for (const std::size_t shift : {0, 1}) {
        const Arrays arrays = moved(arrays_of(built.tree), shift);
        const CoverTree tree = restore_cover_tree(arrays, 500);
        CHECK(same_bytes(arrays_of(tree), arrays_of(built.tree)));
        CHECK((tree.nodes.data() == arrays.at("nodes").data) == (shift == 0));
        CHECK(search_tree(tree, built.space, queries) == wanted);
    }
}

TEST(forged_trees_are_refused) {
    const Built built(spread_out(500, 3, 0.0, 2.0, 1));
    const Arrays arrays = arrays_of(built.tree);
    const auto refuses =
        refusal_by(arrays, [&](const Arrays& changed) { return restore_cover_tree(changed, 500); });
    CHECK_THROWS(std::invalid_argument, restore_cover_tree(arrays, 499));
    CHECK_THROWS(std::invalid_argument, restore_cover_tree({}, 0));
    for (std::size_t node = 0; node < built.tree.nodes.size(); node += 7) {
        for (const std::size_t member : {0, 1, 2, 4}) {  // ranges, and how many children
            for (const std::uint32_t number : {0xffffffffU, 501U, 77777U}) {
                refuses("nodes", node * 64 + member * 4, number);
            }
        }
        refuses("nodes", node * 64 + 12, static_cast<std::uint32_t>(node));  // its own child
        for (std::size_t figure = 0; figure < 5; ++figure) {
            for (const double number : {not_a_number, -1.0}) {
                refuses("nodes", node * 64 + 24 + figure * 8, number);
            }
        }
    }
    refuses("order", 8, built.tree.order[0]);
    refuses("order", 8, std::int64_t{-1});
    refuses("order", 8, std::int64_t{500});
    for (const char* name : {"norms", "leaf_distance", "parent_distance"}) {
        for (const double number : {not_a_number, -1.0}) refuses(name, 16, number);
    }
    refuses("parent_distance", 16, HUGE_VAL);
    for (const double base : {1.0, not_a_number, HUGE_VAL, -2.0}) refuses("figures", 0, base);
    refuses("counts", 0, std::int64_t{-1});
}

TEST(code_tables_come_back) {
    const Vectors vectors = spread_out(700, 4, 0.5, 2.0, 3), others = spread_out(9, 4, 0.5, 2.0, 4);
    for (const std::string form : {"linear", "cosine", "gaussian"}) {
        for (const bool has_origin : {false, true}) {
            if (has_origin ? form == "linear" : form == "gaussian") continue;
            const check::Context here(form + (has_origin ? " from an origin" : ""));
            const auto objects = space_of(vectors, {form}), queries = space_of(others, {form});
            const CodeTable table = code_table_of(objects, 4, has_origin);
            const Search wanted = search_codes(table, objects, queries);
            for (const std::size_t shift : {0, 8}) {
                const CodeTable restored(objects, moved(table.arrays(), shift));
                CHECK(same_bytes(restored.arrays(), table.arrays()));
                CHECK(restored.n_bytes() == table.n_bytes());
                CHECK(search_codes(restored, objects, queries) == wanted);
            }
        }
    }
}

TEST(forged_code_tables_are_refused) {
    const VectorKernel kernel{"gaussian"};
    const auto objects = space_of(spread_out(700, 4, 0.5, 2.0, 3), kernel);
    const CodeTable table = code_table_of(objects, 4, true);
    const Arrays arrays = table.arrays();
    const auto refuses =
        refusal_by(arrays, [&](const Arrays& changed) { return CodeTable(objects, changed); });
    const auto others = space_of(spread_out(700, 5, 0.5, 2.0, 3), kernel);
    const auto fewer = space_of(spread_out(699, 4, 0.5, 2.0, 3), kernel);
    CHECK_THROWS(std::invalid_argument, CodeTable(others, arrays));
    CHECK_THROWS(std::invalid_argument, CodeTable(fewer, arrays));
    CHECK_THROWS(std::invalid_argument, CodeTable(objects, Arrays{}));
    refuses("axes", 8, not_a_number);
    refuses("axes", 8, 0.5);  // not orthonormal
    refuses("origin", 8, not_a_number);
    refuses("counts", 0, std::int64_t{3000});
    refuses("counts", 8, std::int64_t{2});
    refuses("figures", 0, not_a_number);
    refuses("positions", 0, std::uint32_t{700});
    refuses("positions", 0, no_object);
    refuses("positions", 700 * 4, std::uint32_t{5});
    for (const char* name : {"leaves", "tails", "extras", "whole_centres", "boxes_centres",
                             "boxes_halves", "boxes_radii", "boxes_lengths", "boxes_least_tails"}) {
        refuses(name, 4, static_cast<float>(not_a_number));
    }
}

TEST(postings_come_back) {
    const Vectors vectors = draw_vectors(900, 20, 3, 5), others = draw_vectors(9, 20, 3, 6);
    for (const std::string form : {"linear", "cosine"}) {
        const auto objects = space_of(vectors, {form}, StoreKind::sparse_f64);
        const auto queries = space_of(others, {form}, StoreKind::sparse_f64);
        const Postings postings(objects, ignore);
        const Search wanted = search_postings(postings, objects, queries);
        const Arrays arrays = moved(postings.arrays());
        const Postings restored(objects, arrays);
        CHECK(same_bytes(restored.arrays(), postings.arrays()));
        CHECK(restored.postings() == arrays.at("postings").data);
        CHECK(search_postings(restored, objects, queries) == wanted);

        const auto refuses =
            refusal_by(arrays, [&](const Arrays& changed) { return Postings(objects, changed); });
        refuses("positions", 0, std::uint32_t{900});
        refuses("places", 4, restored.place(0));
        refuses("slots", 16, ~std::uint64_t{0});
        refuses("slots", 20 * 16 + 8, std::uint64_t{1} << 62);
        refuses("shelf_norms", 0, not_a_number);
        refuses("counts", 0, std::int64_t{-3000});
        if (form == "cosine") refuses("inverse_norms", 0, static_cast<float>(not_a_number));
        // Postings are not read at load: a search must bear any places in them.
        for (const std::uint32_t place : {0U, 899U, 900U, 0xffffffffU}) {
            const Postings lying(objects, forged(arrays, "postings", 8 * 100, place));
            CHECK(search_postings(lying, objects, queries).answer.values.size() == 9 * k);
        }
    }
}

TEST(pivots_come_back_without_an_evaluation) {
    const auto objects = space_of(spread_out(300, 3, 0.0, 1.0, 7), {"gaussian"});
    const auto queries = space_of(spread_out(9, 3, 0.0, 1.0, 8), {"gaussian"});
    for (const std::vector<std::int64_t>& wanted :
         {std::vector<std::int64_t>{}, std::vector<std::int64_t>{9, 3, 200, 17}}) {
        const auto projection = std::make_shared<PivotProjection>(objects, wanted);
        const PivotTable table(projection, 2, ignore);
        const Arrays arrays = moved(table.arrays());
        const PivotTable restored = restore_table(objects, arrays);
        CHECK(same_bytes(restored.arrays(), table.arrays()));
        CHECK(restored.row(0) == arrays.at("rows").data);
        CHECK(search_pivots(restored, objects, queries) == search_pivots(table, objects, queries));

        const auto refuses = refusal_by(
            arrays, [&](const Arrays& changed) { return restore_table(objects, changed); });
        refuses("norms", 0, not_a_number);
        refuses("errors", 0, -1.0);
        refuses("tails", 0, -1.0F);
        refuses("pivot_figures", 8, not_a_number);
        if (wanted.empty()) continue;
        refuses("pivots", 8, std::int64_t{9});
        refuses("pivots", 8, std::int64_t{300});
        refuses("pivots", 8, std::int64_t{-1});
        refuses("pivot_exponents", 0, std::numeric_limits<std::int32_t>::min());
        refuses("pivot_axes", 8, not_a_number);
    }
    const TableSpace counted(20, [](std::size_t i, std::size_t j) { return i == j ? 2.0 : 1.0; });
    const PivotTable table(
        std::make_shared<PivotProjection>(counted, std::vector<std::int64_t>{3, 4}), 1, ignore);
    const std::size_t before = counted.n_evaluations;
    CHECK(restore_table(counted, table.arrays()).size() == 20);
    CHECK(counted.n_evaluations == before);
}

TEST(gram_tables_come_back) {
    const std::vector<Letter> letters{65, 66, 67, 66, 65, 67, 67, 66, 65, 66, 67, 66, 65, 65, 66};
    const std::vector<std::int64_t> offsets{0, 15}, halves{0, 4, 15};
    const Sequences whole{nullptr, letters.data(), offsets.data(), 1};
    const Sequences cut{nullptr, letters.data(), halves.data(), 2};
    const Labour alone{1, ignore};
    const std::vector<Letter> given{66, 65, 67};
    for (const GramRule& rule :
         {GramRule{2}, GramRule{2, 1, given}, GramRule{3, 2, given}, GramRule{9}, GramRule{1}}) {
        const check::Context here(text("length", rule.length) + text(", off", rule.mismatches));
        const GramTable table(rule, whole, alone);
        const Arrays arrays = moved(table.arrays());
        const GramTable restored(rule, arrays);
        CHECK(same_bytes(restored.arrays(), table.arrays()));
        CHECK(restored.n_columns() == table.n_columns());
        const GramCounts a = table.count_others(cut, alone), b = restored.count_others(cut, alone);
        CHECK(a.n_columns == b.n_columns && a.offsets[2] == b.offsets[2]);
        CHECK(std::equal(a.columns.get(), a.columns.get() + a.offsets[2], b.columns.get()));
        CHECK(std::equal(a.floats.get(), a.floats.get() + a.offsets[2], b.floats.get()));
        for (const auto& [name, view] : arrays) {
            if (name.ends_with("ranks") && n_bytes(view) > 0) {
                CHECK_THROWS(std::invalid_argument,
                             GramTable(rule, forged(arrays, name, 0, std::uint32_t{1})));
            }
        }
        CHECK_THROWS(std::invalid_argument, GramTable(rule, forged(arrays, "letters", 0, ~0U)));
        CHECK_THROWS(std::invalid_argument, GramTable(rule, Arrays{}));
    }
    CHECK_THROWS(std::invalid_argument,
                 GramTable(GramRule{0}, GramTable({2}, whole, alone).arrays()));
}
