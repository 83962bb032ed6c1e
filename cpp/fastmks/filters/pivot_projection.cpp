#include "fastmks/filters/pivot_projection.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fastmks/core/faults.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

constexpr double up = 1 + 0x1p-40;           // more than the rounding of sums of lengths
constexpr double least_residual = 0x1p-40;   // of a pivot, as a share of K(x, x)
constexpr double small_defect = 0x1p-20;     // is lost among the errors of codes
constexpr double largest_defect = 0x1p-8;    // allowed to values that are themselves inexact
constexpr double errors_to_defect = 0x1p16;  // how much more than the values' own error it may be

int exponent_of(double length) {
    return length > 0.0 && std::isfinite(length) ? std::ilogb(length) : 0;
}

}  // namespace

// Lengths and values are scaled by powers of two, so that each pivot is between 1 and 2 long.
struct PivotProjection::Pivot {
    std::int64_t position;
    int exponent;
    double norm;  // errs above
};

// The Cholesky factor L of the pivots' Gram matrix, row by row, its inverse X, and how far X G X^T
// may be from the identity: not by theory, but by multiplying.
class PivotProjection::Factor {
public:
    Factor(const Geometry& geometry, std::size_t longest)
        : relative_(geometry.relative()), absolute_(geometry.absolute()) {
        share_ = 1.01 * static_cast<double>(longest + 16) * roundoff;
        limit_ = std::max(small_defect, std::min(largest_defect, errors_to_defect * relative_));
    }

    // Takes another pivot, with its scaled values to those before and to itself; false where its
    // coordinates would not be exact enough.
    bool add(const Pivot& pivot, std::vector<double> gram) {
        const std::size_t i = pivots_.size();
        std::vector<double> l(i), x(i + 1);
        double residual = gram[i];
        for (std::size_t j = 0; j < i; ++j) {
            double sum = gram[j];
            for (std::size_t k = 0; k < j; ++k) sum -= l[k] * factor_[j][k];
            l[j] = sum / factor_[j][j];
            residual -= l[j] * l[j];
        }
        if (!(residual > least_residual)) return false;
        const double root = std::sqrt(residual);
        for (std::size_t k = 0; k < i; ++k) {
            for (std::size_t j = 0; j <= k; ++j) x[j] -= l[k] * inverse_[k][j];
        }
        for (std::size_t j = 0; j < i; ++j) x[j] /= root;
        x[i] = 1.0 / root;
        l.push_back(root);
        return accept(pivot, std::move(gram), std::move(l), std::move(x));
    }

    [[nodiscard]] const std::vector<Pivot>& pivots() const noexcept { return pivots_; }
    [[nodiscard]] const std::vector<double>& inverse(std::size_t i) const { return inverse_[i]; }
    [[nodiscard]] double amplification() const noexcept { return std::sqrt(square_) * up; }
    [[nodiscard]] double lost_amplification() const noexcept { return lost_ * up; }
    [[nodiscard]] double defect() const noexcept { return defect_; }
    [[nodiscard]] double share() const noexcept { return share_; }

private:
    bool accept(const Pivot& pivot, std::vector<double> gram, std::vector<double> l,
                std::vector<double> x) {
        const std::size_t i = pivots_.size();
        double length = std::abs(x[i]) * pivot.norm;
        double lost = std::abs(x[i]) * std::ldexp(1.0, -pivot.exponent);
        for (std::size_t j = 0; j < i; ++j) {
            length += std::abs(x[j]) * pivots_[j].norm;
            lost += std::abs(x[j]) * std::ldexp(1.0, -pivots_[j].exponent);
        }
        const double off = off_ + new_entries(gram, x);
        const double square = square_ + length * length * up;
        const double all_lost = std::hypot(lost_, lost) * up;
        const double lost_root = std::sqrt(absolute_) * all_lost;
        const double n = static_cast<double>(i + 1);
        const double defect = std::sqrt(off) * up +
                              (relative_ + 2.1 * share_ * (1.0 + relative_)) * square +
                              1.1 * lost_root * lost_root + 4.0 * n * roundoff;
        if (!(defect <= limit_)) return false;
        off_ = off;
        square_ = square;
        lost_ = all_lost;
        defect_ = defect * up;
        pivots_.push_back(pivot);
        gram_.push_back(std::move(gram));
        factor_.push_back(std::move(l));
        inverse_.push_back(std::move(x));
        return true;
    }

    // The squares of what a new row adds to X G X^T - I, in its row and in its column.
    [[nodiscard]] double new_entries(const std::vector<double>& gram,
                                     const std::vector<double>& x) const {
        const std::size_t i = pivots_.size();
        std::vector<double> y(i + 1);  // x G
        for (std::size_t k = 0; k <= i; ++k) {
            for (std::size_t j = 0; j <= i; ++j) {
                const double value = k == i   ? gram[j]
                                     : j == i ? gram[k]
                                              : gram_[std::max(j, k)][std::min(j, k)];
                y[j] += x[k] * value;
            }
        }
        double own = -1.0, squares = 0.0;
        for (std::size_t k = 0; k <= i; ++k) own += y[k] * x[k];
        for (std::size_t j = 0; j < i; ++j) {
            double entry = 0.0;
            for (std::size_t k = 0; k <= j; ++k) entry += y[k] * inverse_[j][k];
            squares += entry * entry;
        }
        return 2.0 * squares + own * own;
    }

    double relative_;
    double absolute_;
    double share_;
    double limit_;
    std::vector<Pivot> pivots_;
    std::vector<std::vector<double>> gram_;
    std::vector<std::vector<double>> factor_;
    std::vector<std::vector<double>> inverse_;
    double off_ = 0.0;     // squares of the entries of X G X^T - I
    double square_ = 0.0;  // A^2
    double lost_ = 0.0;    // B
    double defect_ = 0.0;
};

PivotProjection::PivotProjection(const Space& objects, const std::vector<std::int64_t>& wanted)
    : space_(objects) {
    const std::size_t m = wanted.size();
    std::vector<std::int64_t> sorted = wanted;
    std::sort(sorted.begin(), sorted.end());
    const bool is_wrong =
        m > 0 && (sorted.front() < 0 || static_cast<std::size_t>(sorted.back()) >= objects.size());
    if (is_wrong || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        throw std::invalid_argument("pivots must be positions of objects, each once");
    }
    const Geometry geometry(objects.rounding());
    Factor factor(geometry, m);
    std::vector<double> values(m);
    std::unique_ptr<QueryBatch> batch;
    for (const std::int64_t position : wanted) {
        const auto at = static_cast<std::size_t>(position);
        const double self = objects.self_value(at);
        if (self < 0.0) throw NotMercerFault{at, itself, self, 0.0};
        const double norm = geometry.norm_above(self);
        if (!(norm > 0.0 && self <= Geometry::largest_self_value)) continue;
        const Pivot pivot{position, exponent_of(norm), std::ldexp(norm, -exponent_of(norm))};
        std::vector<std::int64_t> before;
        for (const Pivot& other : factor.pivots()) before.push_back(other.position);
        if (!before.empty()) {
            objects.refill(batch, at);
            objects.values(*batch, Selection::list(before.data(), before.size()), values.data());
        }
        build_evaluations_ += before.size();
        std::vector<double> gram;
        for (std::size_t j = 0; j < before.size(); ++j) {
            gram.push_back(std::ldexp(values[j], -pivot.exponent - factor.pivots()[j].exponent));
        }
        gram.push_back(std::ldexp(self, -2 * pivot.exponent));
        factor.add(pivot, std::move(gram));
    }
    take(factor);
}

// Columns in the order of positions, since that is the order of evaluation.
void PivotProjection::take(const Factor& factor) {
    const std::vector<Pivot>& pivots = factor.pivots();
    const std::size_t m = pivots.size(), stride = padded(m);
    std::vector<std::size_t> order(m), columns(m);
    for (std::size_t i = 0; i < m; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return pivots[a].position < pivots[b].position;
    });
    for (std::size_t at = 0; at < m; ++at) {
        columns[order[at]] = at;
        positions_.push_back(pivots[order[at]].position);
        exponents_.push_back(pivots[order[at]].exponent);
    }
    set_axes(m);
    for (std::size_t i = 0; i < m; ++i) {
        pivots_.push_back(pivots[i].position);
        for (std::size_t j = 0; j <= i; ++j) {
            axes_[i * stride + columns[j]] = factor.inverse(i)[j];
        }
    }
    amplification_ = factor.amplification();
    lost_amplification_ = factor.lost_amplification();
    defect_ = factor.defect();
    share_ = factor.share();
}

// Makes room for the axes.
void PivotProjection::set_axes(std::size_t n_pivots) {
    const std::size_t stride = padded(n_pivots);
    axes_.assign(n_pivots * stride, 0.0);
    for (std::size_t i = 0; i < n_pivots; ++i) axis_rows_.push_back(axes_.data() + i * stride);
}

// The figures that are compared err above by a share of 2^-40, and `up` allows no more: so does not
// matter how hypot rounds, which is the system's.
std::string PivotProjection::find_fault() const {
    const PivotProjection again(space_, pivots_);
    if (again.pivots_ != pivots_) return "some pivots are spanned by others";
    if (again.exponents_ != exponents_) return "the exponents of the pivots differ";
    if (again.axes_ != axes_) return "the axes are not those of the pivots";
    const bool is_right = amplification_ * up >= again.amplification_ &&
                          lost_amplification_ * up >= again.lost_amplification_ &&
                          defect_ * up >= again.defect_ && share_ >= again.share_;
    return is_right ? "" : "the errors of coordinates are greater";
}

double PivotProjection::error_share() const noexcept {
    const double relative = space_.rounding().relative;
    return (relative + share_ * (1.0 + relative)) * amplification_ + defect_;
}

void PivotProjection::project(const Space& objects, std::size_t begin, std::size_t end,
                              Coordinates& out) const {
    const std::size_t m = n_pivots(), n = end - begin, stride = padded(std::max<std::size_t>(1, m));
    out.resize(n, dimension());
    out.known.resize(n * m);
    std::vector<double> self(n);
    out.evaluations = out.self_evaluations = 0;
    for (std::size_t i = 0; i < n; ++i) {
        out.self_evaluations += objects.self_evaluations(begin + i);
        self[i] = objects.self_value(begin + i);
    }
    if (m == 0) {
        for (std::size_t i = 0; i < n; ++i) place(objects, begin + i, self[i], nullptr, i, out);
        return;
    }
    out.evaluations = evaluate(objects, begin, end, self.data(), out.known.data());
    const Geometry geometry(space_.rounding(), objects.rounding());
    std::vector<double> scaled(n * stride);
    for (std::size_t i = 0; i < n; ++i) {
        const int exponent = exponent_of(geometry.norm_above(self[i]));
        for (std::size_t j = 0; j < m; ++j) {
            scaled[i * stride + j] = std::ldexp(out.known[i * m + j], -exponent - exponents_[j]);
        }
    }
    loops_for(space_.isa())
        .vectors.f64.products({scaled.data(), n, m},
                              {axis_rows_.data(), m, m, axes_.data() + axes_.size()},
                              out.rows.data(), m);
    for (std::size_t i = 0; i < n; ++i) {
        place(objects, begin + i, self[i], out.known.data() + i * m, i, out);
    }
}

// The values of objects [begin, end) with the pivots, finite or not; returns how many were
// evaluated. That of a pivot with itself is known.
std::size_t PivotProjection::evaluate(const Space& objects, std::size_t begin, std::size_t end,
                                      const double* self, double* known) const {
    const std::size_t m = n_pivots();
    std::size_t n_evaluated = 0;
    const auto run = [&](std::size_t from, std::size_t to, std::size_t first, std::size_t last) {
        if (from == to || first == last) return;
        const Selection pivots = Selection::list(positions_.data() + first, last - first);
        space_.evaluate(*objects.batch(from, to), pivots, known + (from - begin) * m + first, m);
        n_evaluated += (to - from) * pivots.size;
    };
    std::size_t from = begin;
    if (&objects == &space_) {
        const auto least = std::lower_bound(positions_.begin(), positions_.end(),
                                            static_cast<std::int64_t>(begin));
        for (auto j = static_cast<std::size_t>(least - positions_.begin()); j < m; ++j) {
            const auto pivot = static_cast<std::size_t>(positions_[j]);
            if (pivot >= end) break;
            run(from, pivot, 0, m);
            run(pivot, pivot + 1, 0, j);
            known[(pivot - begin) * m + j] = self[pivot - begin];
            run(pivot, pivot + 1, j + 1, m);
            from = pivot + 1;
        }
    }
    run(from, end, 0, m);
    return n_evaluated;
}

// Sets everything but the coordinates, which are set, of one object with these values.
void PivotProjection::place(const Space& objects, std::size_t position, double self,
                            const double* values, std::size_t i, Coordinates& out) const {
    const Geometry geometry(space_.rounding(), objects.rounding());
    const std::size_t m = n_pivots();
    double* z = out.rows.data() + i * out.dimension;
    if (self < 0.0) throw NotMercerFault{position, itself, self, 0.0};
    const double above = geometry.norm_above(self);
    const int exponent = exponent_of(above);
    const double norm = std::ldexp(above, -exponent);
    out.exponents[i] = exponent;
    out.norms[i] = norm;
    for (std::size_t j = 0; norm == 0.0 && j < m; ++j) {
        if (values[j] != 0.0) {
            throw NotMercerFault{position, static_cast<std::size_t>(positions_[j]), values[j], 0.0};
        }
    }
    const double relative = geometry.relative();
    const double lost = std::ldexp(1.01 * lost_amplification_ * geometry.absolute(), -exponent);
    const double error =
        (((relative + share_ * (1.0 + relative)) * amplification_ + defect_) * norm + lost) * up;
    const bool is_known =
        std::all_of(values, values + m, [](double value) { return std::isfinite(value); });
    // Nothing is known of the object but its length, if that; or nothing is known better.
    if (m == 0 || !is_known || !std::isfinite(norm) || !(error < norm)) {
        std::fill_n(z, out.dimension, 0.0);
        out.errors[i] = out.tails[i] = norm;
        out.least_tails[i] = 0.0;
        return;
    }
    double square = 0.0;
    for (std::size_t c = 0; c < m; ++c) {
        square += z[c] * z[c];
        if (std::sqrt(square) * (2 - up) - error > norm) {
            const double seen = std::ldexp(square, 2 * exponent);
            throw PivotFault{
                position,
                itself,
                seen,
                self,
                {pivots_.begin(), pivots_.begin() + static_cast<std::ptrdiff_t>(c) + 1}};
        }
    }
    const double length = std::sqrt(square);
    const double shortest = std::max(0.0, length * (2 - up) - error);
    const double longest = length * up + error;
    const double least_norm = std::ldexp(geometry.norm_below(self), -exponent);
    out.errors[i] = error;
    out.tails[i] = std::sqrt(std::max(0.0, norm * norm * up - shortest * shortest)) * up;
    out.least_tails[i] =
        std::sqrt(std::max(0.0, least_norm * least_norm * (2 - up) - longest * longest * up)) *
        (2 - up);
}

// `largest` is at least |x| |y| for every pair in question, so it limits their rounding too.
ScoreRange PivotProjection::scores_below(const Space& objects, const Space& queries, double value,
                                         double largest) const {
    const Geometry geometry(objects.rounding(), queries.rounding());
    const double off = geometry.relative() * largest + geometry.absolute();
    if (!std::isfinite(off)) return ScoreRange::empty();
    // The last term covers all underflow here and in what is scaled to and from units.
    return {-HUGE_VAL, value - off * up - 0x1p-52 * (std::abs(value) + off) - 8 * underflow};
}

void PivotProjection::exceeded(std::size_t query, std::size_t object, double value,
                               double limit) const {
    if (pivots_.empty()) throw NotMercerFault{query, object, value, limit};
    throw PivotFault{query, object, value, limit, pivots_};
}

}  // namespace fastmks
