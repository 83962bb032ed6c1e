
#include "fastmks/spaces/residue_space.hpp"
#include "fastmks/spaces/series_space.hpp"
#include "tests/support/testing.hpp"

namespace {

// Strings of letters below 3, of many lengths, some equal.
struct Strings {
    std::vector<std::uint8_t> letters;
    std::vector<std::int64_t> offsets{0};

    Strings(std::size_t n, std::uint64_t seed) {
        Draw draw(seed);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t length = i % 7 == 3 ? 0 : (i * i * 13) % 70;
            for (std::size_t at = 0; at < length; ++at) {
                letters.push_back(static_cast<std::uint8_t>(draw.below(3)));
            }
            offsets.push_back(static_cast<std::int64_t>(letters.size()));
        }
    }
    [[nodiscard]] std::shared_ptr<const ResidueStore> store() const {
        return std::make_shared<ResidueStore>(letters.data(), letters.size(), offsets.data(),
                                              offsets.size() - 1);
    }
};

const AlignmentKernel kernel{{4, -1, -2, -1, 5, 0, -2, 0, 6}, 3, 3.0, 1.0};

// Finite or not.
std::vector<double> all_values(const Space& space) {
    std::vector<double> values(space.size() * space.size());
    space.evaluate(*space.batch(0, space.size()), Selection::range(0, space.size()), values.data(),
                   space.size());
    return values;
}

// Same bits for every instruction set, for x with y and y with x, and for self values.
template <class Make>
void check_bits(Make make) {
    const auto wanted = all_values(*make(Isa::baseline));
    for (const Isa isa : available_isas()) {
        const check::Context here(to_string(isa));
        const auto space = make(isa);
        const auto values = all_values(*space);
        const std::size_t n = space->size();
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(same_bits(space->self_value(i), values[i * n + i]));
            for (std::size_t j = 0; j < n; ++j) {
                CHECK(same_bits(values[i * n + j], wanted[i * n + j]));
                CHECK(same_bits(values[i * n + j], values[j * n + i]));
            }
        }
    }
}

}  // namespace

TEST(local_alignments_are_the_same_everywhere) {
    const Strings strings(25, 1);
    for (const double beta : {0.2, 1.0, 10.0}) {
        for (const bool is_normalized : {false, true}) {
            check_bits([&](Isa isa) {
                return std::make_unique<LocalAlignmentSpace>(strings.store(), kernel, beta,
                                                             WideForm{is_normalized, true, isa});
            });
        }
    }
}

TEST(best_alignments_are_the_same_everywhere_and_within_their_bounds) {
    const Strings strings(25, 2);
    AlignmentKernel fractions = kernel;
    for (double& score : fractions.scores) score *= 0.37;
    for (const AlignmentKernel& scores : {kernel, fractions}) {
        for (const bool has_gaps : {false, true}) {
            const auto make = [&](Isa isa) {
                return std::make_unique<BestAlignmentSpace>(strings.store(), scores, has_gaps, isa);
            };
            check_bits(make);
            const auto space = make(Isa::baseline);
            const auto values = all_values(*space);
            std::vector<double> bounds(values.size());
            space->bounds()->bound_values(*space->batch(0, 25), Selection::range(0, 25),
                                          bounds.data(), 25);
            for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] <= bounds[i]);
        }
    }
}

TEST(global_alignments_are_the_same_everywhere) {
    Draw draw(3);
    std::vector<double> values;
    std::vector<std::int64_t> offsets{0};
    for (std::size_t i = 0; i < 20; ++i) {
        const std::size_t length = 1 + (i * i * 7) % 30;
        for (std::size_t at = 0; at < 2 * length; ++at) values.push_back(draw.unit() * 4.0);
        offsets.push_back(offsets.back() + static_cast<std::int64_t>(length));
    }
    const auto store =
        std::make_shared<SeriesStore>(values.data(), values.size(), offsets.data(), 20, 2);
    for (const double bandwidth : {0.01, 1.0}) {
        for (const std::size_t triangular : {0u, 1u, 2u, 5u, 100u}) {
            for (const bool is_normalized : {false, true}) {
                check_bits([&](Isa isa) {
                    return std::make_unique<GlobalAlignmentSpace>(
                        store, bandwidth, triangular, WideForm{is_normalized, true, isa});
                });
            }
        }
    }
}

TEST(stores_refuse_what_they_would_read_outside) {
    const std::uint8_t letters[] = {0, 1, 2};
    const double numbers[] = {0.0, 1.0, 2.0};
    const std::int64_t falling[] = {0, 2, 1, 3}, short_of[] = {0, 2}, right[] = {0, 1, 3};
    CHECK_THROWS(std::invalid_argument, ResidueStore(letters, 3, falling, 3));
    CHECK_THROWS(std::invalid_argument, ResidueStore(letters, 3, short_of, 1));
    CHECK_THROWS(std::invalid_argument, SeriesStore(numbers, 3, falling, 3, 1));
    CHECK_THROWS(std::invalid_argument, SeriesStore(numbers, 3, right, 2, 2));
    const auto store = std::make_shared<ResidueStore>(letters, 3, right, 2);
    const AlignmentKernel two{{1, 0, 0, 1}, 2, 1.0, 1.0};
    CHECK_THROWS(std::invalid_argument, LocalAlignmentSpace(store, two, 1.0, {}));
    CHECK_THROWS(std::invalid_argument, BestAlignmentSpace(store, two, true, Isa::baseline));
    CHECK_THROWS(std::invalid_argument, LocalAlignmentSpace(store, kernel, 20.0, {}));
}
