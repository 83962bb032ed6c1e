#include "fastmks/stores/grams.hpp"

#include <map>

#include "tests/support/testing.hpp"

namespace {

const Labour alone{1, ignore};
const Labour in_threads{3, ignore};

using Text = std::vector<Letter>;

// Owns what Sequences points to.
struct Texts {
    explicit Texts(const std::vector<Text>& texts) : offsets{0} {
        for (const Text& letters : texts) {
            wide.insert(wide.end(), letters.begin(), letters.end());
            offsets.push_back(static_cast<std::int64_t>(wide.size()));
        }
        narrow.assign(wide.begin(), wide.end());
    }
    [[nodiscard]] Sequences in_words() const {
        return {nullptr, wide.data(), offsets.data(), offsets.size() - 1};
    }
    [[nodiscard]] Sequences in_bytes() const {
        return {narrow.data(), nullptr, offsets.data(), offsets.size() - 1};
    }
    Text wide;
    std::vector<std::uint8_t> narrow;
    std::vector<std::int64_t> offsets;
};

std::vector<Text> random_texts(std::size_t n, std::size_t longest, std::size_t n_letters,
                               std::uint64_t seed) {
    Draw draw(seed);
    std::vector<Text> texts(n);
    for (Text& letters : texts) {
        letters.resize(draw.below(longest + 1));
        for (Letter& letter : letters) letter = static_cast<Letter>(65 + draw.below(n_letters));
    }
    return texts;
}

double product(const GramCounts& a, std::size_t i, const GramCounts& b, std::size_t j) {
    std::map<std::int32_t, double> row;
    const auto value = [](const GramCounts& counts, std::int64_t e) {
        return counts.floats ? static_cast<double>(counts.floats[e]) : counts.doubles[e];
    };
    for (auto e = a.offsets[i]; e < a.offsets[i + 1]; ++e) row[a.columns[e]] = value(a, e);
    double sum = 0.0;
    for (auto e = b.offsets[j]; e < b.offsets[j + 1]; ++e) {
        CHECK(e == b.offsets[j] || b.columns[e - 1] < b.columns[e]);
        if (row.contains(b.columns[e])) sum += row[b.columns[e]] * value(b, e);
    }
    return sum;
}

// Pairs of equal runs.
double spectrum(const Text& x, const Text& y, std::size_t p) {
    double n = 0.0;
    for (std::size_t i = 0; i + p <= x.size(); ++i) {
        for (std::size_t j = 0; j + p <= y.size(); ++j) {
            n += std::equal(x.begin() + static_cast<std::ptrdiff_t>(i),
                            x.begin() + static_cast<std::ptrdiff_t>(i + p),
                            y.begin() + static_cast<std::ptrdiff_t>(j));
        }
    }
    return n;
}

bool same(const GramCounts& a, const GramCounts& b) {
    bool is_same = a.n_rows == b.n_rows && a.n_columns == b.n_columns;
    for (std::size_t i = 0; is_same && i <= a.n_rows; ++i) is_same = a.offsets[i] == b.offsets[i];
    for (std::int64_t e = 0; is_same && e < a.offsets[a.n_rows]; ++e) {
        is_same = a.columns[e] == b.columns[e] && a.floats[e] == b.floats[e];
    }
    return is_same;
}

}  // namespace

TEST(counts_are_those_of_pairs_of_equal_runs) {
    for (const std::size_t p : {1, 2, 3, 5, 13, 40, 100}) {
        for (const std::size_t n_letters : {1, 2, 20}) {
            const check::Context here(text("p", p) + text(", letters", n_letters));
            auto objects = random_texts(6, 150, n_letters, p);
            objects.push_back(objects[0]);
            objects.push_back({});
            auto others = random_texts(4, 150, n_letters + 1, p + 1);  // a letter more
            others.push_back(objects[1]);
            others[0].push_back(0x1F600);
            const Texts x(objects), q(others);
            const GramTable table({p}, x.in_words(), alone);
            const GramCounts counts = table.count(x.in_words(), alone);
            const GramCounts other = table.count_others(q.in_words(), alone);
            CHECK(counts.n_columns == table.n_columns() && other.n_columns >= counts.n_columns);
            for (std::size_t i = 0; i < others.size(); ++i) {
                for (std::size_t j = 0; j < objects.size(); ++j) {
                    CHECK(product(other, i, counts, j) == spectrum(others[i], objects[j], p));
                }
                for (std::size_t j = 0; j < others.size(); ++j) {
                    CHECK(product(other, i, other, j) == spectrum(others[i], others[j], p));
                }
            }
        }
    }
}

TEST(threads_and_the_width_of_letters_make_no_difference) {
    const Texts x(random_texts(3000, 300, 20, 5)), q(random_texts(50, 300, 26, 6));
    for (const GramRule& rule :
         {GramRule{3}, GramRule{9}, GramRule{30}, GramRule{2, 1, {65, 66}}}) {
        const check::Context here(text("p", rule.length));
        const GramTable table(rule, x.in_bytes(), in_threads), slow(rule, x.in_words(), alone);
        CHECK(same(table.count(x.in_bytes(), in_threads), slow.count(x.in_words(), alone)));
        CHECK(same(table.count_others(q.in_bytes(), in_threads),
                   slow.count_others(q.in_words(), alone)));
    }
}

TEST(a_letter_may_be_replaced_by_those_of_the_alphabet) {
    const Texts x({{65, 66, 67}, {65, 90, 67}, {90, 90, 90}, {}});
    const GramTable table({3, 1, {65, 66, 67}}, x.in_words(), alone);
    const GramCounts counts = table.count(x.in_words(), alone);
    const double wanted[4][4] = {{7, 3, 0, 0}, {3, 8, 0, 0}, {0, 0, 10, 0}, {0, 0, 0, 0}};
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) CHECK(product(counts, i, counts, j) == wanted[i][j]);
    }
    CHECK_THROWS(std::length_error, GramTable({40, 1, {65, 66, 67}}, x.in_words(), alone));
}

TEST(counts_that_float32_cannot_hold_are_float64) {
    const std::size_t n = (std::size_t{1} << 24) + 1;
    const Texts x({Text(n, 65)});
    const GramTable table({1}, x.in_bytes(), alone);
    const GramCounts counts = table.count(x.in_bytes(), alone);
    CHECK(!counts.floats && counts.doubles && counts.doubles[0] == static_cast<double>(n));
    CHECK(counts.first_too_large == 1);
}

TEST(self_values_beyond_2_53_are_found) {
    // 'A' 200 000 times at 4 * 10^5 neighbours: 1.6 * 10^16.
    std::vector<Letter> alphabet;
    for (Letter letter = 0; letter < 632; ++letter) alphabet.push_back(1000 + letter);
    const Texts x({{1000, 1000}, Text(200'001, 1000), Text(200'001, 1001)});
    const GramTable table({2, 1, alphabet}, x.in_words(), alone);
    CHECK(table.count(x.in_words(), alone).first_too_large == 3);
    const GramTable wider({2, 2, alphabet}, x.in_words(), alone);
    CHECK(wider.count(x.in_words(), alone).first_too_large == 1);
}
