#include "fastmks/spaces/precomputed_space.hpp"

#include <cmath>
#include <stdexcept>

#include "fastmks/core/faults.hpp"

namespace fastmks {
PrecomputedSpace::PrecomputedSpace(ValueTable table, std::vector<std::int64_t> places,
                                   bool has_columns, std::vector<double> self_values,
                                   double relative, Isa isa)
    : Space({places.size(), isa, stated_rounding(relative)}),
      table_(table),
      places_(std::move(places)),
      has_columns_(has_columns),
      self_values_(std::move(self_values)),
      relative_(relative) {
    if (self_values_.size() != places_.size()) {
        throw std::invalid_argument("one self value per object");
    }
}

double PrecomputedSpace::self_value(std::size_t position) const {
    const double value = self_values_[position];
    if (std::isnan(value)) throw MissingSelfValue{position};
    return value;
}

// The stated error is a share of K(x, x): where the value is 0, so is K(x, x), and x itself.
bool PrecomputedSpace::is_zero(std::size_t position) const {
    return relative_ < 1.0 && self_values_[position] == 0.0;
}

bool PrecomputedSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const PrecomputedSpace*>(&queries);
    return other && has_columns_ && other->table_.n_columns == table_.n_columns;
}

void PrecomputedSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                                std::size_t stride) const {
    if (!has_columns_) throw std::logic_error("queries have no columns");
    const auto& asked = static_cast<const PrecomputedSpace&>(queries.space);
    for (std::size_t i = 0; i < queries.size; ++i) {
        const auto place = static_cast<std::size_t>(asked.places_[queries.begin + i]);
        const double* row = asked.table_.data + place * asked.table_.stride;
        for (std::size_t j = 0; j < objects.size; ++j) {
            out[i * stride + j] = row[places_[objects[j]]];
        }
    }
}

}  // namespace fastmks
