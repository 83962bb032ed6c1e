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
    std::string name;
    std::size_t at;
};

template <class T, class Holds>
void require(const std::string& name, const Array<T>& stored, const Array<T>& other, Holds holds) {
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

void require_boxes(const std::string& name, const Boxes& stored, const Boxes& least) {
    require(name + "_centres", stored.centres, least.centres, std::equal_to<>());
    require(name + "_halves", stored.halves, least.halves, is_at_least);
    require(name + "_radii", stored.radii, least.radii, is_at_least);
    require(name + "_lengths", stored.lengths, least.lengths, is_at_least);
    require(name + "_greatest_tails", stored.greatest_tails, least.greatest_tails, is_at_least);
    require(name + "_least_tails", stored.least_tails, least.least_tails, is_at_most);
}

}  // namespace

std::string CodeTable::find_fault(const Space& objects, std::size_t threads,
                                  const Watch& watch) const {
    const auto on_axes = axes();
    if (!on_axes) throw std::invalid_argument("only code tables on axes are checked");
    CodeTable least(objects, projection_);
    constexpr Margins least_margins{1 + 0x1p-40, float32_roundoff + 0x1p-40, 1e-40};
    const auto project = [&](std::size_t begin, std::size_t end, Coordinates& out) {
        on_axes->project_closely(objects, begin, end, out);
    };
    const ObjectRows rows(n_objects_, dimension_, least_margins, objects_per_task, threads, watch,
                          project);
    least.take(objects, rows);
    least.leaves_ = Array<Leaf>(n_leaves());
    least.positions_ = positions_;
    least.code(rows, threads, watch);
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
        require("whole_centres", whole_centres_, least.whole_centres_, std::equal_to<>());
        require_boxes("boxes", boxes_, least.boxes_);
        least.boxes_ = boxes_;  // which groups of them are made of
        least.enclose_groups();
        require_boxes("group_boxes", group_boxes_, least.group_boxes_);
    } catch (const Fault& fault) {
        return "the array '" + fault.name + "' does not bound the objects, first at " +
               std::to_string(fault.at);
    }
    return {};
}

}  // namespace fastmks
