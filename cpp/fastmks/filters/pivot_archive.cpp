// Pivots and coordinates on their span to arrays and back, without a kernel value. The rows of a
// table are large and are not read here: a bound that is not a number bounds nothing.

#include <algorithm>

#include "fastmks/core/archive.hpp"
#include "fastmks/filters/pivot_projection.hpp"
#include "fastmks/filters/pivot_search.hpp"

namespace fastmks {

void PivotProjection::describe(ArrayWriter& writer) const {
    std::vector<double> axes;
    for (const double* row : axis_rows_) axes.insert(axes.end(), row, row + n_pivots());
    writer.matrix("pivot_axes", std::move(axes), n_pivots());
    writer.numbers("pivots", pivots_);
    writer.numbers("pivot_exponents", exponents_);
    writer.counts("pivot_counts", build_evaluations_);
    writer.figures("pivot_figures", amplification_, lost_amplification_, defect_, share_);
}

PivotProjection::PivotProjection(const Space& objects, const ArrayReader& reader)
    : space_(objects) {
    Array<double> axes;
    Array<std::int64_t> pivots;
    Array<std::int32_t> exponents;
    const std::size_t m = reader.matrix("pivot_axes", axes);
    reader("pivots", pivots);
    reader("pivot_exponents", exponents);
    reader.counts("pivot_counts", build_evaluations_);
    reader.figures("pivot_figures", amplification_, lost_amplification_, defect_, share_);
    ArrayReader::check_size("pivots", pivots.size(), m);
    ArrayReader::check_size("pivot_exponents", exponents.size(), m);
    for (const std::int32_t exponent : exponents) check_exponent("pivot_exponents", exponent);
    for (const double figure : {amplification_, lost_amplification_, defect_, share_}) {
        check_length("pivot_figures", figure);
    }
    check_finite("pivot_axes", axes);
    pivots_.assign(pivots.begin(), pivots.end());
    positions_ = pivots_;
    std::sort(positions_.begin(), positions_.end());
    for (std::size_t i = 0; i < m; ++i) {
        const std::int64_t before = i > 0 ? positions_[i - 1] : -1;
        check_array(positions_[i] > before && std::cmp_less(positions_[i], objects.size()),
                    "pivots", "they must be positions of objects, each once");
    }
    ArrayReader::check_size("pivot_axes", axes.size(), m * m);
    exponents_.assign(exponents.begin(), exponents.end());
    set_axes(m);
    for (std::size_t i = 0; i < m; ++i) {
        std::copy_n(axes.data() + i * m, m, axes_.data() + i * padded(m));
    }
}

template <class Self, class Visit>
void PivotTable::describe(Self& self, Visit& visit) {
    visit.counts("counts", self.exponent_);
    visit.figures("figures", self.norm_);
    visit("rows", self.rows_);
    visit("tails", self.tails_);
    visit("errors", self.errors_);
    visit("norms", self.norms_);
}

Arrays PivotTable::arrays() const {
    ArrayWriter writer;
    projection_->describe(writer);
    describe(*this, writer);
    return writer.take();
}

PivotTable::PivotTable(std::shared_ptr<const PivotProjection> projection, const ArrayReader& reader)
    : projection_(std::move(projection)), dimension_(projection_->dimension()) {
    describe(*this, reader);
    check();
    mark_pivots();
}

void PivotTable::check() const {
    const std::size_t n = projection_->objects().size();
    check_exponent("counts", exponent_);
    check_length("figures", norm_);
    ArrayReader::check_size("norms", norms_.size(), n);
    ArrayReader::check_size("tails", tails_.size(), n);
    ArrayReader::check_size("errors", errors_.size(), n);
    ArrayReader::check_size("rows", rows_.size(), n * dimension_);
    check_any_lengths("norms", norms_);
    check_any_lengths("tails", tails_);
    check_any_lengths("errors", errors_);
}

}  // namespace fastmks
