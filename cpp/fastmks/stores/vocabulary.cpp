#include "fastmks/stores/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <span>
#include <stdexcept>

namespace fastmks {
namespace {

// Sorting takes 64 bits per key; one bit per possible key costs less up to about this many.
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
    bits_ = Array<std::uint64_t>(static_cast<std::size_t>(space_ / 64 + 1));
    const std::span<std::uint64_t> bits = bits_.edit();
    read_all(source, labour, [&](const std::vector<Key>& keys) {
        for (const Key key : keys) {
            if (key == no_key) continue;
            const std::uint64_t bit = std::uint64_t{1} << (key % 64);
            const std::atomic_ref word(bits[static_cast<std::size_t>(key / 64)]);
            // Most bits are set already, and reading does not take the word from other threads.
            if (!(word.load(std::memory_order_relaxed) & bit)) {
                word.fetch_or(bit, std::memory_order_relaxed);
            }
        }
    });
    ranks_ = Array<std::uint32_t>(bits_.size());
    for (std::size_t w = 0; w < bits_.size(); ++w) {
        ranks_.edit()[w] = static_cast<std::uint32_t>(size_);
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
    std::vector<Key> sorted(begins[n_parts]);
    std::array<std::atomic<std::size_t>, n_parts> cursors{};
    for (std::size_t p = 0; p < n_parts; ++p) cursors[p] = begins[p];
    read_all(source, labour, [&](const std::vector<Key>& keys) {
        for (const Key key : keys) {
            if (key == no_key) continue;
            const Key scrambled = scramble(key);
            auto& cursor = cursors[part_of(scrambled)];
            sorted[cursor.fetch_add(1, std::memory_order_relaxed)] = scrambled;
        }
    });
    std::array<std::size_t, n_parts> sizes{};
    parallel_for(n_parts, labour.threads, labour.watch, [&](std::size_t p, Worker& worker) {
        Key* const begin = sorted.data() + begins[p];
        Key* const end = sorted.data() + begins[p + 1];
        std::sort(begin, end);
        sizes[p] = static_cast<std::size_t>(std::unique(begin, end) - begin);
        worker.advance(1);
    });
    for (std::size_t p = 0; p < n_parts; ++p) {
        Key* const begin = sorted.data() + begins[p];
        std::copy(begin, begin + sizes[p], sorted.data() + size_);
        size_ += sizes[p];
    }
    check_size(size_);
    sorted.resize(size_);
    sorted.shrink_to_fit();
    scrambled_ = Array(std::move(sorted));
}

// About two keys to a bucket: the keys are spread evenly by their scrambling.
void Vocabulary::choose_buckets() noexcept {
    bucket_shift_ = 64 - std::max(1U, static_cast<unsigned>(std::bit_width(size_ / 2)));
}

std::size_t Vocabulary::n_buckets() const noexcept {
    return std::size_t{1} << (64 - bucket_shift_);
}

void Vocabulary::index_buckets() {
    choose_buckets();
    buckets_ = Array<std::uint32_t>(n_buckets() + 1, static_cast<std::uint32_t>(size_));
    std::size_t at = 0;
    for (std::size_t b = 0; b < n_buckets(); ++b) {
        buckets_.edit()[b] = static_cast<std::uint32_t>(at);
        while (at < size_ && scrambled_[at] >> bucket_shift_ == b) ++at;
    }
}

template <class Self, class Visit>
void Vocabulary::describe(const std::string& name, Self& self, Visit& visit) {
    visit(name + "_bits", self.bits_);
    visit(name + "_ranks", self.ranks_);
    visit(name + "_keys", self.scrambled_);
    visit(name + "_buckets", self.buckets_);
}

void Vocabulary::describe(const std::string& name, ArrayWriter& writer) const {
    describe(name, *this, writer);
}

Vocabulary::Vocabulary(const std::string& name, Key space, const ArrayReader& reader)
    : space_(space) {
    describe(name, *this, reader);
    is_marked_ = !bits_.empty();
    if (is_marked_) {
        check_marks(name);
    } else {
        check_buckets(name);
    }
}

// A name is the number of bits set before a key's: names beyond all columns would be taken for
// columns.
void Vocabulary::check_marks(const std::string& name) {
    ArrayReader::check_size(name + "_bits", bits_.size(), space_ / 64 + 1);
    ArrayReader::check_size(name + "_ranks", ranks_.size(), bits_.size());
    for (std::size_t w = 0; w < bits_.size(); ++w) {
        if (ranks_[w] != size_) refuse_array(name + "_ranks", "they do not count the bits");
        size_ += static_cast<std::size_t>(std::popcount(bits_[w]));
        if (size_ > most_names) refuse_array(name + "_bits", "there are too many keys");
    }
    ArrayReader::check_size(name + "_keys", scrambled_.size(), 0);
}

// Keys out of order are not found, and so do no harm.
void Vocabulary::check_buckets(const std::string& name) {
    size_ = scrambled_.size();
    if (size_ > most_names) refuse_array(name + "_keys", "there are too many keys");
    choose_buckets();
    ArrayReader::check_size(name + "_buckets", buckets_.size(), n_buckets() + 1);
    bool is_right = buckets_.back() == size_;
    for (std::size_t b = 0; b < n_buckets(); ++b) is_right &= buckets_[b] <= buckets_[b + 1];
    if (!is_right) refuse_array(name + "_buckets", "they must rise to the number of keys");
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
