#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "fastmks/core/faults.hpp"
#include "fastmks/filters/axes.hpp"
#include "fastmks/filters/codes.hpp"

namespace fastmks {
namespace {

constexpr std::size_t most_sampled = 2048;  // objects examined to choose one
constexpr std::size_t many_leaves = 512;    // have boxes around groups of them

struct Keyed {
    float key;
    std::uint32_t position;
};

// Splits objects so that those of one leaf lie close to each other: in half, along the axis of the
// greatest variance, until they fit.
class Splitter {
public:
    Splitter(const ObjectRows& rows, std::uint32_t* positions)
        : rows_(rows), positions_(positions) {}

    // Splits [begin, end) until no part is larger than `largest`; parts are told to `done`.
    template <class Done>
    void split(std::size_t begin, std::size_t end, std::size_t largest, Done done) {
        const std::size_t n = end - begin;
        if (n <= largest) return done(begin, end);
        const std::size_t n_leaves = (n + leaf_size - 1) / leaf_size;
        const std::size_t middle = begin + n_leaves / 2 * leaf_size;
        halve(begin, middle, end);
        split(begin, middle, largest, done);
        split(middle, end, largest, done);
    }

private:
    void halve(std::size_t begin, std::size_t middle, std::size_t end) {
        const std::size_t axis = widest_axis(begin, end);
        keyed_.resize(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t position = positions_[i];
            keyed_[i - begin] = {rows_.row(position)[axis], position};
        }
        std::nth_element(keyed_.begin(),
                         keyed_.begin() + static_cast<std::ptrdiff_t>(middle - begin), keyed_.end(),
                         [](const Keyed& a, const Keyed& b) {
                             return a.key < b.key || (a.key == b.key && a.position < b.position);
                         });
        for (std::size_t i = begin; i < end; ++i) positions_[i] = keyed_[i - begin].position;
    }

    [[nodiscard]] std::size_t widest_axis(std::size_t begin, std::size_t end) const {
        const std::size_t n_axes = std::min(rows_.dimension, most_split_axes);
        const std::size_t step = (end - begin + most_sampled - 1) / most_sampled;
        double sums[most_split_axes] = {};
        double squares[most_split_axes] = {};
        double n = 0.0;
        for (std::size_t i = begin; i < end; i += step, n += 1.0) {
            const float* row = rows_.row(positions_[i]);
            for (std::size_t c = 0; c < n_axes; ++c) {
                const double x = row[c];
                sums[c] += x;
                squares[c] += x * x;
            }
        }
        std::size_t widest = 0;
        double greatest = -1.0;
        for (std::size_t c = 0; c < n_axes; ++c) {
            const double variance = squares[c] - sums[c] * sums[c] / n;
            if (variance > greatest) {
                greatest = variance;
                widest = c;
            }
        }
        return widest;
    }

    const ObjectRows& rows_;
    std::uint32_t* positions_;
    std::vector<Keyed> keyed_;
};

}  // namespace

CodeTable::CodeTable(const Space& objects, std::shared_ptr<const Projection> projection)
    : projection_(std::move(projection)),
      n_objects_(objects.size()),
      dimension_(projection_->dimension()),
      n_words_((dimension_ + bytes_per_word - 1) / bytes_per_word) {
    if (n_objects_ >= no_object) throw std::invalid_argument("too many objects for a code table");
}

CodeTable::CodeTable(const Space& objects, std::shared_ptr<const Projection> projection,
                     std::size_t threads, const Watch& watch)
    : CodeTable(objects, std::move(projection)) {
    const auto project = [&](std::size_t begin, std::size_t end, Coordinates& out) {
        projection_->project(objects, begin, end, out);
    };
    const ObjectRows rows(n_objects_, dimension_, usual_margins, objects_per_task, threads, watch,
                          project);
    take(objects, rows);
    order(rows, threads, watch);
    code(rows, threads, watch);
    enclose_groups();
}

// Takes what holds for all objects.
void CodeTable::take(const Space& objects, const ObjectRows& rows) {
    for (std::size_t i = 0; i < n_objects_; ++i) {
        if (!std::isfinite(rows.norms[i]) || !std::isfinite(rows.errors[i]))
            throw CoordinateFault{};
        has_zeros_ = has_zeros_ || objects.is_zero(i);
    }
    exponent_ = rows.exponent;
    norm_ = rows.norm;
}

// Codes the objects of each leaf.
void CodeTable::code(const ObjectRows& rows, std::size_t threads, const Watch& watch) {
    const std::size_t n_places = leaves_.size() * leaf_size;
    codes_ = Array<CodeLine>(first_line(leaves_.size()) + lines_behind);
    for (CodeLine& line : codes_.edit()) std::memset(line.bytes, code_bias, sizeof(line.bytes));
    tails_ = Array<float>(n_places);
    if (projection_->is_distance()) {
        extras_ = Array<float>(n_places);
        whole_centres_ = Array<float>(leaves_.size() * n_padded());
    }
    boxes_.resize(n_leaf_groups(), dimension_);
    parallel_for(leaves_.size(), threads, watch, [&](std::size_t leaf, Worker& worker) {
        code_leaf(leaf, rows);
        worker.advance(leaf_objects(leaf));
    });
}

void CodeTable::enclose_groups() {
    if (n_box_groups() == 0) return;
    group_boxes_.resize(n_box_groups(), dimension_);
    for (std::size_t group = 0; group < n_leaf_groups(); ++group) enclose_group(group);
}

std::size_t CodeTable::n_box_groups() const noexcept {
    return n_leaves() < many_leaves ? 0 : (n_leaf_groups() + group_size - 1) / group_size;
}

void CodeTable::order(const ObjectRows& rows, std::size_t threads, const Watch& watch) {
    const std::size_t n_leaves = (n_objects_ + leaf_size - 1) / leaf_size;
    leaves_ = Array<Leaf>(n_leaves);
    positions_ = Array<std::uint32_t>(n_leaves * leaf_size, no_object);
    std::uint32_t* const positions = positions_.edit().data();
    for (std::size_t i = 0; i < n_objects_; ++i) positions[i] = static_cast<std::uint32_t>(i);
    struct Part {
        std::size_t begin, end;
    };
    std::vector<Part> parts;
    const std::size_t largest = std::max(leaf_size, (n_objects_ + 15) / 16);
    Splitter(rows, positions)
        .split(0, n_objects_, threads > 1 ? largest : n_objects_,
               [&](std::size_t begin, std::size_t end) { parts.push_back({begin, end}); });
    parallel_for(parts.size(), threads, watch, [&](std::size_t part, Worker& worker) {
        Splitter(rows, positions)
            .split(parts[part].begin, parts[part].end, leaf_size, [](std::size_t, std::size_t) {});
        worker.advance(0);
    });
}

void CodeTable::code_leaf(std::size_t index, const ObjectRows& rows) {
    const double up = rows.margins.up;
    const std::size_t n = leaf_objects(index);
    const std::uint32_t* members = positions(index);
    // The middle of the box along each axis.
    std::vector<double> centre(dimension_);
    double centre_square = 0.0;
    for (std::size_t c = 0; c < dimension_; ++c) {
        float least = HUGE_VALF, greatest = -HUGE_VALF;
        for (std::size_t j = 0; j < n; ++j) {
            const float x = rows.row(members[j])[c];
            least = std::min(least, x);
            greatest = std::max(greatest, x);
        }
        const float middle = 0.5f * least + 0.5f * greatest;
        const double half =
            std::max(static_cast<double>(greatest) - middle, static_cast<double>(middle) - least);
        const std::size_t at = boxes_.at(index, c);
        boxes_.centres.edit()[at] = middle;
        boxes_.halves.edit()[at] = float32_above(half * up);
        centre[c] = middle;
        centre_square += centre[c] * centre[c];
    }
    if (!whole_centres_.empty()) {
        std::copy_n(centre.data(), dimension_, whole_centres_.edit().data() + index * n_padded());
    }

    std::vector<double> differences(n * dimension_);
    double radius = 0.0, error = 0.0, greatest_tail = 0.0, least_tail = HUGE_VAL;
    for (std::size_t j = 0; j < n; ++j) {
        const std::uint32_t member = members[j];
        const float* row = rows.row(member);
        double* difference = differences.data() + j * dimension_;
        double square = 0.0;
        for (std::size_t c = 0; c < dimension_; ++c) {
            difference[c] = row[c] - centre[c];
            square += difference[c] * difference[c];
        }
        radius = std::max(radius, std::sqrt(square) * up + rows.errors[member]);
        error = std::max(error, rows.errors[member]);
        least_tail = std::min<double>(least_tail, rows.least_tails[member]);
        greatest_tail = std::max<double>(greatest_tail, rows.tails[member]);
        tails_.edit()[index * leaf_size + j] = rows.tails[member];
        if (!extras_.empty()) {
            // -|difference|^2 / 2 - tail^2 / 2, above: both may be shorter than they seem.
            const double length = std::max(0.0, std::sqrt(square) * (2 - up) - rows.errors[member]);
            const double tail = rows.least_tails[member];
            extras_.edit()[index * leaf_size + j] =
                float32_above(-0.5 * (length * length + tail * tail));
        }
    }
    boxes_.radii.edit()[index] = float32_above(radius);
    boxes_.lengths.edit()[index] = float32_above(std::sqrt(centre_square) * up + radius);
    boxes_.greatest_tails.edit()[index] = float32_above(greatest_tail);
    boxes_.least_tails.edit()[index] = float32_below(least_tail);
    leaves_.edit()[index] = {.scale = 1.0f,
                             .code_norm = 0.0f,
                             .code_error = float32_above(error),
                             .radius = boxes_.radii[index],
                             .length = boxes_.lengths[index],
                             .tail = boxes_.greatest_tails[index],
                             .error = float32_above(error)};
    write_codes(index, differences, up);
}

void CodeTable::write_codes(std::size_t index, const std::vector<double>& differences, double up) {
    const std::size_t n = leaf_objects(index);
    double largest = 0.0;
    for (const double x : differences) largest = std::max(largest, std::abs(x));
    Leaf& leaf = leaves_.edit()[index];
    if (largest > 1e-30) leaf.scale = static_cast<float>(largest / largest_code);
    CodeLine* codes = codes_.edit().data() + first_line(index);
    double greatest_left = 0.0, greatest_length = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        double left = 0.0, length = 0.0;
        for (std::size_t c = 0; c < dimension_; ++c) {
            const double x = differences[j * dimension_ + c];
            const double u = std::clamp(std::nearbyint(x / leaf.scale), -127.0, 127.0);
            const double rest = x - u * leaf.scale;
            left += rest * rest;
            length += u * u;
            const std::size_t word = c / bytes_per_word, byte = c % bytes_per_word;
            codes[j / group_size * n_words_ + word].bytes[j % group_size * bytes_per_word + byte] =
                static_cast<std::uint8_t>(static_cast<int>(u) + code_bias);
        }
        greatest_left = std::max(greatest_left, left);
        greatest_length = std::max(greatest_length, length);
    }
    leaf.code_error = float32_above(leaf.code_error + std::sqrt(greatest_left) * up);
    leaf.code_norm = float32_above(std::sqrt(greatest_length) * leaf.scale * up);
}

CodeBlock CodeTable::block(std::size_t leaf) const noexcept {
    return {codes_.data() + first_line(leaf),
            n_words_,
            (leaf_objects(leaf) + tile_size - 1) / tile_size,
            tails_.data() + leaf * leaf_size,
            extras_.empty() ? nullptr : extras_.data() + leaf * leaf_size,
            leaves_[leaf].tail};
}

std::size_t CodeTable::leaf_objects(std::size_t leaf) const noexcept {
    return std::min(leaf_size, n_objects_ - leaf * leaf_size);
}

void Boxes::resize(std::size_t n_groups, std::size_t n_dimensions) {
    dimension = n_dimensions;
    centres = halves = Array<float>(n_groups * dimension * group_size);
    radii = lengths = greatest_tails = least_tails = Array<float>(n_groups * group_size);
}

LeafGroup Boxes::group(std::size_t index) const noexcept {
    const std::size_t first = index * group_size;
    return {dimension,
            centres.data() + first * dimension,
            halves.data() + first * dimension,
            radii.data() + first,
            lengths.data() + first,
            greatest_tails.data() + first,
            least_tails.data() + first};
}

std::size_t Boxes::n_bytes() const noexcept {
    return centres.n_bytes() + halves.n_bytes() + 4 * radii.n_bytes();
}

// A box and a ball around those of a group of leaves.
void CodeTable::enclose_group(std::size_t group) {
    const double up = usual_margins.up;
    const std::size_t first = group * group_size;
    const std::size_t end = std::min(first + group_size, n_leaves());
    double centre_square = 0.0;
    std::vector<double> squares(end - first);  // of the distances between centres
    for (std::size_t c = 0; c < dimension_; ++c) {
        double least = HUGE_VAL, greatest = -HUGE_VAL;
        for (std::size_t leaf = first; leaf < end; ++leaf) {
            const double centre = boxes_.centres[boxes_.at(leaf, c)];
            const double half = boxes_.halves[boxes_.at(leaf, c)];
            least = std::min(least, centre - half);
            greatest = std::max(greatest, centre + half);
        }
        const auto middle = static_cast<float>(0.5 * least + 0.5 * greatest);
        const std::size_t at = group_boxes_.at(group, c);
        group_boxes_.centres.edit()[at] = middle;
        group_boxes_.halves.edit()[at] =
            float32_above(std::max(greatest - middle, middle - least) * up);
        centre_square += static_cast<double>(middle) * middle;
        for (std::size_t leaf = first; leaf < end; ++leaf) {
            const double difference = boxes_.centres[boxes_.at(leaf, c)] - middle;
            squares[leaf - first] += difference * difference;
        }
    }
    double radius = 0.0, greatest_tail = 0.0, least_tail = HUGE_VAL;
    for (std::size_t leaf = first; leaf < end; ++leaf) {
        radius = std::max(radius, std::sqrt(squares[leaf - first]) * up + boxes_.radii[leaf]);
        greatest_tail = std::max<double>(greatest_tail, boxes_.greatest_tails[leaf]);
        least_tail = std::min<double>(least_tail, boxes_.least_tails[leaf]);
    }
    group_boxes_.radii.edit()[group] = float32_above(radius);
    group_boxes_.lengths.edit()[group] = float32_above(std::sqrt(centre_square) * up + radius);
    group_boxes_.greatest_tails.edit()[group] = float32_above(greatest_tail);
    group_boxes_.least_tails.edit()[group] = float32_below(least_tail);
}

std::size_t CodeTable::n_bytes() const noexcept {
    return codes_.n_bytes() + tails_.n_bytes() + extras_.n_bytes() + whole_centres_.n_bytes() +
           boxes_.n_bytes() + group_boxes_.n_bytes() + positions_.n_bytes() + leaves_.n_bytes();
}

}  // namespace fastmks
