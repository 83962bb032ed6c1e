#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fastmks/core/archive.hpp"
#include "fastmks/core/array.hpp"
#include "fastmks/core/parallel.hpp"

namespace fastmks {

using Key = std::uint64_t;

/// Never a key: stands for the absence of one.
inline constexpr Key no_key = ~Key{0};

/// Where the keys of a vocabulary come from, in tasks that may run at once and more than once.
struct KeySource {
    Key space;           ///< every key is less than this
    std::size_t n_keys;  ///< at most this many come, repeated ones counted
    std::size_t n_tasks;
    /// Puts the keys of a task into an empty vector; `no_key` among them is skipped.
    std::function<void(std::size_t task, std::vector<Key>& keys)> read;
};

/// How a long count runs: on this many threads, asking `watch` now and then.
struct Labour {
    std::size_t threads;
    const Watch& watch;
};

/// A set of keys, each with a name from 0 to size() - 1 that depends on the set alone. One bit per
/// possible key where these are few for the keys that come, else the keys themselves, sorted.
/// Immutable once built.
class Vocabulary {
public:
    Vocabulary() = default;
    /// Throws std::length_error beyond 2^31 - 1 different keys.
    Vocabulary(const KeySource& source, const Labour& labour);
    /// The vocabulary of keys less than `space` with these parts, whose names begin with `name`.
    /// Throws std::invalid_argument for parts that are no vocabulary.
    Vocabulary(const std::string& name, Key space, const ArrayReader& reader);
    /// Adds its parts, which last as long as it does.
    void describe(const std::string& name, ArrayWriter& writer) const;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// The name of a key, or -1.
    [[nodiscard]] std::int32_t find(Key key) const noexcept;

    /// The keys in the order of their names.
    [[nodiscard]] std::vector<Key> keys() const;

private:
    template <class Self, class Visit>
    static void describe(const std::string& name, Self& self, Visit& visit);
    void check_marks(const std::string& name);
    void check_buckets(const std::string& name);
    void choose_buckets() noexcept;
    [[nodiscard]] std::size_t n_buckets() const noexcept;
    void mark(const KeySource& source, const Labour& labour);
    void sort(const KeySource& source, const Labour& labour);
    void index_buckets();

    std::size_t size_ = 0;
    Key space_ = 0;
    bool is_marked_ = false;
    // One bit per possible key, and the bits set before each word.
    Array<std::uint64_t> bits_;
    Array<std::uint32_t> ranks_;
    // Keys scrambled (one to one) so that they spread evenly, sorted; the first of each bucket.
    Array<Key> scrambled_;
    Array<std::uint32_t> buckets_;
    unsigned bucket_shift_ = 0;
};

}  // namespace fastmks
