#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "fastmks/core/archive.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/space.hpp"
#include "fastmks/spaces/score_map.hpp"

namespace fastmks {

/// Some objects x in an orthonormal basis of a subspace. True lengths are these times
/// 2^exponents[i]: object i has the coordinates rows[i * dimension ...] up to an error vector of
/// length errors[i], a distance from the subspace of least_tails[i] to tails[i], and a length of at
/// most norms[i]. So, with z for exact coordinates,
///     <x, y> <= <z_x, z_y> + tail_x * tail_y.
struct Coordinates {
    std::size_t dimension = 0;
    std::vector<double> rows;
    std::vector<double> errors;
    std::vector<double> tails;
    std::vector<double> least_tails;
    std::vector<double> norms;
    std::vector<int> exponents;
    /// Kernel values that the coordinates came from, a row for each object; most come from none.
    std::vector<double> known;
    std::size_t evaluations = 0;       ///< of K(x, y), which the coordinates took
    std::size_t self_evaluations = 0;  ///< of K(x, x), which the lengths took

    [[nodiscard]] std::size_t size() const noexcept { return norms.size(); }
    void resize(std::size_t n, std::size_t n_dimensions);
};

/// The margins by which lengths are raised, to be bounds.
struct Margins {
    double up;        ///< more than any rounding of lengths
    double rounding;  ///< of a row to float32, as a share of its length
    double lost;      ///< to underflow
};
inline constexpr Margins usual_margins{float32_up, 0x1p-23, 1e-36};

/// The coordinates of n objects in float32 and in one unit: true lengths are these times
/// 2^exponent. Lengths err above, least_tails below.
struct ObjectRows {
    /// `project` gives the coordinates of objects [begin, end), `step` at a time. Progress is
    /// counted in objects.
    ObjectRows(std::size_t n, std::size_t n_dimensions, const Margins& of_lengths, std::size_t step,
               std::size_t threads, const Watch& watch,
               const std::function<void(std::size_t, std::size_t, Coordinates&)>& project);
    [[nodiscard]] float* row(std::size_t i) noexcept { return numbers.data() + i * dimension; }
    [[nodiscard]] const float* row(std::size_t i) const noexcept {
        return numbers.data() + i * dimension;
    }
    Margins margins;
    std::size_t dimension;
    int exponent = 0;
    double norm = 0.0;  ///< the greatest that is finite
    std::vector<float> numbers;
    std::vector<float> tails;
    std::vector<float> least_tails;
    std::vector<double> errors;
    std::vector<double> norms;
};

/// Puts the objects of a space, and queries like them, into a few coordinates that bound their
/// scores.
class Projection {
public:
    virtual ~Projection() = default;
    [[nodiscard]] virtual std::size_t dimension() const noexcept = 0;
    /// Whether the scores bounded are -|x - y|^2 / 2 rather than <x, y>.
    [[nodiscard]] virtual bool is_distance() const noexcept = 0;
    /// Multiply-adds that the coordinates of an object cost, beside kernel evaluations.
    [[nodiscard]] virtual std::size_t operations() const noexcept = 0;
    /// The coordinates of objects [begin, end) of a space.
    virtual void project(const Space& objects, std::size_t begin, std::size_t end,
                         Coordinates& out) const = 0;
    /// As ScoreMap::scores_below, for values between the objects and the queries of two spaces.
    [[nodiscard]] virtual ScoreRange scores_below(const Space& objects, const Space& queries,
                                                  double value, double largest) const = 0;
    /// As ScoreMap::value_from, likewise, for objects and queries that are not zero.
    [[nodiscard]] virtual double value_from(const Space& objects, double score,
                                            double largest) const;
};

/// Vectors on given axes, for spaces whose values follow a score of vectors.
class AxisProjection final : public Projection {
public:
    /// `axes` holds n_axes rows of n_columns numbers, as padded_rows() has them, that are
    /// orthonormal to about 1e-8; throws std::invalid_argument where they are not. Distances are
    /// measured from `origin`. Cosines are bounded through the distances of unit vectors where
    /// there is an origin, which is sharper for vectors close to each other; it is empty for
    /// products.
    AxisProjection(ScoreKind kind, std::vector<double> axes, std::size_t n_axes,
                   std::size_t n_columns, std::vector<double> origin, Isa isa);

    /// The projection of the score of `objects` with these parts.
    AxisProjection(const Space& objects, const ArrayReader& reader);
    /// Adds its parts, in copies.
    void describe(ArrayWriter& writer) const;

    [[nodiscard]] const double* axis(std::size_t i) const noexcept { return axis_rows_[i]; }
    [[nodiscard]] std::size_t n_columns() const noexcept { return n_columns_; }
    [[nodiscard]] const std::vector<double>& origin() const noexcept { return origin_; }

    std::size_t dimension() const noexcept override { return n_axes_; }
    bool is_distance() const noexcept override { return !origin_.empty(); }
    std::size_t operations() const noexcept override { return n_axes_ * n_columns_; }
    void project(const Space& objects, std::size_t begin, std::size_t end,
                 Coordinates& out) const override;
    /// As project(), at more cost with closer tails: of what the axes leave of a row, instead of a
    /// difference of squares.
    void project_closely(const Space& objects, std::size_t begin, std::size_t end,
                         Coordinates& out) const;
    ScoreRange scores_below(const Space& objects, const Space& queries, double value,
                            double largest) const override;
    double value_from(const Space& objects, double score, double largest) const override;

private:
    struct Parts;
    AxisProjection(const Space& objects, const Parts& parts);
    int scale(double* row) const;
    [[nodiscard]] double length(const double* row) const;
    void measure(double* row, std::size_t i, Coordinates& out) const;
    void multiply(const double* rows, std::size_t n, double* out) const;
    void project_rows(const Space& objects, std::size_t begin, std::size_t end, bool is_close,
                      Coordinates& out) const;
    void bound_tail(const double* row, std::size_t i, Coordinates& out) const;

    ScoreKind kind_;
    std::size_t n_axes_;
    std::size_t n_columns_;
    std::vector<double> axes_;  // rows of padded(n_columns) numbers
    std::vector<const double*> axis_rows_;
    std::vector<double> origin_;
    double defect_;  // what the axes lack of being orthonormal
    const VectorLoops& loops_;
};

/// Rows of n_columns numbers with zeros behind each, up to padded(n_columns).
[[nodiscard]] std::vector<double> padded_rows(const double* rows, std::size_t n_rows,
                                              std::size_t n_columns);

/// At least the distance, in the norm of operators, between the Gram matrix of some padded rows and
/// the identity.
[[nodiscard]] double orthonormality_defect(const std::vector<double>& rows, std::size_t n_rows,
                                           std::size_t n_columns, Isa isa);

}  // namespace fastmks
