#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "fastmks/core/faults.hpp"
#include "fastmks/core/matrix.hpp"
#include "fastmks/core/space.hpp"
#include "fastmks/filters/projection.hpp"

/// How axes are chosen: what they are chosen from.
namespace fastmks::choosing {

using Places = std::vector<std::size_t>;

constexpr std::size_t numbers_at_once = std::size_t{1} << 18;  // of a block of rows: 2 MiB

constexpr double farthest = 1e60;  // in units: whose squares, and those of queries, are numbers yet

// Multiplies by a power of two that may be no number itself.
class PowerOfTwo {
public:
    explicit PowerOfTwo(int exponent)
        : first_(std::ldexp(1.0, exponent / 2)),
          second_(std::ldexp(1.0, exponent - exponent / 2)) {}
    double operator()(double x) const { return x * first_ * second_; }

private:
    double first_, second_;
};

// The greatest magnitude in a row, all of which must be finite.
inline double greatest_entry(const double* row, std::size_t n) {
    constexpr double largest = std::numeric_limits<double>::max();
    double greatest = 0.0;
    bool is_finite = true;
    for (std::size_t c = 0; c < n; ++c) {
        const double x = std::abs(row[c]);
        is_finite &= x <= largest;
        greatest = std::max(greatest, x);
    }
    if (!is_finite) throw CoordinateFault{};
    return greatest;
}

inline void scale_row(double* row, std::size_t n, double greatest) {
    if (!(greatest > 0.0)) return;
    const PowerOfTwo scaled(-std::ilogb(greatest));
    for (std::size_t c = 0; c < n; ++c) row[c] = scaled(row[c]);
}

// Vectors as their scores see them: in one unit, or of length 1; from the origin, where there is
// one.
class View {
public:
    View(const Space& space, ScoreKind kind, const Watch& watch)
        : store_(*scores_of(space).vectors), kind_(kind), watch_(watch), n_(store_.n_columns()) {}

    [[nodiscard]] std::size_t n_columns() const noexcept { return n_; }
    [[nodiscard]] std::size_t size() const noexcept { return store_.size(); }
    [[nodiscard]] const std::vector<double>& origin() const noexcept { return origin_; }
    [[nodiscard]] int exponent() const noexcept { return exponent_; }
    void use_unit(int exponent) noexcept { exponent_ = exponent; }
    void use_origin(std::vector<double> origin) { origin_ = std::move(origin); }

    // A unit for all of these, so that neither sums nor squares leave the range of float64.
    void find_unit(const Places& places) {
        double greatest = 0.0;
        std::vector<double> row(n_);
        for (const std::size_t place : places) {
            watch_(0);
            store_.copy_rows(place, place + 1, row.data(), n_);
            greatest = std::max(greatest, greatest_entry(row.data(), n_));
        }
        exponent_ = greatest > 0.0 ? std::ilogb(greatest) : 0;
    }

    void read(std::size_t place, double* row) const {
        store_.copy_rows(place, place + 1, row, n_);
        const double greatest = greatest_entry(row, n_);
        if (kind_ == ScoreKind::cosine) {
            scale_row(row, n_, greatest);
            double square = 0.0;
            for (std::size_t c = 0; c < n_; ++c) square += row[c] * row[c];
            const double length = std::sqrt(square);
            for (std::size_t c = 0; c < n_ && length > 0.0; ++c) row[c] /= length;
        } else {
            const PowerOfTwo scaled(-exponent_);
            for (std::size_t c = 0; c < n_; ++c) {
                row[c] = std::clamp(scaled(row[c]), -farthest, farthest);
            }
        }
        for (std::size_t c = 0; c < origin_.size(); ++c) row[c] -= origin_[c];
    }

    // Gives the vectors at some places to `use`, some at a time: a matrix, and which is its first.
    template <class Use>
    void for_blocks(const Places& places, Use use) const {
        Matrix block(std::min(places.size(), rows_at_once()), n_);
        const std::size_t most = block.n_rows();
        for (std::size_t first = 0; first < places.size(); first += most) {
            watch_(0);
            block.keep_rows(std::min(most, places.size() - first));
            for (std::size_t i = 0; i < block.n_rows(); ++i) read(places[first + i], block.row(i));
            use(static_cast<const Matrix&>(block), first);
        }
    }

    [[nodiscard]] std::vector<double> mean(const Places& places) const {
        std::vector<double> sums(n_);
        for_blocks(places, [&](const Matrix& block, std::size_t) {
            for (std::size_t i = 0; i < block.n_rows(); ++i) {
                for (std::size_t c = 0; c < n_; ++c) sums[c] += block.row(i)[c];
            }
        });
        const auto n = static_cast<double>(std::max<std::size_t>(1, places.size()));
        for (double& sum : sums) sum /= n;
        return sums;
    }

    // The vectors at some places as columns.
    [[nodiscard]] Matrix columns(const Places& places) const {
        Matrix found(n_, places.size());
        std::vector<double> row(n_);
        for (std::size_t i = 0; i < places.size(); ++i) {
            read(places[i], row.data());
            for (std::size_t c = 0; c < n_; ++c) found.row(c)[i] = row[c];
        }
        return found;
    }

private:
    [[nodiscard]] std::size_t rows_at_once() const noexcept {
        return std::clamp<std::size_t>(numbers_at_once / (n_ + 1), 8, 1024);
    }

    const VectorStore& store_;
    ScoreKind kind_;
    const Watch& watch_;
    std::size_t n_;
    int exponent_ = 0;
    std::vector<double> origin_;
};

}  // namespace fastmks::choosing
