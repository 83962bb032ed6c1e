// Sets as bits and as members: the same values, bounds that hold, and queries with unknown members.

#include "fastmks/spaces/tanimoto_space.hpp"

#include <set>

#include "tests/support/testing.hpp"

namespace {

using Sets = std::vector<std::set<std::int32_t>>;

// Every seventh set is empty, every fifth repeats the one before.
Sets draw_sets(std::size_t n, std::size_t n_known, std::uint64_t seed) {
    Draw draw(seed);
    Sets sets(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t size = i % 7 == 3 ? 0 : draw.below(std::min<std::size_t>(n_known, 90));
        for (std::size_t e = 0; e < size; ++e) {
            sets[i].insert(static_cast<std::int32_t>(draw.below(n_known)));
        }
        if (i % 5 == 4) sets[i] = sets[i - 1];
    }
    return sets;
}

struct KeptBits {
    KeptBits(const Sets& sets, std::size_t n_words) : words(sets.size() * n_words) {
        for (std::size_t i = 0; i < sets.size(); ++i) {
            for (const std::int32_t m : sets[i]) {
                words[i * n_words + static_cast<std::size_t>(m) / 64] |= std::uint64_t{1} << m % 64;
            }
        }
        store = make_bit_store(words.data(), sets.size(), n_words);
    }
    std::vector<std::uint64_t> words;
    std::shared_ptr<const SetStore> store;
};

// `n_unknown` more members in every set count in its size.
struct KeptMembers {
    KeptMembers(const Sets& sets, std::size_t n_known, std::int32_t n_unknown = 0) : offsets{0} {
        for (const auto& set : sets) {
            members.insert(members.end(), set.begin(), set.end());
            offsets.push_back(static_cast<std::int64_t>(members.size()));
            sizes.push_back(static_cast<std::int32_t>(set.size()) + n_unknown);
        }
        store = make_member_store(offsets.data(), members.data(), sizes.data(), sets.size(),
                                  members.size(), n_known);
    }
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> members;
    std::vector<std::int32_t> sizes;
    std::shared_ptr<const SetStore> store;
};

double expected(const std::set<std::int32_t>& x, const std::set<std::int32_t>& y,
                std::size_t n_unknown) {
    std::size_t shared = 0;
    for (const std::int32_t m : x) shared += y.count(m);
    const std::size_t either = x.size() + n_unknown + y.size() - shared;
    return either == 0 ? 0.0 : static_cast<double>(shared) / static_cast<double>(either);
}

void check_space(const TanimotoSpace& objects, const TanimotoSpace& queries, const Sets& sets,
                 const Sets& asked, std::size_t n_unknown = 0) {
    const std::size_t n = sets.size();
    CHECK(objects.accepts(queries));
    const std::vector<double> values = all_values(objects, queries);
    std::vector<double> bounds(values.size()), some(asked.size() * 3);
    const auto batch = queries.batch(0, asked.size());
    objects.bound_values(*batch, Selection::range(0, n), bounds.data(), n);
    const std::vector<std::int64_t> list{1, static_cast<std::int64_t>(n) / 2,
                                         static_cast<std::int64_t>(n) - 1};
    objects.bound_values(*batch, Selection::list(list.data(), 3), some.data(), 3);
    std::vector<double> shifted(asked.size() * (n - 3));
    objects.bound_values(*batch, Selection::range(3, n), shifted.data(), n - 3);
    std::unique_ptr<QueryBatch> refilled;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        std::vector<double> one(3);
        queries.refill(refilled, i);
        objects.values(*refilled, Selection::list(list.data(), 3), one.data());
        for (std::size_t l = 0; l < 3; ++l) {
            const std::size_t at = i * n + static_cast<std::size_t>(list[l]);
            CHECK(same_bits(one[l], values[at]));
            CHECK(same_bits(some[i * 3 + l], bounds[at]));
        }
        for (std::size_t j = 0; j < n; ++j) {
            CHECK(same_bits(values[i * n + j], expected(asked[i], sets[j], n_unknown)));
            CHECK(bounds[i * n + j] >= values[i * n + j] && bounds[i * n + j] <= 1.0);
            if (j >= 3) CHECK(same_bits(shifted[i * (n - 3) + j - 3], bounds[i * n + j]));
        }
    }
}

}  // namespace

TEST(tanimoto_of_bits_and_of_members) {
    for (const Isa isa : available_isas()) {
        for (const std::size_t n_words : {8, 16, 40}) {
            const check::Context context(to_string(isa) + text(" words", n_words));
            const std::size_t n_known = n_words * 64;
            const Sets sets = draw_sets(83, n_known, 1), asked = draw_sets(21, n_known, 2);
            const KeptBits bits(sets, n_words), asked_bits(asked, n_words);
            const TanimotoSpace objects(bits.store, isa);
            check_space(objects, TanimotoSpace(asked_bits.store, isa), sets, asked);
            for (std::size_t i = 0; i < sets.size(); ++i) {
                CHECK(objects.is_zero(i) == sets[i].empty());
                CHECK(objects.self_value(i) == (sets[i].empty() ? 0.0 : 1.0));
            }
            const KeptMembers members(sets, n_known);
            for (const std::int32_t n_unknown : {0, 3}) {
                const KeptMembers asked_members(asked, n_known, n_unknown);
                check_space(TanimotoSpace(members.store, isa),
                            TanimotoSpace(asked_members.store, isa), sets, asked,
                            static_cast<std::size_t>(n_unknown));
            }
            CHECK(!objects.accepts(TanimotoSpace(members.store, isa)));
        }
    }
}

TEST(tanimoto_of_few_and_of_many_known_members) {
    const Isa isa = available_isas().back();
    // One member, all sets alike or empty; and more members than a table has room for.
    for (const std::size_t n_known : {std::size_t{1}, std::size_t{3}, std::size_t{5'000'000}}) {
        const Sets sets = draw_sets(30, n_known, 3), asked = draw_sets(11, n_known, 4);
        const KeptMembers members(sets, n_known), asked_members(asked, n_known, 1);
        check_space(TanimotoSpace(members.store, isa), TanimotoSpace(asked_members.store, isa),
                    sets, asked, 1);
    }
    // More common members than a byte can count.
    Sets large(2);
    for (std::int32_t m = 0; m < 2000; ++m) large[m % 3 == 0].insert(m);
    for (std::int32_t m = 0; m < 2000; m += 2) large[1].insert(m);
    large.push_back(large[1]);
    large.push_back({});
    const KeptMembers members(large, 2000);
    const TanimotoSpace space(members.store, isa);
    check_space(space, space, large, large);
}

TEST(set_stores_refuse_what_they_cannot_hold) {
    const std::vector<std::uint64_t> words(24);
    CHECK_THROWS(std::invalid_argument, make_bit_store(words.data(), 2, 12));
    CHECK_THROWS(std::invalid_argument, make_bit_store(words.data(), 2, 0));
    using Ints = std::vector<std::int32_t>;
    const auto make = [](const std::vector<std::int64_t>& offsets, const Ints& members,
                         const Ints& sizes) {
        return make_member_store(offsets.data(), members.data(), sizes.data(), sizes.size(),
                                 members.size(), 10);
    };
    CHECK(make({0, 1, 3}, {4, 0, 9}, {1, 5})->size() == 2);
    CHECK_THROWS(std::invalid_argument, make({0, 1, 2}, {4, 0, 9}, {1, 2}));
    CHECK_THROWS(std::invalid_argument, make({0, 4, 3}, {4, 0, 9}, {4, 2}));
    CHECK_THROWS(std::invalid_argument, make({0, 1, 3}, {4, 0, 10}, {1, 2}));
    CHECK_THROWS(std::invalid_argument, make({0, 1, 3}, {4, 9, 9}, {1, 2}));
    CHECK_THROWS(std::invalid_argument, make({0, 1, 3}, {-1, 0, 9}, {1, 2}));
    CHECK_THROWS(std::invalid_argument, make({0, 1, 3}, {4, 0, 9}, {1, 1}));
    CHECK_THROWS(std::invalid_argument, make({0, 1, 3}, {4, 0, 9}, {1, 1 << 30}));
}
