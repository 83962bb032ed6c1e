// Loops over words of bits: whole numbers and one division, the same for every instruction set.

#include "fastmks/simd/isa.hpp"
#include "fastmks/simd/loops.hpp"
#include "tests/support/testing.hpp"

namespace {

using Words = std::vector<std::uint64_t>;

// Words with no, few, half, most or all bits set.
Words draw_words(std::size_t n, Draw& draw) {
    Words words(n);
    for (auto& word : words) {
        const std::size_t kind = draw.below(5);
        for (int bit = 0; bit < 64; ++bit) {
            const bool is_set = draw.below(8) < 2 * kind;
            word |= static_cast<std::uint64_t>(is_set) << bit;
        }
    }
    return words;
}

std::size_t count(std::uint64_t word) {
    std::size_t n = 0;
    for (; word != 0; word >>= 1) n += word & 1;
    return n;
}

}  // namespace

TEST(intersections_count_common_bits) {
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        Draw draw(5);
        for (const std::size_t n_words : {8, 16, 32, 248, 256, 1000}) {
            for (const std::size_t n_rows : {1, 2, 3, 4, 5, 9}) {
                const std::size_t n_queries = 3, stride = n_rows + 2;
                const Words queries = draw_words(n_queries * n_words, draw);
                const Words data = draw_words(n_rows * n_words, draw);
                std::vector<const std::uint64_t*> rows;
                for (std::size_t j = 0; j < n_rows; ++j) rows.push_back(data.data() + j * n_words);
                std::vector<double> out(n_queries * stride, -1.0);
                loops_for(isa).bits.intersections(queries.data(), n_queries, rows.data(), n_rows,
                                                  n_words, out.data(), stride);
                for (std::size_t i = 0; i < n_queries; ++i) {
                    for (std::size_t j = 0; j < stride; ++j) {
                        std::size_t shared = 0;
                        for (std::size_t w = 0; j < n_rows && w < n_words; ++w) {
                            shared += count(queries[i * n_words + w] & rows[j][w]);
                        }
                        const double wanted = j < n_rows ? static_cast<double>(shared) : -1.0;
                        CHECK(out[i * stride + j] == wanted);
                    }
                }
            }
        }
        const Words all(8000, ~std::uint64_t{0});
        const std::uint64_t* row = all.data();
        double shared = 0.0;
        loops_for(isa).bits.intersections(all.data(), 1, &row, 1, all.size(), &shared, 1);
        CHECK(shared == 64.0 * 8000.0);
    }
}

TEST(quotients_are_one_division) {
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        for (std::int32_t n_members = 0; n_members < 12; ++n_members) {
            std::vector<double> values;
            std::vector<std::int32_t> sizes;
            std::vector<double> wanted;
            for (std::int32_t size = 0; size < 12; ++size) {
                for (std::int32_t shared = 0; shared <= std::min(size, n_members); ++shared) {
                    values.push_back(shared);
                    sizes.push_back(size);
                    const std::int32_t either = n_members + size - shared;
                    wanted.push_back(either == 0 ? 0.0 : static_cast<double>(shared) / either);
                }
            }
            loops_for(isa).bits.quotients(values.data(), sizes.data(), values.size(), n_members);
            CHECK(same_bits(values, wanted));
        }
    }
}

TEST(signature_bounds_are_those_of_the_formula) {
    for (const Isa isa : available_isas()) {
        const check::Context context(to_string(isa));
        Draw draw(9);
        for (const std::size_t n_words : {1, 2, 4, 8}) {
            const std::size_t n_blocks = 67;
            const Words blocks = draw_words(n_blocks * n_words * 8, draw);
            const Words signature = draw_words(n_words, draw);
            std::vector<std::int32_t> sizes(n_blocks * 8);
            for (auto& size : sizes) size = static_cast<std::int32_t>(draw.below(600));
            sizes[3] = 0;
            for (const std::int32_t n_known : {0, 1, 300}) {
                const SetQuery query{signature.data(), n_known, n_known == 1 ? 5 : n_known};
                std::vector<double> out(sizes.size());
                loops_for(isa).bits.signature_bounds(query, blocks.data(), n_words, sizes.data(),
                                                     n_blocks, out.data());
                for (std::size_t j = 0; j < sizes.size(); ++j) {
                    std::int32_t differences = 0;
                    for (std::size_t w = 0; w < n_words; ++w) {
                        const auto word = blocks[(j / 8 * n_words + w) * 8 + j % 8];
                        differences += static_cast<std::int32_t>(count(word ^ signature[w]));
                    }
                    std::int32_t shared = n_known + sizes[j] - differences;
                    shared = shared >= 0 ? shared / 2 : -((1 - shared) / 2);
                    shared = std::min({shared, sizes[j], n_known});
                    const std::int32_t either = query.n_members + sizes[j] - shared;
                    const double wanted = either > 0 ? static_cast<double>(shared) / either : 0.0;
                    CHECK(same_bits(out[j], wanted));
                }
            }
        }
    }
}
