// Codes of 8 bits: whole sums, and the same float32 bounds for every instruction set.

#include "fastmks/simd/isa.hpp"
#include "fastmks/simd/loops.hpp"
#include "tests/support/testing.hpp"

namespace {

struct Block {
    Block(std::size_t n_words_, std::size_t n_groups_, bool has_extras, Draw& draw)
        : n_words(n_words_),
          n_groups(n_groups_),
          codes(n_groups * n_words + lines_behind),
          tails(n_groups * group_size),
          extras(has_extras ? tails.size() : 0) {
        for (CodeLine& line : codes) {
            for (auto& code : line.bytes) code = static_cast<std::uint8_t>(1 + draw.below(255));
        }
        for (auto& tail : tails) tail = static_cast<float>(std::abs(draw.short_unit()));
        for (auto& extra : extras) extra = static_cast<float>(draw.short_unit());
    }
    [[nodiscard]] CodeBlock view() const {
        return {codes.data(),
                n_words,
                n_groups * group_size / tile_size,
                tails.data(),
                extras.empty() ? nullptr : extras.data(),
                *std::max_element(tails.begin(), tails.end())};
    }
    // <v, u> of one object, from the bytes themselves.
    [[nodiscard]] long product(const std::vector<std::int32_t>& words, std::size_t object) const {
        long sum = 0;
        for (std::size_t w = 0; w < n_words; ++w) {
            for (std::size_t b = 0; b < bytes_per_word; ++b) {
                const auto v = static_cast<std::int8_t>(
                    static_cast<std::uint32_t>(words[w]) >> (8 * b) & 0xff);
                const CodeLine& line = codes[object / group_size * n_words + w];
                const int u = line.bytes[object % group_size * bytes_per_word + b] - code_bias;
                sum += static_cast<long>(v) * u;
            }
        }
        return sum;
    }

    std::size_t n_words, n_groups;
    std::vector<CodeLine> codes;
    std::vector<float> tails, extras;
};

std::int32_t draw_word(Draw& draw, std::int32_t& sum) {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < bytes_per_word; ++b) {
        const int v = static_cast<int>(draw.below(255)) - largest_code;
        sum += v;
        word |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(v)) << (8 * b);
    }
    return static_cast<std::int32_t>(word);
}

}  // namespace

TEST(codes_bound_scores_and_say_which_are_kept) {
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        Draw draw(11);
        for (const std::size_t n_words : {1, 2, 7, 16, 33}) {
            for (const std::size_t n_tiles : {1, 2, 4}) {
                for (const bool has_extras : {false, true}) {
                    for (const std::size_t n_queries : {1, 2, 3, 4, 5, 18, 64}) {
                        const std::size_t n_groups = n_tiles * tile_size / group_size;
                        const Block block(n_words, n_groups, has_extras, draw);
                        std::vector<std::vector<std::int32_t>> words(n_queries);
                        std::vector<CodeQuery> queries;
                        for (std::size_t i = 0; i < n_queries; ++i) {
                            std::int32_t sum = 0;
                            words[i].resize(n_words);
                            for (auto& word : words[i]) word = draw_word(draw, sum);
                            const bool is_two_sided = !has_extras && draw.below(2) == 0;
                            queries.push_back(
                                {words[i].data(), code_bias * sum, 1e-4f,
                                 static_cast<float>(std::abs(draw.short_unit())),
                                 draw.below(8) == 0 ? NAN : static_cast<float>(draw.short_unit()),
                                 is_two_sided ? -0.5f : -HUGE_VALF});
                        }
                        std::vector<CodeBounds> out(n_queries);
                        loops_for(isa).codes.scan(block.view(), queries.data(), n_queries,
                                                  out.data());
                        for (std::size_t i = 0; i < n_queries; ++i) {
                            for (std::size_t j = 0; j < n_groups * group_size; ++j) {
                                const float score =
                                    queries[i].scale *
                                        static_cast<float>(block.product(words[i], j)) +
                                    (has_extras ? block.extras[j] : 0.0f);
                                const float reach = queries[i].tail * block.tails[j];
                                const bool is_kept = !(score + reach < queries[i].high &&
                                                       score - reach > queries[i].low);
                                CHECK((out[i].kept[j / 64] >> (j % 64) & 1) == is_kept);
                                if (!is_kept) continue;
                                CHECK(out[i].upper[j] == score + reach);
                            }
                        }
                    }
                }
            }
        }
    }
}

TEST(quantize_rounds_to_the_nearest_codes) {
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        Draw draw(3);
        for (const std::size_t n_words : {4, 8, 28}) {
            for (const float size : {0.0f, 1e-33f, 1e-20f, 1.0f, 1e12f}) {
                for (const bool has_centre : {false, true}) {
                    const std::size_t n = n_words * bytes_per_word;
                    std::vector<float> numbers(n), centre(n), difference(n);
                    for (auto& x : numbers) x = size * static_cast<float>(draw.short_unit());
                    for (auto& x : centre) x = size * static_cast<float>(draw.short_unit());
                    std::vector<std::int32_t> words(n_words);
                    const Codes codes = loops_for(isa).codes.quantize(
                        numbers.data(), has_centre ? centre.data() : nullptr, n_words,
                        difference.data(), words.data());
                    double left = 0.0, square = 0.0;
                    long total = 0;
                    for (std::size_t c = 0; c < n; ++c) {
                        const float x = has_centre ? numbers[c] - centre[c] : numbers[c];
                        CHECK(difference[c] == x);
                        const auto v = static_cast<std::int8_t>(
                            static_cast<std::uint32_t>(words[c / 4]) >> (8 * (c % 4)) & 0xff);
                        const double rest =
                            static_cast<double>(x) - static_cast<double>(codes.scale) * v;
                        CHECK(std::abs(rest) <= 0.5 * codes.scale * (1 + 1e-5));
                        left += rest * rest;
                        square += static_cast<double>(x) * x;
                        total += v;
                    }
                    CHECK(codes.sum == total);
                    CHECK(std::abs(codes.error - left) <= 1e-4 * left + 1e-35);
                    CHECK(std::abs(codes.square - square) <= 1e-5 * square + 1e-35);
                }
            }
        }
    }
}

TEST(leaves_promise_at_least_what_their_corners_hold) {
    constexpr std::size_t dimension = 5, n_queries = 3;
    std::vector<float> first_scores, first_promises;
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        Draw draw(17);
        std::vector<float> centres(dimension * group_size), halves(centres.size());
        std::vector<float> radii(group_size), lengths(group_size), tails(group_size);
        for (auto& x : centres) x = static_cast<float>(draw.short_unit());
        for (auto& x : halves) x = static_cast<float>(std::abs(draw.short_unit()));
        for (std::size_t l = 0; l < group_size; ++l) {
            double radius = 0.0, length = 0.0;
            for (std::size_t c = 0; c < dimension; ++c) {
                radius += halves[c * group_size + l] * halves[c * group_size + l];
                length += centres[c * group_size + l] * centres[c * group_size + l];
            }
            radii[l] = static_cast<float>(std::sqrt(radius)) * 1.001f;
            lengths[l] = static_cast<float>(std::sqrt(length)) * 1.001f + radii[l];
            tails[l] = l % 2 == 0 ? 0.0f : 0.25f;
        }
        const std::vector<float> no_tails(group_size, 0.0f);
        const LeafGroup group{dimension,      centres.data(), halves.data(),  radii.data(),
                              lengths.data(), tails.data(),   no_tails.data()};
        std::vector<float> rows(n_queries * dimension);
        for (auto& x : rows) x = static_cast<float>(draw.short_unit());
        std::vector<LeafQuery> queries;
        for (std::size_t i = 0; i < n_queries; ++i) {
            double square = 0.0;
            for (std::size_t c = 0; c < dimension; ++c) {
                square += rows[i * dimension + c] * rows[i * dimension + c];
            }
            queries.push_back({rows.data() + i * dimension,
                               static_cast<float>(std::sqrt(square)) * 1.001f, 0.5f, 0.0f, 1e-6f,
                               1e-5f, 0.1f, i == 1});
        }
        for (const bool is_distance : {false, true}) {
            if (is_distance) queries[1].is_two_sided = false;
            std::vector<float> scores(n_queries * group_size), promises(scores.size());
            const auto bound = is_distance ? loops_for(isa).codes.bound_distances
                                           : loops_for(isa).codes.bound_products;
            bound(group, queries.data(), n_queries, scores.data(), promises.data(), group_size);
            for (std::size_t i = 0; i < n_queries; ++i) {
                for (std::size_t l = 0; l < group_size; ++l) {
                    for (unsigned corner = 0; corner < 1u << dimension; ++corner) {
                        double product = 0.0, square = 0.0;
                        for (std::size_t c = 0; c < dimension; ++c) {
                            const double sign = corner >> c & 1 ? 1.0 : -1.0;
                            const double x =
                                centres[c * group_size + l] + sign * halves[c * group_size + l];
                            const double q = rows[i * dimension + c];
                            product += q * x;
                            square += (q - x) * (q - x);
                        }
                        const double reach = 0.5 * tails[l];
                        double score = is_distance ? -0.5 * square : product + reach;
                        double wanted = score - 0.1;
                        if (queries[i].is_two_sided) {
                            wanted = std::max(wanted, 0.1 - (product - reach));
                        }
                        CHECK(static_cast<double>(promises[i * group_size + l]) >= wanted);
                    }
                }
            }
            first_scores.insert(first_scores.end(), scores.begin(), scores.end());
            first_promises.insert(first_promises.end(), promises.begin(), promises.end());
        }
    }
    // Every instruction set gave the same bits.
    const std::size_t n = 2 * n_queries * group_size;
    for (std::size_t at = n; at < first_scores.size(); ++at) {
        CHECK(first_scores[at] == first_scores[at % n]);
        CHECK(first_promises[at] == first_promises[at % n]);
    }
}

TEST(leaves_are_chosen_by_their_promise) {
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        std::vector<float> promises(3 * group_size, -HUGE_VALF);
        promises[5] = 1.0f;
        promises[20] = 3.0f;
        promises[21] = 3.0f;
        promises[47] = 2.0f;
        std::vector<std::uint32_t> chosen(promises.size());
        CHECK(loops_for(isa).codes.choose(promises.data(), promises.size(), 2.0f, chosen.data()) ==
              3);
        CHECK(chosen[0] == 20 && chosen[1] == 21 && chosen[2] == 47);
        CHECK(loops_for(isa).codes.choose(promises.data(), promises.size(), -HUGE_VALF,
                                          chosen.data()) == 4);
        CHECK(loops_for(isa).codes.greatest(promises.data(), promises.size()) == 20);
    }
}

TEST(the_best_are_told_from_the_rest) {
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        Draw draw(23);
        for (const std::size_t n : {1, 2, 17, 256, 1000}) {
            for (const std::size_t wanted : {1, 2, 10, 100, 2000}) {
                std::vector<float> promises(n);
                for (auto& x : promises) x = static_cast<float>(draw.short_unit());
                const float least =
                    loops_for(isa).codes.least_of_best(promises.data(), promises.size(), wanted);
                std::size_t n_best = 0;
                for (const float x : promises) n_best += x >= least;
                CHECK(n_best >= std::min(n, wanted));
                CHECK(n_best <= std::max(std::min(n, wanted), wanted + wanted / 4 + 1));
            }
        }
        const std::vector<float> equal(40, 1.0f), endless(40, HUGE_VALF);
        CHECK(loops_for(isa).codes.least_of_best(equal.data(), equal.size(), 3) <= 1.0f);
        CHECK(loops_for(isa).codes.least_of_best(endless.data(), endless.size(), 3) <= HUGE_VALF);
    }
}
