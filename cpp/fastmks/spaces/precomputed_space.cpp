#include "fastmks/spaces/precomputed_space.hpp"

#include <cmath>
#include <stdexcept>

#include "fastmks/core/faults.hpp"

namespace fastmks {
namespace {

struct PrecomputedBatch final : QueryBatch {
    PrecomputedBatch(const ValueTable& table_, const std::int64_t* places_, std::size_t begin_,
                     std::size_t end_)
        : QueryBatch(begin_, end_), table(table_), places(places_) {}
    ValueTable table;
    const std::int64_t* places;
};

}  // namespace

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

std::unique_ptr<QueryBatch> PrecomputedSpace::batch(std::size_t begin, std::size_t end) const {
    return std::make_unique<PrecomputedBatch>(table_, places_.data(), begin, end);
}

void PrecomputedSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                                std::size_t stride) const {
    if (!has_columns_) throw std::logic_error("queries have no columns");
    const auto& batch = static_cast<const PrecomputedBatch&>(queries);
    for (std::size_t i = 0; i < batch.size; ++i) {
        const auto place = static_cast<std::size_t>(batch.places[batch.begin + i]);
        const double* row = batch.table.data + place * batch.table.stride;
        for (std::size_t j = 0; j < objects.size; ++j) {
            out[i * stride + j] = row[places_[objects[j]]];
        }
    }
}

}  // namespace fastmks
