#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/stores/vocabulary.hpp"

namespace fastmks {

using Letter = std::uint32_t;  // a byte, or a code point

/// Sequences of letters, end to end, in memory of the caller.
struct Sequences {
    const std::uint8_t* narrow;  ///< the letters where all are less than 256, else null
    const Letter* wide;          ///< the letters otherwise
    const std::int64_t* offsets;
    std::size_t size;

    [[nodiscard]] std::size_t begin(std::size_t s) const noexcept {
        return static_cast<std::size_t>(offsets[s]);
    }
    [[nodiscard]] std::size_t length(std::size_t s) const noexcept {
        return static_cast<std::size_t>(offsets[s + 1] - offsets[s]);
    }
    [[nodiscard]] std::size_t n_letters() const noexcept {
        return static_cast<std::size_t>(offsets[size]);
    }
};

/// The letters of some sequences, and codes 0 ... size() - 1 for them; letters given come first.
class Alphabet {
public:
    Alphabet() = default;
    /// Throws std::invalid_argument at a letter beyond Unicode.
    Alphabet(const std::vector<Letter>& given, const Sequences& sequences);
    /// Letters in the order of their codes; throws the same.
    explicit Alphabet(std::vector<Letter> letters);

    [[nodiscard]] std::size_t size() const noexcept { return letters_.size(); }
    [[nodiscard]] const std::vector<Letter>& letters() const noexcept { return letters_; }
    [[nodiscard]] Letter letter(std::size_t code) const noexcept { return letters_[code]; }
    /// The code of a letter, or -1.
    [[nodiscard]] std::int32_t code(Letter letter) const noexcept {
        return letter < codes_.size() ? codes_[letter] : -1;
    }
    /// The codes of a sequence.
    void encode(const Sequences& sequences, std::size_t s, std::vector<std::int32_t>& codes) const;

private:
    std::vector<std::int32_t> codes_;  // by letter
    std::vector<Letter> letters_;      // by code
};

/// The runs that are counted: of `length` letters, each at every run of that length that differs in
/// at most `mismatches` places, there by letters of `alphabet`.
struct GramRule {
    std::size_t length;
    std::size_t mismatches = 0;
    std::vector<Letter> alphabet{};
};

/// Counts as compressed sparse rows, in float32 where it holds them all.
struct GramCounts {
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    std::unique_ptr<std::int64_t[]> offsets;
    std::unique_ptr<std::int32_t[]> columns;
    std::unique_ptr<float[]> floats;    ///< the counts, or null
    std::unique_ptr<double[]> doubles;  ///< the counts where some exceed 2^24, else null
    /// The first row whose inner product with itself exceeds 2^53, so that float64 may not hold
    /// it; n_rows where none does.
    std::size_t first_too_large = 0;
};

/// The grams of some sequences, each with a column. Grams are told apart exactly, whatever their
/// length and letters. A gram is a number with its letters as digits where 64 bits hold it;
/// longer ones are pairs of shorter ones that overlap, each by its name among those that occur.
class GramTable {
public:
    /// Throws std::length_error where mismatches are allowed and 64 bits do not hold the grams.
    GramTable(GramRule rule, const Sequences& sequences, const Labour& labour);
    /// The table of a rule with these parts. Throws std::invalid_argument for what is no such
    /// table.
    GramTable(GramRule rule, const Arrays& arrays);

    /// The parts of this, for as long as it lasts.
    [[nodiscard]] Arrays arrays() const;

    [[nodiscard]] std::size_t n_columns() const noexcept;

    /// The counts of the sequences that the table was built from, and of no others.
    [[nodiscard]] GramCounts count(const Sequences& sequences, const Labour& labour) const;

    /// The counts of other sequences in the columns of this table, and after them where it does
    /// not have their grams: the same column for the same gram.
    [[nodiscard]] GramCounts count_others(const Sequences& others, const Labour& labour) const;

private:
    struct Level {
        std::size_t length;
        Vocabulary grams;
    };

    [[nodiscard]] std::size_t longest_number() const;
    [[nodiscard]] Key next_space(std::size_t length) const;
    void read_keys(std::size_t level, const Sequences& sequences,
                   const std::vector<std::int32_t>& names, std::size_t s,
                   std::vector<Key>& keys) const;
    void read_numbers(const Sequences& sequences, std::size_t s, std::vector<Key>& keys) const;
    void name(std::size_t level, const Sequences& sequences, std::vector<std::int32_t>& names,
              const Labour& labour) const;
    [[nodiscard]] std::vector<std::int32_t> named(const Sequences& sequences, std::size_t n_levels,
                                                  const Labour& labour) const;
    void set_powers();
    void find_neighbours(const Labour& labour);
    template <class Visit>
    void for_each_neighbour(Key key, Visit visit) const;
    template <class Visit>
    void change(const std::vector<Key>& digits, Key key, std::size_t from, std::size_t left,
                Visit& visit) const;
    [[nodiscard]] std::vector<Key> digits_of(Key key) const;
    [[nodiscard]] std::vector<std::int32_t> columns_of(const GramTable& own,
                                                       const Sequences& others,
                                                       const Labour& labour) const;
    [[nodiscard]] std::int32_t find_number_of(const GramTable& own, Key key) const;

    template <class Row>
    void count_row(std::vector<Key>& keys, const std::vector<std::int32_t>& columns,
                   Row& row) const;
    [[nodiscard]] GramCounts count_in(const Sequences& sequences,
                                      const std::vector<std::int32_t>& columns,
                                      std::size_t n_columns, const Labour& labour) const;

    GramRule rule_;
    Alphabet alphabet_;
    Key radix_;
    std::vector<Level> levels_;  // from the longest number to grams of the rule's length
    std::vector<Key> powers_;    // of the radix, for each place of a number
    Vocabulary neighbours_;      // of all grams, where mismatches are allowed
};

}  // namespace fastmks
