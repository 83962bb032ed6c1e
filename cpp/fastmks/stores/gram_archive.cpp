// Tables of grams to arrays and back. The lengths of their levels, and how many keys each could
// have, follow from the rule and the letters.

#include <algorithm>
#include <stdexcept>

#include "fastmks/core/archive.hpp"
#include "fastmks/stores/grams.hpp"

namespace fastmks {
namespace {

std::string level_name(std::size_t level) {
    return "level" + std::to_string(level);
}

std::vector<Letter> read_letters(const GramRule& rule, const ArrayReader& reader) {
    Array<Letter> letters;
    reader("letters", letters);
    const bool is_right = letters.size() >= rule.alphabet.size() &&
                          std::equal(rule.alphabet.begin(), rule.alphabet.end(), letters.begin());
    check_array(is_right, "letters", "they must begin with the alphabet");
    check_array(letters.size() <= 0x110000, "letters", "there are too many");
    return {letters.begin(), letters.end()};
}

}  // namespace

Arrays GramTable::arrays() const {
    ArrayWriter writer;
    writer.numbers("letters", alphabet_.letters());
    if (rule_.mismatches > 0) {
        neighbours_.describe("neighbours", writer);
        return writer.take();
    }
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        levels_[level].grams.describe(level_name(level), writer);
    }
    return writer.take();
}

GramTable::GramTable(GramRule rule, const Arrays& arrays)
    : rule_(std::move(rule)),
      alphabet_(read_letters(rule_, ArrayReader(arrays))),
      radix_(std::max<Key>(1, alphabet_.size())) {
    if (rule_.length == 0) throw std::invalid_argument("grams have at least one letter");
    const ArrayReader reader(arrays);
    std::size_t length = longest_number();
    if (rule_.mismatches > 0) {
        set_powers();
        levels_.push_back({length, {}});
        neighbours_ = Vocabulary("neighbours", powers_[0] * radix_, reader);
        return;
    }
    for (;; length = length > rule_.length / 2 ? rule_.length : 2 * length) {
        const Key space = next_space(length);
        levels_.push_back({length, Vocabulary(level_name(levels_.size()), space, reader)});
        if (length == rule_.length) return;
    }
}

}  // namespace fastmks
