#pragma once

#include "fastmks/filters/axes_view.hpp"
#include "fastmks/simd/code_loops.hpp"

namespace fastmks::choosing {

constexpr std::size_t n_first = 32;  // axes that every sampled object is put on
constexpr double blur = 0.01;        // of a bound by codes of 8 bits, as a share of both lengths

// Sampled queries, the judges, and sampled objects: how many of these would bounds on some axes
// leave to be evaluated?
class Trial {
public:
    // The axes are columns.
    Trial(const View& queries, const Places& asked, const View& objects, Places looked_at,
          const Matrix& axes, const MatrixWork& work)
        : objects_(objects),
          places_(std::move(looked_at)),
          axes_(axes),
          work_(work),
          judges_(queries.columns(asked)),
          judge_coordinates_(axes.n_columns(), asked.size()),
          judge_lengths_(asked.size()),
          judge_rests_(asked.size()),
          scores_(places_.size(), asked.size()),
          first_(places_.size(), std::min(n_first, axes.n_columns())),
          lengths_(places_.size()),
          rests_(places_.size()),
          mean_(objects.n_columns()) {
        add_transposed_product(axes_, judges_, judge_coordinates_, work_);
        for (std::size_t c = 0; c < judges_.n_rows(); ++c) {
            for (std::size_t q = 0; q < judges_.n_columns(); ++q) {
                judge_rests_[q] += judges_.row(c)[q] * judges_.row(c)[q];
            }
        }
        for (std::size_t q = 0; q < asked.size(); ++q) judge_lengths_[q] = length(judge_rests_[q]);
        look();
    }

    // About the share of n objects that lies in leaves that a query has to scan. Boxes of leaves
    // tell little apart unless objects were split more often than they have dimensions: (sum of
    // variances)^2 / sum of their squares, along principal axes.
    [[nodiscard]] double share_looked_into(std::size_t n_objects) const {
        const auto n = static_cast<double>(places_.size());
        double variance = 0.0;
        for (const double length : lengths_) variance += length * length / n;
        for (const double mean : mean_) variance -= mean * mean;
        double left = variance, squares = 0.0;
        for (std::size_t a = 0; a < first_.n_columns(); ++a) {
            double sum = 0.0, square = 0.0;
            for (std::size_t i = 0; i < places_.size(); ++i) {
                sum += first_.row(i)[a] / n;
                square += first_.row(i)[a] * first_.row(i)[a] / n;
            }
            const double along = std::max(0.0, square - sum * sum);
            left -= along;
            squares += along * along;
        }
        if (axes_.n_rows() > first_.n_columns() && left > 0.0) {
            squares += left * left / static_cast<double>(axes_.n_rows() - first_.n_columns());
        }
        const double dimensions = squares > 0.0 ? variance * variance / squares : 0.0;
        const double n_splits = std::log2(
            std::max(1.0, static_cast<double>(n_objects) / static_cast<double>(leaf_size)));
        return std::min(1.0, 4.0 * std::exp2(std::min(10.0, dimensions - n_splits)));
    }

    // Takes the score of the hit of some rank, about, as what a bound has to reach.
    void set_rank(std::size_t rank) {
        std::vector<double> own(places_.size());
        for (std::size_t q = 0; q < judges_.n_columns(); ++q) {
            for (std::size_t i = 0; i < own.size(); ++i) own[i] = scores_.row(i)[q];
            const auto at = own.begin() + static_cast<std::ptrdiff_t>(own.size() - 1 - rank);
            std::nth_element(own.begin(), at, own.end());
            for (std::size_t i = 0; i < own.size(); ++i) {
                scores_.row(i)[q] = *at - blur * judge_lengths_[q] * lengths_[i];
            }
        }
        bounds_ = Matrix(places_.size(), judges_.n_columns());
        for (std::size_t i = 0; i < places_.size(); ++i) {
            left_.push_back(i);
            rests_[i] = lengths_[i] * lengths_[i];
        }
    }

    // The share of pairs that bounds on the first m axes leave; after set_rank(), for greater and
    // greater m.
    [[nodiscard]] double share_left(std::size_t m) {
        if (n_seen_ < first_.n_columns()) {
            const std::size_t end = std::min(m, first_.n_columns());
            for (const std::size_t i : left_) add_axes(i, first_.row(i) + n_seen_, end);
            see_judges(end);
        }
        if (n_seen_ < m) {
            Places places;
            for (const std::size_t i : left_) places.push_back(places_[i]);
            objects_.for_blocks(places, [&](const Matrix& block, std::size_t first) {
                Matrix coordinates(block.n_rows(), m - n_seen_);
                add_product(block, axes_, coordinates, work_, n_seen_);
                for (std::size_t i = 0; i < block.n_rows(); ++i) {
                    add_axes(left_[first + i], coordinates.row(i), m);
                }
            });
            see_judges(m);
        }
        std::vector<double> tails(judge_rests_);
        for (double& tail : tails) tail = length(tail);
        std::size_t n_pairs = 0;
        Places still;
        for (const std::size_t i : left_) {
            const double tail = length(rests_[i]);
            std::size_t n = 0;
            for (std::size_t q = 0; q < judges_.n_columns(); ++q) {
                n += bounds_.row(i)[q] + tail * tails[q] >= scores_.row(i)[q];
            }
            n_pairs += n;
            if (n > 0) still.push_back(i);  // more axes make no bound greater
        }
        left_ = std::move(still);
        return static_cast<double>(n_pairs) /
               static_cast<double>(places_.size() * judges_.n_columns());
    }

private:
    static double length(double square) { return std::sqrt(std::max(0.0, square)); }

    static double sum_of_squares(const double* x, std::size_t n) {
        double sum = 0.0;
        for (std::size_t c = 0; c < n; ++c) sum += x[c] * x[c];
        return sum;
    }

    void look() {
        objects_.for_blocks(places_, [&](const Matrix& block, std::size_t first) {
            Matrix scores(block.n_rows(), judges_.n_columns());
            add_product(block, judges_, scores, work_);
            Matrix coordinates(block.n_rows(), first_.n_columns());
            add_product(block, axes_, coordinates, work_);
            for (std::size_t i = 0; i < block.n_rows(); ++i) {
                std::copy_n(scores.row(i), scores.n_columns(), scores_.row(first + i));
                std::copy_n(coordinates.row(i), first_.n_columns(), first_.row(first + i));
                const double square =
                    work_.loops.product(block.row(i), block.row(i), block.stride());
                lengths_[first + i] = std::sqrt(square);
                for (std::size_t c = 0; c < mean_.size(); ++c) {
                    mean_[c] += block.row(i)[c] / static_cast<double>(places_.size());
                }
            }
        });
    }

    // Adds what the axes from the next one to number `end` add to the bounds of an object.
    void add_axes(std::size_t i, const double* coordinates, std::size_t end) {
        const std::size_t n = end - n_seen_;
        work_.loops.add_row_sums({coordinates, 0, 1, judge_coordinates_.row(n_seen_),
                                  judge_coordinates_.stride(), n, bounds_.row(i), 0, 1,
                                  padded(judges_.n_columns())});
        rests_[i] -= sum_of_squares(coordinates, n);
    }

    void see_judges(std::size_t end) {
        for (std::size_t a = n_seen_; a < end; ++a) {
            for (std::size_t q = 0; q < judges_.n_columns(); ++q) {
                const double z = judge_coordinates_.row(a)[q];
                judge_rests_[q] -= z * z;
            }
        }
        n_seen_ = end;
    }

    const View& objects_;
    Places places_;
    const Matrix& axes_;
    const MatrixWork& work_;
    Matrix judges_;  // as columns
    Matrix judge_coordinates_;
    std::vector<double> judge_lengths_;
    std::vector<double> judge_rests_;  // squares of what the axes seen leave of the lengths
    Matrix scores_;                    // then what bounds have to reach
    Matrix first_;                     // coordinates on the first axes
    std::vector<double> lengths_;
    std::vector<double> rests_;
    std::vector<double> mean_;
    Matrix bounds_;  // from the axes seen, without the rests
    Places left_;
    std::size_t n_seen_ = 0;
};

}  // namespace fastmks::choosing
