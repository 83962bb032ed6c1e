#include "fastmks/stores/grams.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "fastmks/core/pulse.hpp"
#include "fastmks/stores/gram_rows.hpp"

namespace fastmks {
namespace {

constexpr Letter largest_letter = 0x10FFFF;
constexpr Key most_numbers = Key{1} << 63;
constexpr std::size_t letters_per_task = std::size_t{1} << 17;  // about a millisecond
constexpr std::size_t keys_per_task = 1024;

// Sequences cut into tasks of about equal work: task t has those from begins[t] to begins[t + 1].
std::vector<std::size_t> task_begins(const Sequences& sequences) {
    std::vector<std::size_t> begins{0};
    std::size_t letters = 0;
    for (std::size_t s = 0; s < sequences.size; ++s) {
        letters += sequences.length(s) + 1;
        if (letters >= letters_per_task) {
            begins.push_back(s + 1);
            letters = 0;
        }
    }
    if (begins.back() != sequences.size) begins.push_back(sequences.size);
    return begins;
}

// Calls run(task, begin, end) for each task.
template <class Run>
void for_each_task(const Sequences& sequences, const Labour& labour, Run run) {
    const std::vector<std::size_t> begins = task_begins(sequences);
    parallel_for(begins.size() - 1, labour.threads, labour.watch,
                 [&](std::size_t task, Worker& worker) {
                     run(task, begins[task], begins[task + 1]);
                     worker.advance(1);
                 });
}

}  // namespace

Alphabet::Alphabet(const std::vector<Letter>& given, const Sequences& sequences) : letters_(given) {
    Letter largest = sequences.narrow ? 255 : 0;
    for (const Letter letter : given) largest = std::max(largest, letter);
    for (std::size_t i = 0; !sequences.narrow && i < sequences.n_letters(); ++i) {
        largest = std::max(largest, sequences.wide[i]);
    }
    if (largest > largest_letter) throw std::invalid_argument("no such letter in Unicode");
    constexpr std::int32_t seen = -2;
    codes_.resize(std::size_t{largest} + 1, -1);
    for (std::size_t i = 0; i < sequences.n_letters(); ++i) {
        codes_[sequences.narrow ? sequences.narrow[i] : sequences.wide[i]] = seen;
    }
    for (std::size_t code = 0; code < given.size(); ++code) {
        codes_[given[code]] = static_cast<std::int32_t>(code);
    }
    for (Letter letter = 0; letter < codes_.size(); ++letter) {
        if (codes_[letter] != seen) continue;
        codes_[letter] = static_cast<std::int32_t>(letters_.size());
        letters_.push_back(letter);
    }
}

Alphabet::Alphabet(std::vector<Letter> letters) : letters_(std::move(letters)) {
    Letter largest = 0;
    for (const Letter letter : letters_) largest = std::max(largest, letter);
    if (largest > largest_letter) throw std::invalid_argument("no such letter in Unicode");
    codes_.resize(std::size_t{largest} + 1, -1);
    for (std::size_t code = 0; code < letters_.size(); ++code) {
        codes_[letters_[code]] = static_cast<std::int32_t>(code);
    }
}

void Alphabet::encode(const Sequences& sequences, std::size_t s,
                      std::vector<std::int32_t>& codes) const {
    const std::size_t begin = sequences.begin(s), length = sequences.length(s);
    codes.resize(length);
    for (std::size_t i = 0; i < length; ++i) {
        codes[i] = code(sequences.narrow ? sequences.narrow[begin + i] : sequences.wide[begin + i]);
    }
}

GramTable::GramTable(GramRule rule, const Sequences& sequences, const Labour& labour)
    : rule_(std::move(rule)),
      alphabet_(rule_.alphabet, sequences),
      radix_(std::max<Key>(1, alphabet_.size())) {
    const std::vector<std::size_t> begins = task_begins(sequences);
    std::vector<std::int32_t> names;
    for (std::size_t length = longest_number();; length = std::min(rule_.length, 2 * length)) {
        const Key space = next_space(length);
        const std::size_t level = levels_.size();
        levels_.push_back({length, {}});
        const auto read = [&](std::size_t task, std::vector<Key>& keys) {
            for (std::size_t s = begins[task]; s < begins[task + 1]; ++s) {
                read_keys(level, sequences, names, s, keys);
            }
        };
        levels_[level].grams =
            Vocabulary({space, sequences.n_letters(), begins.size() - 1, read}, labour);
        if (length == rule_.length) break;
        name(level, sequences, names, labour);
    }
    if (rule_.mismatches > 0) find_neighbours(labour);
}

std::size_t GramTable::n_columns() const noexcept {
    return rule_.mismatches > 0 ? neighbours_.size() : levels_.back().grams.size();
}

// The longest grams, up to the rule's, that are numbers below 2^63 in the radix.
std::size_t GramTable::longest_number() const {
    std::size_t length = 0;
    for (Key space = 1; length < rule_.length && space <= most_numbers / radix_; ++length) {
        if (radix_ == 1) return rule_.length;
        space *= radix_;
    }
    if (rule_.mismatches > 0 && length < rule_.length) {
        throw std::length_error("the possible grams are more than 2**63");
    }
    return length;
}

// How many keys the next level could have.
Key GramTable::next_space(std::size_t length) const {
    if (!levels_.empty()) return static_cast<Key>(levels_.back().grams.size()) << 32;
    Key space = 1;
    for (std::size_t i = 0; radix_ > 1 && i < length; ++i) space *= radix_;
    return space;
}

// The keys of all grams of a level in a sequence, after those found before.
void GramTable::read_keys(std::size_t level, const Sequences& sequences,
                          const std::vector<std::int32_t>& names, std::size_t s,
                          std::vector<Key>& keys) const {
    if (level == 0) return read_numbers(sequences, s, keys);
    const std::size_t length = levels_[level].length;
    if (sequences.length(s) < length) return;
    const std::size_t shift = length - levels_[level - 1].length;
    const std::int32_t* const first = names.data() + sequences.begin(s);
    for (std::size_t i = 0; i + length <= sequences.length(s); ++i) {
        const bool is_known = first[i] >= 0 && first[i + shift] >= 0;
        keys.push_back(is_known
                           ? static_cast<Key>(first[i]) << 32 | static_cast<Key>(first[i + shift])
                           : no_key);
    }
}

void GramTable::read_numbers(const Sequences& sequences, std::size_t s,
                             std::vector<Key>& keys) const {
    const std::size_t length = levels_[0].length;
    if (sequences.length(s) < length) return;
    std::vector<std::int32_t> codes;
    alphabet_.encode(sequences, s, codes);
    Key highest = 1;  // the worth of a gram's first letter
    for (std::size_t i = 1; radix_ > 1 && i < length; ++i) highest *= radix_;
    Key number = 0;
    std::size_t n_known = 0;  // letters in a row that have codes
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (i >= length) number -= static_cast<Key>(std::max(0, codes[i - length])) * highest;
        number = number * radix_ + static_cast<Key>(std::max(0, codes[i]));
        n_known = codes[i] < 0 ? 0 : n_known + 1;
        if (i + 1 >= length) keys.push_back(n_known >= length ? number : no_key);
    }
}

// Puts the name of the gram that begins at each letter there, in place of the level below's.
void GramTable::name(std::size_t level, const Sequences& sequences,
                     std::vector<std::int32_t>& names, const Labour& labour) const {
    names.resize(sequences.n_letters(), -1);
    for_each_task(sequences, labour, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<Key> keys;
        for (std::size_t s = begin; s < end; ++s) {
            keys.clear();
            read_keys(level, sequences, names, s, keys);
            for (std::size_t i = 0; i < keys.size(); ++i) {
                pulse_sometimes();
                names[sequences.begin(s) + i] = levels_[level].grams.find(keys[i]);
            }
        }
    });
}

std::vector<std::int32_t> GramTable::named(const Sequences& sequences, std::size_t n_levels,
                                           const Labour& labour) const {
    std::vector<std::int32_t> names;
    for (std::size_t level = 0; level < n_levels; ++level) name(level, sequences, names, labour);
    return names;
}

// With one letter nothing can be changed, and grams may be long.
void GramTable::set_powers() {
    powers_.resize(radix_ > 1 ? rule_.length : 1, 1);
    for (std::size_t i = powers_.size() - 1; i > 0; --i) powers_[i - 1] = powers_[i] * radix_;
}

void GramTable::find_neighbours(const Labour& labour) {
    set_powers();
    const std::vector<Key> grams = levels_[0].grams.keys();
    std::size_t n_neighbours = 0;
    if (!grams.empty()) for_each_neighbour(grams[0], [&](Key) { ++n_neighbours; });
    const auto read = [&](std::size_t task, std::vector<Key>& keys) {
        const std::size_t end = std::min(grams.size(), (task + 1) * keys_per_task);
        for (std::size_t i = task * keys_per_task; i < end; ++i) {
            for_each_neighbour(grams[i], [&](Key key) { keys.push_back(key); });
        }
    };
    const std::size_t n_tasks = (grams.size() + keys_per_task - 1) / keys_per_task;
    levels_[0].grams = {};  // only the neighbours are looked up
    neighbours_ =
        Vocabulary({powers_[0] * radix_, grams.size() * n_neighbours, n_tasks, read}, labour);
}

std::vector<Key> GramTable::digits_of(Key key) const {
    std::vector<Key> digits(rule_.length);
    for (std::size_t i = rule_.length; i-- > 0; key /= radix_) digits[i] = key % radix_;
    return digits;
}

// Calls visit(key) once for each gram that the rule counts a gram at.
template <class Visit>
void GramTable::for_each_neighbour(Key key, Visit visit) const {
    const std::vector<Key> digits = digits_of(key);
    visit(key);
    change(digits, key, 0, rule_.mismatches, visit);
}

// Visits the keys with some letters changed from a place on; the letters of the alphabet have the
// first codes.
template <class Visit>
void GramTable::change(const std::vector<Key>& digits, Key key, std::size_t from, std::size_t left,
                       Visit& visit) const {
    for (std::size_t i = from; i < digits.size(); ++i) {
        pulse_sometimes();
        for (Key code = 0; code < rule_.alphabet.size(); ++code) {
            if (code == digits[i]) continue;
            const Key changed = key + (code - digits[i]) * powers_[i];  // modulo 2^64
            visit(changed);
            if (left > 1) change(digits, changed, i + 1, left - 1, visit);
        }
    }
}

// The name here of the gram that is a number of another table, or -1.
std::int32_t GramTable::find_number_of(const GramTable& own, Key key) const {
    Key here = 0;
    for (const Key digit : own.digits_of(key)) {
        const std::int32_t code = alphabet_.code(own.alphabet_.letter(digit));
        if (code < 0) return -1;
        here = here * radix_ + static_cast<Key>(code);
    }
    return neighbours_.find(here);
}

// The column of each gram of another table: the one it has here, or one after all columns.
std::vector<std::int32_t> GramTable::columns_of(const GramTable& own, const Sequences& others,
                                                const Labour& labour) const {
    std::vector<std::int32_t> columns(own.n_columns(), -1);
    if (rule_.mismatches > 0) {
        const std::vector<Key> keys = own.neighbours_.keys();
        for (std::size_t i = 0; i < keys.size(); ++i) columns[i] = find_number_of(own, keys[i]);
    } else {
        const std::vector<std::int32_t> here = named(others, levels_.size(), labour);
        const std::vector<std::int32_t> there = own.named(others, own.levels_.size(), labour);
        for (std::size_t s = 0; s < others.size; ++s) {
            const std::size_t begin = others.begin(s);
            for (std::size_t i = 0; i + rule_.length <= others.length(s); ++i) {
                columns[static_cast<std::size_t>(there[begin + i])] = here[begin + i];
            }
        }
    }
    std::size_t next = n_columns();
    for (std::int32_t& column : columns) {
        if (column < 0) column = static_cast<std::int32_t>(next++);
    }
    if (next > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw std::length_error("more than 2**31 - 1 different grams");
    }
    return columns;
}

GramCounts GramTable::count(const Sequences& sequences, const Labour& labour) const {
    return count_in(sequences, {}, n_columns(), labour);
}

GramCounts GramTable::count_others(const Sequences& others, const Labour& labour) const {
    const GramTable own(rule_, others, labour);
    const std::vector<std::int32_t> columns = columns_of(own, others, labour);
    std::size_t end = n_columns();
    for (const std::int32_t column : columns) {
        end = std::max(end, static_cast<std::size_t>(column) + 1);
    }
    return own.count_in(others, columns, end, labour);
}

// Adds what the grams of one sequence count; `columns` renames the columns where it is not empty.
template <class Row>
void GramTable::count_row(std::vector<Key>& keys, const std::vector<std::int32_t>& columns,
                          Row& row) const {
    const auto column_of = [&](std::int32_t name) {
        return columns.empty() ? name : columns[static_cast<std::size_t>(name)];
    };
    if (rule_.mismatches == 0) {
        for (const Key key : keys) {
            pulse_sometimes();
            row.add(column_of(levels_.back().grams.find(key)), 1);
        }
        return;
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 0; i < keys.size();) {
        const std::size_t begin = i;
        while (i < keys.size() && keys[i] == keys[begin]) ++i;
        const auto count = static_cast<std::uint32_t>(i - begin);
        for_each_neighbour(keys[begin],
                           [&](Key key) { row.add(column_of(neighbours_.find(key)), count); });
    }
}

GramCounts GramTable::count_in(const Sequences& sequences, const std::vector<std::int32_t>& columns,
                               std::size_t n_columns, const Labour& labour) const {
    const std::size_t last = levels_.size() - 1;
    const std::vector<std::int32_t> names = named(sequences, last, labour);
    std::vector<RowPart> parts(task_begins(sequences).size() - 1);
    for_each_task(sequences, labour, [&](std::size_t task, std::size_t begin, std::size_t end) {
        RowCounter row(n_columns);
        std::vector<Key> keys;
        for (std::size_t s = begin; s < end; ++s) {
            keys.clear();
            read_keys(last, sequences, names, s, keys);
            count_row(keys, columns, row);
            parts[task].take(row);
        }
    });
    return join(parts, sequences.size, n_columns);
}

}  // namespace fastmks
