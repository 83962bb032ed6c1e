#include "fastmks/filters/projection.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fastmks/core/matrix.hpp"
#include "fastmks/simd/loops.hpp"
#include "fastmks/spaces/score_map.hpp"

namespace fastmks {
namespace {

constexpr double largest_defect = 1e-8;  // less than numbers of float32 round by
constexpr std::size_t columns_at_once = 128;

constexpr std::size_t numbers_at_once = std::size_t{1} << 21;  // 16 MiB of rows
constexpr std::size_t least_rows = 8;
constexpr std::size_t most_rows = 64;
constexpr std::size_t columns_of_piece = 2048;

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

ObjectRows::ObjectRows(std::size_t n, std::size_t n_dimensions, const Margins& of_lengths,
                       std::size_t step, std::size_t threads, const Watch& watch,
                       const std::function<void(std::size_t, std::size_t, Coordinates&)>& project)
    : margins(of_lengths),
      dimension(n_dimensions),
      numbers(n * n_dimensions),
      tails(n),
      least_tails(n),
      errors(n),
      norms(n) {
    std::vector<int> exponents(n);
    parallel_for((n + step - 1) / step, threads, watch, [&](std::size_t task, Worker& worker) {
        const std::size_t begin = task * step, end = std::min(n, begin + step);
        Coordinates part;
        project(begin, end, part);
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t at = i - begin;
            exponents[i] = part.exponents[at];
            norms[i] = part.norms[at];
            tails[i] = float32_above(part.tails[at]);
            least_tails[i] = float32_below(part.least_tails[at]);
            errors[i] = part.errors[at];
            for (std::size_t c = 0; c < dimension; ++c) {
                row(i)[c] = static_cast<float>(part.rows[at * dimension + c]);
            }
        }
        worker.advance(end - begin);
    });
    bool is_first = true;
    for (std::size_t i = 0; i < n; ++i) {
        if (norms[i] > 0.0 && std::isfinite(norms[i]) && (is_first || exponents[i] > exponent)) {
            exponent = exponents[i];
            is_first = false;
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        // A zero row is zero in every unit, and its exponent may be far above those of the others.
        const int moved = norms[i] > 0.0 ? exponents[i] - exponent : 0;
        const double unit = std::ldexp(1.0, std::clamp(moved, -1000, 0));
        norms[i] *= unit;
        // Rounding to float32, and what underflow takes.
        errors[i] = errors[i] * unit + norms[i] * margins.rounding + margins.lost;
        tails[i] = float32_above(tails[i] * unit);
        least_tails[i] = float32_below(least_tails[i] * unit);
        for (std::size_t c = 0; c < dimension; ++c)
            row(i)[c] = static_cast<float>(row(i)[c] * unit);
        if (std::isfinite(norms[i])) norm = std::max(norm, norms[i] * margins.up);
    }
}

std::vector<double> padded_rows(const double* rows, std::size_t n_rows, std::size_t n_columns) {
    std::vector<double> out(n_rows * padded(n_columns));
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::copy_n(rows + i * n_columns, n_columns, out.data() + i * padded(n_columns));
    }
    return out;
}

double orthonormality_defect(const std::vector<double>& rows, std::size_t n_rows,
                             std::size_t n_columns, Isa isa) {
    if (n_rows > n_columns || rows.size() != n_rows * padded(n_columns)) return HUGE_VAL;
    // Sums of few products first, then of these sums: that rounds less.
    const Watch unwatched = [](std::size_t) {};
    const MatrixWork work{loops_for(isa).matrices, 1, unwatched};
    Matrix gram(n_rows, n_rows), part(n_rows, n_rows), columns(columns_at_once, n_rows);
    for (std::size_t begin = 0; begin < n_columns; begin += columns_at_once) {
        const std::size_t n = std::min(columns_at_once, n_columns - begin);
        columns.keep_rows(n);
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double* const row = rows.data() + i * padded(n_columns) + begin;
            for (std::size_t c = 0; c < n; ++c) columns.row(c)[i] = row[c];
        }
        part.fill(0.0);
        add_gram(columns, part, work);
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::size_t j = i; j < n_rows; ++j) gram.row(i)[j] += part.row(i)[j];
        }
    }
    complete(gram);
    double greatest = 0.0;
    for (std::size_t i = 0; i < n_rows; ++i) {
        double sum = 0.0;  // of a row of the difference: no eigenvalue exceeds the greatest of them
        for (std::size_t j = 0; j < n_rows; ++j) {
            sum += std::abs(gram.row(i)[j] - (i == j ? 1.0 : 0.0));
        }
        if (!(sum <= greatest)) greatest = sum;
    }
    // A sum of products of two unit rows rounds as often as its parts and their sum are long. Twice
    // that, for rows a little longer than 1 and for the sums above.
    const auto roundings =
        static_cast<double>(columns_at_once + n_columns / columns_at_once + 2 * n_lanes);
    return greatest * (1 + static_cast<double>(n_rows) * 2 * roundoff) +
           2 * static_cast<double>(n_rows) * roundings * roundoff;
}

AxisProjection::AxisProjection(ScoreKind kind, std::vector<double> axes, std::size_t n_axes,
                               std::size_t n_columns, std::vector<double> origin, Isa isa)
    : kind_(kind),
      n_axes_(n_axes),
      n_columns_(n_columns),
      axes_(std::move(axes)),
      origin_(std::move(origin)),
      defect_(orthonormality_defect(axes_, n_axes, n_columns, isa)),
      loops_(loops_for(isa).vectors) {
    const bool needs_origin = kind == ScoreKind::distance;
    if ((needs_origin || !origin_.empty()) && origin_.size() != n_columns) {
        throw std::invalid_argument("the origin must have a number for each column");
    }
    if (kind == ScoreKind::product && !origin_.empty()) {
        throw std::invalid_argument("products have no origin");
    }
    for (std::size_t i = 0; i < n_axes; ++i) {
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

// Transforms one row as its scores need it, and notes facts about the result.
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
    // All roundings here and in the coordinates, each a sum in eight lanes, and what the axes lack
    // of being orthonormal.
    const auto n = static_cast<double>(n_columns_);
    const double of_coordinates = std::sqrt(static_cast<double>(n_axes_)) * (n / n_lanes + 16);
    const double share = 2 * defect_ + (8 * n + of_coordinates) * roundoff;
    const double off = std::ldexp(rounded * (n + 8) * 2 * roundoff, -out.exponents[i]);
    out.norms[i] = norm * (1 + share) + off;
    out.errors[i] = norm * share + off;
}

// The coordinates of some padded rows. Long rows in pieces, so that those of the axes stay in the
// cache; that rounds less than sums of whole rows.
void AxisProjection::multiply(const double* rows, std::size_t n, double* out) const {
    const std::size_t stride = padded(n_columns_);
    const double* const behind = axes_.data() + axes_.size();
    if (n_columns_ <= 2 * columns_of_piece) {
        loops_.f64.products({rows, n, n_columns_}, {axis_rows_.data(), n_axes_, n_columns_, behind},
                            out, n_axes_);
        return;
    }
    std::vector<double> piece(n * columns_of_piece), products(n * n_axes_);
    std::vector<const double*> axes(axis_rows_);
    std::fill_n(out, n * n_axes_, 0.0);
    for (std::size_t begin = 0; begin < n_columns_; begin += columns_of_piece) {
        const std::size_t width = std::min(columns_of_piece, n_columns_ - begin);
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(rows + i * stride + begin, padded(width), piece.data() + i * padded(width));
        }
        loops_.f64.products({piece.data(), n, width}, {axes.data(), n_axes_, width, behind},
                            products.data(), n_axes_);
        for (std::size_t i = 0; i < n * n_axes_; ++i) out[i] += products[i];
        for (const double*& axis : axes) axis += columns_of_piece;
    }
}

// The tail of a row is at most as long as what its coordinates leave of it, since these are of some
// point of the subspace; and not much shorter, since that is near the nearest one. Two roundings
// for each axis, and those of the length.
void AxisProjection::bound_tail(const double* row, std::size_t i, Coordinates& out) const {
    std::vector<double> rest(row, row + n_columns_);
    for (std::size_t a = 0; a < n_axes_; ++a) {
        const double z = out.rows[i * n_axes_ + a];
        const double* const axis = axis_rows_[a];
        for (std::size_t c = 0; c < n_columns_; ++c) rest[c] -= z * axis[c];
    }
    const auto m = static_cast<double>(n_axes_), n = static_cast<double>(n_columns_);
    const double share = (1.1 * (m + 2) * (1 + std::sqrt(m)) + 2 * n) * roundoff;
    const double off = out.errors[i] + share * out.norms[i];
    const double tail = length(rest.data());
    out.tails[i] = std::min(out.tails[i], tail + off);
    out.least_tails[i] = std::max(out.least_tails[i], tail - off);
}

void AxisProjection::project(const Space& objects, std::size_t begin, std::size_t end,
                             Coordinates& out) const {
    project_rows(objects, begin, end, false, out);
}

void AxisProjection::project_closely(const Space& objects, std::size_t begin, std::size_t end,
                                     Coordinates& out) const {
    project_rows(objects, begin, end, true, out);
}

void AxisProjection::project_rows(const Space& objects, std::size_t begin, std::size_t end,
                                  bool is_close, Coordinates& out) const {
    const VectorStore* store = scores_of(objects).vectors;
    if (store->n_columns() != n_columns_) {
        throw std::invalid_argument("the objects must be vectors of the axes' length");
    }
    const std::size_t stride = padded(n_columns_);
    const std::size_t rows_at_once =
        std::min(end - begin, std::clamp(numbers_at_once / (stride + 1), least_rows, most_rows));
    std::vector<double> rows(rows_at_once * stride);
    out.resize(end - begin, n_axes_);
    for (std::size_t first = begin; first < end; first += rows_at_once) {
        const std::size_t n = std::min(rows_at_once, end - first);
        store->copy_rows(first, first + n, rows.data(), stride);
        const std::size_t at = first - begin;
        for (std::size_t i = 0; i < n; ++i) measure(rows.data() + i * stride, at + i, out);
        multiply(rows.data(), n, out.rows.data() + at * n_axes_);
        for (std::size_t i = at; i < at + n; ++i) {
            const double* z = out.rows.data() + i * n_axes_;
            double square = 0.0;
            for (std::size_t c = 0; c < n_axes_; ++c) square += z[c] * z[c];
            const double norm = out.norms[i];
            // A difference of squares, each off by a share of the whole.
            const double rest = norm * norm - square;
            const double off = 4 * norm * (out.errors[i] + 8 * roundoff * norm);
            out.tails[i] = std::sqrt(std::max(0.0, rest) + off);
            out.least_tails[i] = std::sqrt(std::max(0.0, rest - off));
            if (is_close) bound_tail(rows.data() + (i - at) * stride, i, out);
        }
    }
}

ScoreRange AxisProjection::scores_below(const Space& objects, const Space&, double value,
                                        double largest) const {
    if (!(kind_ == ScoreKind::cosine && is_distance())) {
        return scores_of(objects).scores_below(value, largest);
    }
    // <x, y> = -|x - y|^2 / 2 + (|x|^2 + |y|^2) / 2, and no vector here is longer than 1. The
    // greatest score here is that of distances; cosines go up to 1.
    ScoreRange range = scores_of(objects).scores_below(value, 1.0);
    range.high -= 1.0 + 8 * roundoff;
    return range;
}

double AxisProjection::value_from(const Space& objects, double score, double largest) const {
    if (!(kind_ == ScoreKind::cosine && is_distance()))
        return scores_of(objects).value_from(score, largest);
    return scores_of(objects).value_from(score + (1.0 - 8 * roundoff), 1.0);  // as above
}

double Projection::value_from(const Space&, double, double) const {
    return -HUGE_VAL;
}

}  // namespace fastmks
