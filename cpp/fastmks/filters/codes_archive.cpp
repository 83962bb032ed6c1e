// Code tables to arrays and back. All sizes follow from the objects and the axes. Codes may be
// anything, and bounds that are not numbers keep what they bound; but every object must be in some
// leaf, and what becomes whole numbers in a search must be finite.

#include <limits>
#include <stdexcept>

#include "fastmks/core/archive.hpp"
#include "fastmks/filters/codes.hpp"

namespace fastmks {
namespace {

constexpr std::size_t most_axes = std::size_t{1} << 16;  // sums of codes stay in 32 bits

template <class Boxes, class Visit>
void describe_boxes(const std::string& name, Boxes& boxes, Visit& visit) {
    visit(name + "_centres", boxes.centres);
    visit(name + "_halves", boxes.halves);
    visit(name + "_radii", boxes.radii);
    visit(name + "_lengths", boxes.lengths);
    visit(name + "_greatest_tails", boxes.greatest_tails);
    visit(name + "_least_tails", boxes.least_tails);
}

void check_numbers(const std::string& name, const Array<float>& numbers, std::size_t size) {
    ArrayReader::check_size(name, numbers.size(), size);
    check_finite(name, numbers);
}

bool is_finite(const Leaf& leaf) {
    bool is_right = true;
    for (const float x : {leaf.scale, leaf.code_norm, leaf.code_error, leaf.radius, leaf.length,
                          leaf.tail, leaf.error}) {
        is_right &= std::abs(x) <= std::numeric_limits<float>::max();
    }
    return is_right;
}

}  // namespace

// The parts of a projection.
struct AxisProjection::Parts {
    Array<double> axes;
    Array<double> origin;
    std::size_t n_axes;
    std::size_t n_columns;

    Parts(const Space& objects, const ArrayReader& reader) {
        n_columns = reader.matrix("axes", axes);
        n_axes = n_columns > 0 ? axes.size() / n_columns : 0;
        reader("origin", origin);
        const ScoreMap* const scores = objects.scores();
        check_array(scores && n_columns == scores->vectors->n_columns(), "axes",
                    "they must be as long as the objects");
        check_array(n_axes > 0 && n_axes <= most_axes, "axes", "there are too few or too many");
        check_finite("origin", origin);
    }
};

AxisProjection::AxisProjection(const Space& objects, const ArrayReader& reader)
    : AxisProjection(objects, Parts(objects, reader)) {}

// The axes are checked to be orthonormal again: the lengths of coordinates depend on it.
AxisProjection::AxisProjection(const Space& objects, const Parts& parts)
    : AxisProjection(objects.scores()->kind,
                     padded_rows(parts.axes.data(), parts.n_axes, parts.n_columns), parts.n_axes,
                     parts.n_columns, {parts.origin.begin(), parts.origin.end()}, objects.isa()) {}

void AxisProjection::describe(ArrayWriter& writer) const {
    std::vector<double> axes;
    axes.reserve(n_axes_ * n_columns_);
    for (const double* row : axis_rows_) axes.insert(axes.end(), row, row + n_columns_);
    writer.matrix("axes", std::move(axes), n_columns_);
    writer.numbers("origin", origin_);
}

void Boxes::check(const std::string& name, std::size_t n_groups) const {
    check_numbers(name + "_centres", centres, n_groups * dimension * group_size);
    check_numbers(name + "_halves", halves, n_groups * dimension * group_size);
    check_numbers(name + "_radii", radii, n_groups * group_size);
    check_numbers(name + "_lengths", lengths, n_groups * group_size);
    check_numbers(name + "_greatest_tails", greatest_tails, n_groups * group_size);
    check_numbers(name + "_least_tails", least_tails, n_groups * group_size);
}

template <class Self, class Visit>
void CodeTable::describe(Self& self, Visit& visit) {
    visit.counts("counts", self.exponent_, self.has_zeros_);
    visit.figures("figures", self.norm_);
    visit("leaves", self.leaves_);
    visit("positions", self.positions_);
    visit("codes", self.codes_);
    visit("tails", self.tails_);
    visit("extras", self.extras_);
    visit("whole_centres", self.whole_centres_);
    describe_boxes("boxes", self.boxes_, visit);
    describe_boxes("group_boxes", self.group_boxes_, visit);
}

Arrays CodeTable::arrays() const {
    const auto on_axes = axes();
    if (!on_axes) throw std::invalid_argument("only code tables on axes have arrays");
    ArrayWriter writer;
    on_axes->describe(writer);
    describe(*this, writer);
    return writer.take();
}

CodeTable::CodeTable(const Space& objects, const Arrays& arrays)
    : projection_(std::make_shared<AxisProjection>(objects, ArrayReader(arrays))),
      n_objects_(objects.size()),
      dimension_(projection_->dimension()),
      n_words_((dimension_ + bytes_per_word - 1) / bytes_per_word) {
    const ArrayReader reader(arrays);
    describe(*this, reader);
    boxes_.dimension = dimension_;
    group_boxes_.dimension = group_boxes_.radii.empty() ? 0 : dimension_;
    check();
}

void CodeTable::check() const {
    check_exponent("counts", exponent_);
    check_length("figures", norm_);
    check_array(n_objects_ > 0 && n_objects_ < no_object, "positions", "the objects are too many");
    ArrayReader::check_size("leaves", n_leaves(), (n_objects_ + leaf_size - 1) / leaf_size);
    for (const Leaf& leaf : leaves_) {
        check_array(is_finite(leaf), "leaves", "every number must be finite");
    }
    const std::size_t n_places = n_leaves() * leaf_size;
    ArrayReader::check_size("positions", positions_.size(), n_places);
    check_permutation("positions", positions_, n_objects_);
    for (std::size_t at = n_objects_; at < n_places; ++at) {
        check_array(positions_[at] == no_object, "positions", "an object is after the last one");
    }
    ArrayReader::check_size("codes", codes_.size(), first_line(n_leaves()) + lines_behind);
    const bool is_distance = projection_->is_distance();
    check_numbers("tails", tails_, n_places);
    check_numbers("extras", extras_, is_distance ? n_places : 0);
    check_numbers("whole_centres", whole_centres_, is_distance ? n_leaves() * n_padded() : 0);
    boxes_.check("boxes", n_leaf_groups());
    group_boxes_.check("group_boxes", n_box_groups());
}

}  // namespace fastmks
