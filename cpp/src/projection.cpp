#include "fastmks/projection.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fastmks/score_search.hpp"

namespace fastmks {
namespace {

constexpr double unit = 0x1p-53;
constexpr double largest_defect = 1e-10;

}  // namespace

void Coordinates::resize(std::size_t n, std::size_t n_dimensions) {
    dimension = n_dimensions;
    rows.resize(n * n_dimensions);
    errors.resize(n);
    tails.resize(n);
    least_tails.resize(n);
    norms.resize(n);
    exponents.resize(n);
}

double orthonormality_defect(const double* rows, std::size_t n_rows, std::size_t n_columns,
                             std::size_t stride) {
    double greatest = 0.0;
    for (std::size_t i = 0; i < n_rows; ++i) {
        double sum = 0.0;  // of a row of the difference: no eigenvalue exceeds the greatest of them
        for (std::size_t j = 0; j < n_rows; ++j) {
            double parts[n_lanes] = {};
            for (std::size_t c = 0; c < n_columns; ++c) {
                parts[c % n_lanes] += rows[i * stride + c] * rows[j * stride + c];
            }
            double product = 0.0;
            for (const double part : parts) product += part;
            sum += std::abs(product - (i == j ? 1.0 : 0.0));
        }
        if (!(sum <= greatest)) greatest = sum;
    }
    // Each product of unit rows rounds as often as the longest of its sums is long.
    const auto roundings = static_cast<double>(n_columns / n_lanes + 2 * n_lanes);
    return greatest + 2 * static_cast<double>(n_rows) * roundings * unit;
}

AxisProjection::AxisProjection(ScoreKind kind, const double* axes, std::size_t n_axes,
                               std::size_t n_columns, std::vector<double> origin, Isa isa)
    : kind_(kind),
      n_axes_(n_axes),
      n_columns_(n_columns),
      axes_(n_axes * padded(n_columns)),
      origin_(std::move(origin)),
      defect_(orthonormality_defect(axes, n_axes, n_columns, n_columns)),
      loops_(vector_loops(isa)) {
    if (kind == ScoreKind::none) throw std::invalid_argument("a projection needs a score");
    const bool needs_origin = kind == ScoreKind::distance;
    if ((needs_origin || !origin_.empty()) && origin_.size() != n_columns) {
        throw std::invalid_argument("the origin must have a number for each column");
    }
    if (kind == ScoreKind::product && !origin_.empty()) {
        throw std::invalid_argument("products have no origin");
    }
    for (std::size_t i = 0; i < n_axes; ++i) {
        std::copy_n(axes + i * n_columns, n_columns, axes_.data() + i * padded(n_columns));
        axis_rows_.push_back(axes_.data() + i * padded(n_columns));
    }
    if (!(defect_ <= largest_defect)) {
        throw std::invalid_argument("axes must be orthonormal");
    }
}

// Scales a row by a power of two so that its greatest entry is near 1, and returns the exponent.
int AxisProjection::scale(double* row) const {
    double largest = 0.0;
    for (std::size_t c = 0; c < n_columns_; ++c) largest = std::max(largest, std::abs(row[c]));
    const int exponent = largest > 0.0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
    for (std::size_t c = 0; c < n_columns_; ++c) row[c] = std::ldexp(row[c], -exponent);
    return exponent;
}

double AxisProjection::length(const double* row) const {
    double square = 0.0;
    for (std::size_t c = 0; c < n_columns_; ++c) square += row[c] * row[c];
    return std::sqrt(square);
}

// Makes one row what its scores are scores of, and notes what it then is like.
void AxisProjection::measure(double* row, std::size_t i, Coordinates& out) const {
    double rounded = 0.0;  // by how much unit vectors may be off
    if (kind_ == ScoreKind::cosine) {
        scale(row);
        const double norm = length(row);
        for (std::size_t c = 0; norm > 0.0 && c < n_columns_; ++c) row[c] /= norm;
        rounded = 1.0;
    }
    for (std::size_t c = 0; c < origin_.size(); ++c) row[c] -= origin_[c];
    out.exponents[i] = scale(row);
    const double norm = length(row);
    // All roundings here and in the coordinates, and what the axes lack of being orthonormal.
    const double share = 2 * defect_ + 8 * static_cast<double>(n_columns_) * unit;
    const double off =
        std::ldexp(rounded * static_cast<double>(n_columns_ + 8) * 2 * unit, -out.exponents[i]);
    out.norms[i] = norm * (1 + share) + off;
    out.errors[i] = norm * share + off;
}

void AxisProjection::project(const Space& objects, std::size_t begin, std::size_t end,
                             Coordinates& out) const {
    const VectorStore* store = objects.score_vectors();
    if (!store || store->n_columns() != n_columns_) {
        throw std::invalid_argument("the objects must be vectors of the axes' length");
    }
    constexpr std::size_t rows_at_once = 64;
    const std::size_t stride = padded(n_columns_);
    std::vector<double> rows(rows_at_once * stride);
    out.resize(end - begin, n_axes_);
    for (std::size_t first = begin; first < end; first += rows_at_once) {
        const std::size_t n = std::min(rows_at_once, end - first);
        store->copy_rows(first, first + n, rows.data(), stride);
        const std::size_t at = first - begin;
        for (std::size_t i = 0; i < n; ++i) measure(rows.data() + i * stride, at + i, out);
        loops_.products_f64({rows.data(), n, n_columns_},
                            {axis_rows_.data(), n_axes_, n_columns_, axes_.data() + axes_.size()},
                            out.rows.data() + at * n_axes_, n_axes_);
        for (std::size_t i = at; i < at + n; ++i) {
            const double* z = out.rows.data() + i * n_axes_;
            double square = 0.0;
            for (std::size_t c = 0; c < n_axes_; ++c) square += z[c] * z[c];
            const double norm = out.norms[i];
            // A difference of squares, each off by a share of the whole.
            const double rest = norm * norm - square;
            const double off = 4 * norm * (out.errors[i] + 8 * unit * norm);
            out.tails[i] = std::sqrt(std::max(0.0, rest) + off);
            out.least_tails[i] = std::sqrt(std::max(0.0, rest - off));
        }
    }
}

ScoreRange AxisProjection::scores_below(const Space& objects, const Space&, double value,
                                        double largest) const {
    if (!(kind_ == ScoreKind::cosine && is_distance())) {
        return objects.scores_below(value, largest);
    }
    // <x, y> = -|x - y|^2 / 2 + (|x|^2 + |y|^2) / 2, and no vector here is longer than 1. The
    // greatest score here is that of distances; cosines go up to 1.
    ScoreRange range = objects.scores_below(value, 1.0);
    range.high -= 1.0 + 8 * unit;
    return range;
}

double AxisProjection::value_from(const Space& objects, double score, double largest) const {
    if (!(kind_ == ScoreKind::cosine && is_distance())) return objects.value_from(score, largest);
    return objects.value_from(score + (1.0 - 8 * unit), 1.0);  // as above
}

double Projection::value_from(const Space&, double, double) const {
    return -HUGE_VAL;
}

}  // namespace fastmks
