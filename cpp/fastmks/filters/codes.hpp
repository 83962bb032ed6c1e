#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fastmks/core/answers.hpp"
#include "fastmks/core/archive.hpp"
#include "fastmks/core/array.hpp"
#include "fastmks/core/parallel.hpp"
#include "fastmks/core/stop_rule.hpp"
#include "fastmks/filters/bound_counts.hpp"
#include "fastmks/filters/own_bounds.hpp"
#include "fastmks/filters/projection.hpp"
#include "fastmks/simd/code_loops.hpp"

namespace fastmks {

/// Figures about the codes of one leaf. Lengths are in units of the code table and err above. In
/// files: 28 bytes, the members in this order.
struct Leaf {
    float scale;       ///< of the codes
    float code_norm;   ///< of the longest coded difference
    float code_error;  ///< of the greatest difference between an object and its code
    float radius;      ///< of the objects' coordinates around the centre
    float length;      ///< of the centre, and the radius
    float tail;        ///< the greatest
    float error;       ///< the greatest, of the coordinates
};
static_assert(sizeof(Leaf) == 28);

/// The position in places of a leaf without an object.
inline constexpr std::uint32_t no_object = std::numeric_limits<std::uint32_t>::max();

/// Boxes and balls around objects' coordinates, in groups of group_size.
struct Boxes {
    /// Makes room for n_groups groups.
    void resize(std::size_t n_groups, std::size_t n_dimensions);
    /// Throws std::invalid_argument unless these can be boxes of n_groups groups, called `name`.
    void check(const std::string& name, std::size_t n_groups) const;
    [[nodiscard]] LeafGroup group(std::size_t index) const noexcept;
    [[nodiscard]] std::size_t n_bytes() const noexcept;
    /// Where coordinate c of a box lies in `centres` and `halves`.
    [[nodiscard]] std::size_t at(std::size_t box, std::size_t c) const noexcept {
        return (box / group_size * dimension + c) * group_size + box % group_size;
    }

    std::size_t dimension = 0;
    Array<float> centres;
    Array<float> halves;
    Array<float> radii;
    Array<float> lengths;
    Array<float> greatest_tails;
    Array<float> least_tails;
};

/// Objects in 8-bit codes that bound their scores: coordinates on a few axes, rounded to whole
/// multiples of a scale around the centre of a leaf of up to 256 objects that lie close to each
/// other. Immutable once built. docs/how-it-works/proofs/codes.md derives the bounds.
class CodeTable {
public:
    /// Throws CoordinateFault for coordinates that are not finite.
    CodeTable(const Space& objects, std::shared_ptr<const Projection> projection,
              std::size_t threads, const Watch& watch);
    /// The code table of `objects` with these parts, its projection among them. Throws
    /// std::invalid_argument for parts that are no code table of such objects.
    CodeTable(const Space& objects, const Arrays& arrays);

    /// The figure that does not bound the objects, on these axes and in these leaves; empty for
    /// none. Figures may have been raised by more or less than they are today, so they are compared
    /// with the least that rounding allows. Progress is counted in objects, each twice. Throws as
    /// the constructor does, and std::invalid_argument as arrays() does.
    [[nodiscard]] std::string find_fault(const Space& objects, std::size_t threads,
                                         const Watch& watch) const;

    /// The parts of this, for as long as it lasts. Throws std::invalid_argument for a projection
    /// that is not on axes.
    [[nodiscard]] Arrays arrays() const;

    [[nodiscard]] std::size_t size() const noexcept { return n_objects_; }
    [[nodiscard]] std::size_t n_leaves() const noexcept { return leaves_.size(); }
    [[nodiscard]] std::size_t n_bytes() const noexcept;
    [[nodiscard]] const Projection& projection() const noexcept { return *projection_; }
    /// The projection if it is on axes, otherwise null.
    [[nodiscard]] std::shared_ptr<const AxisProjection> axes() const {
        return std::dynamic_pointer_cast<const AxisProjection>(projection_);
    }
    [[nodiscard]] std::size_t dimension() const noexcept { return dimension_; }
    [[nodiscard]] std::size_t n_words() const noexcept { return n_words_; }
    /// Lengths of the code table are true ones times 2^-exponent.
    [[nodiscard]] int exponent() const noexcept { return exponent_; }
    /// Whether some object is zero.
    [[nodiscard]] bool has_zeros() const noexcept { return has_zeros_; }
    /// The greatest length of an object.
    [[nodiscard]] double norm() const noexcept { return norm_; }

    [[nodiscard]] const Leaf& leaf(std::size_t i) const noexcept { return leaves_[i]; }
    [[nodiscard]] CodeBlock block(std::size_t leaf) const noexcept;
    [[nodiscard]] std::size_t leaf_objects(std::size_t leaf) const noexcept;
    /// Positions of the objects of a leaf in the space.
    [[nodiscard]] const std::uint32_t* positions(std::size_t leaf) const noexcept {
        return positions_.data() + leaf * leaf_size;
    }
    [[nodiscard]] std::size_t n_leaf_groups() const noexcept {
        return (n_leaves() + group_size - 1) / group_size;
    }
    /// The boxes of the leaves.
    [[nodiscard]] const Boxes& boxes() const noexcept { return boxes_; }
    /// One box around each group of leaves; none where leaves are few enough to bound all.
    [[nodiscard]] const Boxes& group_boxes() const noexcept { return group_boxes_; }
    /// Coordinates of a query or centre in one piece, zeros up to whole registers.
    [[nodiscard]] std::size_t n_padded() const noexcept {
        return (dimension_ + group_size - 1) / group_size * group_size;
    }
    /// A leaf's centre in one piece; only for distances.
    [[nodiscard]] const float* centre(std::size_t leaf) const noexcept {
        return whole_centres_.data() + leaf * n_padded();
    }

private:
    CodeTable(const Space& objects, std::shared_ptr<const Projection> projection);
    template <class Self, class Visit>
    static void describe(Self& self, Visit& visit);
    void check() const;
    static constexpr std::size_t objects_per_task = 1024;
    void take(const Space& objects, const ObjectRows& rows);
    void code(const ObjectRows& rows, std::size_t threads, const Watch& watch);
    void enclose_groups();
    /// The number of boxes of groups of leaves, padded; 0 where leaves are few.
    [[nodiscard]] std::size_t n_box_groups() const noexcept;
    void order(const ObjectRows& rows, std::size_t threads, const Watch& watch);
    void code_leaf(std::size_t leaf, const ObjectRows& rows);
    void enclose_group(std::size_t group);
    void write_codes(std::size_t leaf, const std::vector<double>& differences, double up);
    [[nodiscard]] std::size_t first_line(std::size_t leaf) const noexcept {
        return leaf * (leaf_size / group_size) * n_words_;
    }

    std::shared_ptr<const Projection> projection_;
    std::size_t n_objects_;
    std::size_t dimension_;
    std::size_t n_words_;
    int exponent_ = 0;
    double norm_ = 0.0;
    bool has_zeros_ = false;
    Array<Leaf> leaves_;
    Array<std::uint32_t> positions_;
    Array<CodeLine> codes_;
    Array<float> tails_;
    Array<float> extras_;
    Boxes boxes_;
    Boxes group_boxes_;
    Array<float> whole_centres_;
};

/// As own_bounds_top_k, for the space of the code table, with bounds on scores.
BoundCounts codes_top_k(const ScanProblem& problem, const CodeTable& table, std::size_t k,
                        std::size_t threads, const Watch& watch, double* values,
                        std::int64_t* positions);

/// The same as far as a rule allows, with what may have been missed.
BoundCounts codes_approximate_top_k(const ScanProblem& problem, const CodeTable& table,
                                    std::size_t k, const StopRule& stop, std::size_t threads,
                                    const Watch& watch, TopKAnswers answers);

/// As own_bounds_above.
BoundCounts codes_above(const ScanProblem& problem, const CodeTable& table,
                        const double* thresholds, std::size_t threads, const Watch& watch,
                        std::vector<std::vector<Hit>>& answers);

}  // namespace fastmks
