// Whether the figures of a code table bound its objects: codes and centres are compared with those
// built again, figures with the least that rounding allows.

#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "fastmks/filters/codes.hpp"

namespace fastmks {
namespace {

// A fault of an array of a code table, thrown and caught once.
struct Fault {
    const char* name;
    std::size_t at;
};

template <class T, class Holds>
void require(const char* name, const Array<T>& stored, const Array<T>& other, Holds holds) {
    for (std::size_t i = 0; i < stored.size(); ++i) {
        if (!holds(stored[i], other[i])) throw Fault{name, i};
    }
}

// Every use of a length covers roundings of float32, so none matters here.
constexpr double tolerance = 0x1p-40;

bool is_at_least(double stored, double least) {
    return stored >= least - tolerance * std::abs(least);
}

bool is_at_most(double stored, double greatest) {
    return stored <= greatest + tolerance * std::abs(greatest);
}

bool is_bounding(const Leaf& stored, const Leaf& least) {
    bool is_right = stored.scale == least.scale;
    for (const auto field : {&Leaf::code_norm, &Leaf::code_error, &Leaf::radius, &Leaf::length,
                             &Leaf::tail, &Leaf::error}) {
        is_right = is_right && is_at_least(stored.*field, least.*field);
    }
    return is_right;
}

}  // namespace

std::string CodeTable::find_fault(const Space& objects, std::size_t threads,
                                  const Watch& watch) const {
    const auto on_axes = axes();
    if (!on_axes) throw std::invalid_argument("only code tables on axes are checked");
    CodeTable least(objects, projection_);
    const Rows rows = least.read(objects, threads, watch, on_axes.get());
    least.leaves_ = Array<Leaf>(n_leaves());
    least.positions_ = positions_;
    least.code(rows, threads, watch);
    constexpr std::equal_to<> is_equal;
    const auto is_same_line = [](const CodeLine& a, const CodeLine& b) {
        return std::memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
    };
    try {
        const bool is_right = exponent_ == least.exponent_ && has_zeros_ == least.has_zeros_;
        if (!is_right) throw Fault{"counts", 0};
        if (!is_at_least(norm_, least.norm_)) throw Fault{"figures", 0};
        require("leaves", leaves_, least.leaves_, is_bounding);
        require("codes", codes_, least.codes_, is_same_line);
        require("tails", tails_, least.tails_, is_at_least);
        for (std::size_t i = 0; i < tails_.size(); ++i) {
            if (!(tails_[i] <= leaves_[i / leaf_size].tail)) throw Fault{"tails", i};
        }
        require("extras", extras_, least.extras_, is_at_least);
        // Lower bounds follow from them too: a search allows for twice this (distance_spread).
        for (std::size_t i = 0; i < extras_.size(); ++i) {
            const Leaf& leaf = leaves_[i / leaf_size];
            const double lengths = leaf.length + leaf.radius + leaf.tail;
            const double off = lengths * (4 * leaf.error + 0x1p-20 * lengths);
            if (!(extras_[i] <= least.extras_[i] + off)) throw Fault{"extras", i};
        }
        require("whole_centres", whole_centres_, least.whole_centres_, is_equal);
        require("boxes_centres", boxes_.centres, least.boxes_.centres, is_equal);
        require("boxes_halves", boxes_.halves, least.boxes_.halves, is_at_least);
        require("boxes_radii", boxes_.radii, least.boxes_.radii, is_at_least);
        require("boxes_lengths", boxes_.lengths, least.boxes_.lengths, is_at_least);
        require("boxes_greatest_tails", boxes_.greatest_tails, least.boxes_.greatest_tails,
                is_at_least);
        require("boxes_least_tails", boxes_.least_tails, least.boxes_.least_tails, is_at_most);
        least.boxes_ = boxes_;  // which groups of them are made of
        least.enclose_groups();
        const Boxes& groups = least.group_boxes_;
        require("group_boxes_centres", group_boxes_.centres, groups.centres, is_equal);
        require("group_boxes_halves", group_boxes_.halves, groups.halves, is_at_least);
        require("group_boxes_radii", group_boxes_.radii, groups.radii, is_at_least);
        require("group_boxes_lengths", group_boxes_.lengths, groups.lengths, is_at_least);
        require("group_boxes_greatest_tails", group_boxes_.greatest_tails, groups.greatest_tails,
                is_at_least);
        require("group_boxes_least_tails", group_boxes_.least_tails, groups.least_tails,
                is_at_most);
    } catch (const Fault& fault) {
        return std::string("the array '") + fault.name + "' does not bound the objects, first at " +
               std::to_string(fault.at);
    }
    return {};
}

}  // namespace fastmks
