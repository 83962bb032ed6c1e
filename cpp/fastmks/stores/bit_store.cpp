#include <algorithm>
#include <stdexcept>

#include "fastmks/stores/set_store.hpp"

namespace fastmks {
namespace {

constexpr std::size_t most_words = std::size_t{1} << 24;  // 2^30 bits

struct BitQueries final : SetQueries {
    BitQueries(std::size_t n_queries, std::size_t n_words)
        : SetQueries(n_queries), words(n_queries * n_words) {}
    std::vector<std::uint64_t> words;
};

class BitStore final : public SetStore {
public:
    BitStore(const std::uint64_t* words, std::size_t n_rows, std::size_t n_words)
        : words_(words), n_words_(n_words) {
        if (n_words == 0 || n_words % words_per_line != 0 || n_words >= most_words) {
            throw std::invalid_argument("rows of bits must be whole groups of eight words");
        }
        sizes_.resize(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::size_t w = 0; w < n_words; ++w) sizes_[i] += __builtin_popcountll(row(i)[w]);
        }
    }

    bool accepts(const SetStore& other) const noexcept override {
        const auto* bits = dynamic_cast<const BitStore*>(&other);
        return bits && bits->n_words_ == n_words_;
    }

    void signature(std::size_t i, std::uint64_t (&out)[longest_signature]) const override {
        std::fill(std::begin(out), std::end(out), 0);
        for (std::size_t w = 0; w < n_words_; ++w) out[w % longest_signature] ^= row(i)[w];
    }

    std::unique_ptr<SetQueries> queries(std::size_t begin, std::size_t end) const override {
        auto taken = std::make_unique<BitQueries>(end - begin, n_words_);
        std::copy(row(begin), row(end), taken->words.begin());
        return taken;
    }

    void refill(SetQueries& queries, std::size_t i) const override {
        std::copy(row(i), row(i + 1), static_cast<BitQueries&>(queries).words.begin());
    }

    void intersections(const SetQueries& queries, Selection objects, const BitLoops& loops,
                       double* out, std::size_t stride) const override {
        constexpr std::size_t largest_block = 256;
        const auto& taken = static_cast<const BitQueries&>(queries);
        const std::uint64_t* rows[largest_block];
        for (std::size_t first = 0; first < objects.size; first += largest_block) {
            const std::size_t n = std::min(largest_block, objects.size - first);
            for (std::size_t j = 0; j < n; ++j) {
                rows[j] = row(objects[first + j]);
                if (objects.positions) __builtin_prefetch(rows[j]);
            }
            loops.intersections(taken.words.data(), taken.size, rows, n, n_words_, out + first,
                                stride);
        }
    }

private:
    [[nodiscard]] const std::uint64_t* row(std::size_t i) const noexcept {
        return words_ + i * n_words_;
    }

    const std::uint64_t* words_;
    std::size_t n_words_;
};

}  // namespace

std::shared_ptr<SetStore> make_bit_store(const std::uint64_t* words, std::size_t n_rows,
                                         std::size_t n_words) {
    return std::make_shared<BitStore>(words, n_rows, n_words);
}

}  // namespace fastmks
