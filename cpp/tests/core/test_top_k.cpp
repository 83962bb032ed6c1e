// The k best, against sorting everything.

#include "fastmks/core/top_k.hpp"
#include "tests/support/testing.hpp"

namespace {

// n hits with few different values, offered in a random order.
std::vector<Hit> draw_hits(std::size_t n, std::size_t n_values, Draw& draw) {
    std::vector<Hit> hits;
    for (std::size_t i = 0; i < n; ++i) {
        const double value = static_cast<double>(draw.below(n_values)) - 1.0;
        hits.push_back({value == 0.0 && i % 2 == 0 ? -0.0 : value, static_cast<std::int64_t>(i)});
    }
    for (std::size_t i = n; i > 1; --i) std::swap(hits[i - 1], hits[draw.below(i)]);
    return hits;
}

// By position, then stably by value: the order of answers from its definition.
std::vector<Hit> full_sort(std::vector<Hit> hits) {
    std::sort(hits.begin(), hits.end(), [](Hit a, Hit b) { return a.position < b.position; });
    std::stable_sort(hits.begin(), hits.end(), [](Hit a, Hit b) { return a.value > b.value; });
    return hits;
}

bool is_prefix(const std::vector<Hit>& got, const std::vector<Hit>& all, std::size_t k) {
    return got.size() == std::min(k, all.size()) &&
           std::equal(got.begin(), got.end(), all.begin(), [](const Hit& a, const Hit& b) {
               return a.position == b.position && same_bits(a.value, b.value);
           });
}

}  // namespace

TEST(greater_values_rank_first_and_equal_ones_by_position) {
    CHECK(ranks_before({2.0, 9}, {1.0, 0}));
    CHECK(!ranks_before({1.0, 0}, {2.0, 9}));
    CHECK(ranks_before({1.0, 3}, {1.0, 4}));
    CHECK(!ranks_before({1.0, 3}, {1.0, 3}));
    CHECK(ranks_before({-0.0, 3}, {0.0, 4}) && !ranks_before({0.0, 4}, {-0.0, 3}));
    CHECK(ranks_before({-1e308, 5}, {-infinity, 0}));
}

namespace {

// Runs a check of both kinds of collector: make(k) is one for k hits.
template <class Check>
void for_both(Check check) {
    check([](std::size_t k) { return TopK(k); });
    check([](std::size_t k) { return Reservoir(k); });
}

}  // namespace

TEST(top_k_is_the_head_of_a_full_sort) {
    for_both([](auto make) {
        Draw draw(1);
        for (const std::size_t n : {1, 2, 3, 10, 100, 1000}) {
            for (const std::size_t n_values : {1, 2, 7, 100000}) {
                const auto hits = draw_hits(n, n_values, draw);
                const auto all = full_sort(hits);
                for (const std::size_t k :
                     {std::size_t{1}, std::size_t{2}, std::size_t{3}, n / 2 + 1, n, n + 5}) {
                    const check::Context here(text("n", n) + text(", values", n_values) +
                                              text(", k", k));
                    auto best = make(k);
                    for (const Hit& hit : hits) best.offer(hit);
                    CHECK(is_prefix(best.sorted(), all, k));
                    CHECK(is_prefix(best.sorted(), all, k));  // asking changes nothing
                }
            }
        }
    });
}

TEST(top_k_does_not_depend_on_the_order_of_offers) {
    for_both([](auto make) {
        Draw draw(2);
        auto hits = draw_hits(200, 5, draw);
        const auto all = full_sort(hits);
        const auto check_order = [&](const std::vector<Hit>& order) {
            for (const std::size_t k : {1, 7, 199, 200}) {
                auto best = make(k);
                for (const Hit& hit : order) best.offer(hit);
                CHECK(is_prefix(best.sorted(), all, k));
            }
        };
        check_order(all);
        check_order({all.rbegin(), all.rend()});
        for (int round = 0; round < 50; ++round) {
            for (std::size_t i = hits.size(); i > 1; --i)
                std::swap(hits[i - 1], hits[draw.below(i)]);
            check_order(hits);
        }
    });
}

TEST(top_k_may_be_asked_along_the_way) {
    for_both([](auto make) {
        Draw draw(3);
        const auto hits = draw_hits(300, 9, draw);
        auto best = make(10);
        std::vector<Hit> offered;
        for (const Hit& hit : hits) {
            best.offer(hit);
            offered.push_back(hit);
            if (offered.size() % 7 == 0) CHECK(is_prefix(best.sorted(), full_sort(offered), 10));
        }
    });
}

TEST(the_threshold_never_shuts_out_an_answer) {
    for_both([](auto make) {
        Draw draw(4);
        const auto hits = draw_hits(500, 50, draw);
        for (const std::size_t k : {1, 10, 400}) {
            auto best = make(k);
            CHECK(best.threshold() == -infinity);
            std::vector<Hit> offered;
            double before = -infinity;
            for (const Hit& hit : hits) {
                best.offer(hit);
                offered.push_back(hit);
                const auto all = full_sort(offered);
                CHECK(best.threshold() <= (all.size() < k ? -infinity : all[k - 1].value));
                CHECK(best.threshold() >= before);
                before = best.threshold();
            }
            if (k <= 10) CHECK(before > -1.0);  // and does shut out most of the others
        }
    });
}

TEST(the_threshold_of_top_k_is_the_kth_value) {
    Draw draw(5);
    const auto hits = draw_hits(300, 40, draw);
    for (const std::size_t k : {1, 2, 10, 100}) {
        TopK best(k);
        std::vector<Hit> offered;
        for (const Hit& hit : hits) {
            best.offer(hit);
            offered.push_back(hit);
            const auto all = full_sort(offered);
            CHECK(best.is_full() == (all.size() >= k));
            CHECK(best.threshold() == (all.size() < k ? -infinity : all[k - 1].value));
            CHECK(best.hits().size() == std::min(k, all.size()));
        }
    }
}
