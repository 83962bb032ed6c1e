// Sums of weighted bits, against sums of whole numbers one object at a time.

#include "fastmks/simd/isa.hpp"
#include "fastmks/simd/loops.hpp"
#include "tests/support/testing.hpp"

namespace {

// Planes of one block, and which of them count how much.
struct Case {
    std::vector<PlaneLine> lines;
    std::vector<std::uint32_t> planes;
    std::vector<std::uint32_t> level_ends;

    [[nodiscard]] PlaneSum sum() const {
        return {planes.data(), level_ends.data(), level_ends.size()};
    }
    [[nodiscard]] bool has(std::size_t plane, std::size_t i) const {
        return lines[plane].words[i / 64] >> i % 64 & 1;
    }
    [[nodiscard]] float weight_of(std::size_t i) const {
        double total = 0.0;
        std::size_t at = 0;
        for (std::size_t l = 0; l < level_ends.size(); ++l) {
            for (; at < level_ends[l]; ++at) {
                if (has(planes[at], i)) total += std::ldexp(1.0, static_cast<int>(l));
            }
        }
        return static_cast<float>(total);
    }
};

// `per_level` planes at each of the lowest levels; as many levels more as the sum may need.
Case draw_case(const std::vector<std::size_t>& per_level, bool is_full, Draw& draw) {
    Case drawn;
    drawn.lines.resize(37);
    for (PlaneLine& line : drawn.lines) {
        for (auto& word : line.words) {
            word = ~std::uint64_t{0};
            for (int part = 0; part < 4 && !is_full; ++part) {
                word = word << 16 | draw.below(1 << 16);
            }
        }
    }
    std::size_t total = 0;
    for (std::size_t l = 0; l < per_level.size(); ++l) {
        for (std::size_t i = 0; i < per_level[l]; ++i) {
            drawn.planes.push_back(static_cast<std::uint32_t>(draw.below(drawn.lines.size())));
        }
        drawn.level_ends.push_back(static_cast<std::uint32_t>(drawn.planes.size()));
        total += per_level[l] << l;
    }
    while (drawn.level_ends.size() < 64 && total >> drawn.level_ends.size() != 0) {
        drawn.level_ends.push_back(static_cast<std::uint32_t>(drawn.planes.size()));
    }
    return drawn;
}

}  // namespace

TEST(planes_add_up_to_whole_numbers) {
    Draw draw(1);
    const std::vector<std::vector<std::size_t>> counts = {{1},
                                                          {0, 1},
                                                          {2},
                                                          {3},
                                                          {1, 1, 1},
                                                          {7, 0, 2},
                                                          {15, 16, 1},
                                                          {345, 20, 3},
                                                          {0, 0, 0, 0, 5},
                                                          {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
    for (const Isa isa : available_isas()) {
        for (std::size_t at = 0; at < 2 * counts.size(); ++at) {
            const check::Context here(to_string(isa) + text(", case", at));
            const Case drawn = draw_case(counts[at / 2], at % 2 == 1, draw);
            std::vector<float> scores(block_size), want(block_size);
            for (std::size_t i = 0; i < block_size; ++i) {
                scores[i] = static_cast<float>(i) - 100.0f;
                want[i] = scores[i] + drawn.weight_of(i);
            }
            std::vector<PlaneLine> spare(drawn.planes.size() + 2);
            loops_for(isa).planes.add_planes(drawn.lines.data(), drawn.lines.data(), drawn.sum(),
                                             spare.data(), scores.data());
            CHECK(scores == want);
        }
    }
}

TEST(scores_are_scaled_raised_and_kept) {
    Draw draw(2);
    for (const Isa isa : available_isas()) {
        const check::Context here(to_string(isa));
        const PlaneLoops& loops = loops_for(isa).planes;
        std::vector<float> scores(block_size), factors(block_size), maxima(block_size, 0.25f);
        for (std::size_t i = 0; i < block_size; ++i) {
            scores[i] = static_cast<float>(draw.below(9)) - 4.0f;
            factors[i] = 0.5f * static_cast<float>(draw.below(3));
        }
        scores[3] = -HUGE_VALF;
        factors[3] = 1.0f;
        std::vector<float> scaled = scores;
        loops.scale(factors.data(), scaled.data());
        loops.raise(scaled.data(), maxima.data());
        bool same = true;
        for (std::size_t i = 0; i < block_size; ++i) {
            same = same && scaled[i] == scores[i] * factors[i];
            same = same && maxima[i] == (scaled[i] > 0.25f ? scaled[i] : 0.25f);
        }
        for (const float cut : {-HUGE_VALF, -4.0f, 0.0f, 1.5f, 4.0f, 5.0f, HUGE_VALF}) {
            for (std::size_t from = 0; from < block_size; from += 64) {
                const std::uint64_t kept = loops.keep(scores.data() + from, cut);
                for (std::size_t i = 0; i < 64; ++i) {
                    same = same && (kept >> i & 1) == !(scores[from + i] < cut);
                }
            }
        }
        CHECK(same);
    }
}
