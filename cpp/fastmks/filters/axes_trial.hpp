#pragma once

#include "fastmks/filters/axes_view.hpp"

namespace fastmks::choosing {

// Sampled queries, the judges, and sampled objects: how many of these would bounds on some axes
// leave to be evaluated?
class Trial {
public:
    // The axes are columns.
    Trial(const View& queries, const Places& asked, const View& objects, Places looked_at,
          const Matrix& axes, const MatrixWork& work);

    // About the share of n objects that lies in leaves that a query has to scan.
    [[nodiscard]] double share_looked_into(std::size_t n_objects) const;

    // Takes the score of the hit of some rank, about, as what a bound has to reach.
    void set_rank(std::size_t rank);

    // The share of pairs that bounds on the first m axes leave; after set_rank(), for greater and
    // greater m.
    [[nodiscard]] double share_left(std::size_t m);

private:
    void look();
    void add_axes(std::size_t i, const double* coordinates, std::size_t end);
    void see_judges(std::size_t end);

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
