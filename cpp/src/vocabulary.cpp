#include "fastmks/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <stdexcept>

namespace fastmks {
namespace {

// Sorting takes 64 bits per key; one bit per possible key is cheaper up to about this many.
constexpr Key most_bits_per_key = 32;
constexpr Key few_bits = Key{1} << 16;
constexpr std::size_t most_names = (std::size_t{1} << 31) - 1;
constexpr unsigned part_bits = 8;  // keys are sorted in 2^8 parts, by their first bits
constexpr std::size_t n_parts = std::size_t{1} << part_bits;

constexpr Key factor = 0x9E3779B97F4A7C15;  // odd, so that products with it can be undone

// Newton's iteration doubles the right bits of an inverse modulo 2^64, starting from three.
constexpr Key inverse_of(Key odd) {
    Key inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    return inverse;
}

constexpr Key fold(Key key) {
    return key ^ (key >> 32);  // its own inverse
}

constexpr Key scramble(Key key) {
    return fold(fold(key) * factor);
}

constexpr Key unscramble(Key scrambled) {
    return fold(fold(scrambled) * inverse_of(factor));
}

static_assert(unscramble(scramble(0x0123456789ABCDEF)) == 0x0123456789ABCDEF);

void check_size(std::size_t size) {
    if (size > most_names) throw std::length_error("more than 2**31 - 1 different keys");
}

// Calls use(keys) for the keys of every task, several at once.
template <class Use>
void read_all(const KeySource& source, const Labour& labour, Use use) {
    parallel_for(source.n_tasks, labour.threads, labour.watch,
                 [&](std::size_t task, Worker& worker) {
                     std::vector<Key> keys;
                     source.read(task, keys);
                     use(keys);
                     worker.advance(1);
                 });
}

}  // namespace

Vocabulary::Vocabulary(const KeySource& source, const Labour& labour) : space_(source.space) {
    is_marked_ = space_ <= few_bits || space_ / most_bits_per_key <= source.n_keys;
    if (is_marked_) {
        mark(source, labour);
    } else {
        sort(source, labour);
        index_buckets();
    }
}

void Vocabulary::mark(const KeySource& source, const Labour& labour) {
    bits_.resize(static_cast<std::size_t>(space_ / 64 + 1));
    read_all(source, labour, [&](const std::vector<Key>& keys) {
        for (const Key key : keys) {
            if (key == no_key) continue;
            const std::uint64_t bit = std::uint64_t{1} << (key % 64);
            const std::atomic_ref word(bits_[static_cast<std::size_t>(key / 64)]);
            // Most bits are set already, and reading does not take the word from other threads.
            if (!(word.load(std::memory_order_relaxed) & bit)) {
                word.fetch_or(bit, std::memory_order_relaxed);
            }
        }
    });
    ranks_.resize(bits_.size());
    for (std::size_t w = 0; w < bits_.size(); ++w) {
        ranks_[w] = static_cast<std::uint32_t>(size_);
        size_ += static_cast<std::size_t>(std::popcount(bits_[w]));
        check_size(size_);
    }
}

void Vocabulary::sort(const KeySource& source, const Labour& labour) {
    const auto part_of = [](Key key) { return static_cast<std::size_t>(key >> (64 - part_bits)); };
    std::array<std::atomic<std::size_t>, n_parts> counts{};
    read_all(source, labour, [&](const std::vector<Key>& keys) {
        std::array<std::size_t, n_parts> seen{};
        for (const Key key : keys) {
            if (key != no_key) ++seen[part_of(scramble(key))];
        }
        for (std::size_t p = 0; p < n_parts; ++p) counts[p] += seen[p];
    });
    std::array<std::size_t, n_parts + 1> begins{};
    for (std::size_t p = 0; p < n_parts; ++p) begins[p + 1] = begins[p] + counts[p];
    scrambled_.resize(begins[n_parts]);
    std::array<std::atomic<std::size_t>, n_parts> cursors{};
    for (std::size_t p = 0; p < n_parts; ++p) cursors[p] = begins[p];
    read_all(source, labour, [&](const std::vector<Key>& keys) {
        for (const Key key : keys) {
            if (key == no_key) continue;
            const Key scrambled = scramble(key);
            auto& cursor = cursors[part_of(scrambled)];
            scrambled_[cursor.fetch_add(1, std::memory_order_relaxed)] = scrambled;
        }
    });
    std::array<std::size_t, n_parts> sizes{};
    parallel_for(n_parts, labour.threads, labour.watch, [&](std::size_t p, Worker& worker) {
        Key* const begin = scrambled_.data() + begins[p];
        Key* const end = scrambled_.data() + begins[p + 1];
        std::sort(begin, end);
        sizes[p] = static_cast<std::size_t>(std::unique(begin, end) - begin);
        worker.advance(1);
    });
    for (std::size_t p = 0; p < n_parts; ++p) {
        Key* const begin = scrambled_.data() + begins[p];
        std::copy(begin, begin + sizes[p], scrambled_.data() + size_);
        size_ += sizes[p];
    }
    check_size(size_);
    scrambled_.resize(size_);
    scrambled_.shrink_to_fit();
}

// About two keys to a bucket: the keys are spread evenly by their scrambling.
void Vocabulary::index_buckets() {
    const unsigned bits = std::max(1U, static_cast<unsigned>(std::bit_width(size_ / 2)));
    bucket_shift_ = 64 - bits;
    buckets_.resize((std::size_t{1} << bits) + 1);
    std::size_t at = 0;
    for (std::size_t b = 0; b + 1 < buckets_.size(); ++b) {
        buckets_[b] = static_cast<std::uint32_t>(at);
        while (at < size_ && scrambled_[at] >> bucket_shift_ == b) ++at;
    }
    buckets_.back() = static_cast<std::uint32_t>(size_);
}

std::int32_t Vocabulary::find(Key key) const noexcept {
    if (key >= space_) return -1;
    if (is_marked_) {
        const auto w = static_cast<std::size_t>(key / 64);
        const std::uint64_t bit = std::uint64_t{1} << (key % 64);
        if (!(bits_[w] & bit)) return -1;
        return static_cast<std::int32_t>(ranks_[w]) + std::popcount(bits_[w] & (bit - 1));
    }
    const Key scrambled = scramble(key);
    const auto bucket = static_cast<std::size_t>(scrambled >> bucket_shift_);
    const Key* const begin = scrambled_.data() + buckets_[bucket];
    const Key* const end = scrambled_.data() + buckets_[bucket + 1];
    const Key* const found = std::lower_bound(begin, end, scrambled);
    if (found == end || *found != scrambled) return -1;
    return static_cast<std::int32_t>(found - scrambled_.data());
}

std::vector<Key> Vocabulary::keys() const {
    std::vector<Key> keys;
    keys.reserve(size_);
    for (const Key scrambled : scrambled_) keys.push_back(unscramble(scrambled));
    for (std::size_t w = 0; w < bits_.size(); ++w) {
        for (std::uint64_t rest = bits_[w]; rest != 0; rest &= rest - 1) {
            keys.push_back(Key{64} * w + static_cast<Key>(std::countr_zero(rest)));
        }
    }
    return keys;
}

}  // namespace fastmks
