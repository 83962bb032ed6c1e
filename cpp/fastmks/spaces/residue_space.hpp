#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/core/space.hpp"
#include "fastmks/simd/alignment_loops.hpp"
#include "fastmks/spaces/scaled_float_space.hpp"
#include "fastmks/stores/runs.hpp"

namespace fastmks {

/// Strings over an alphabet of up to 255 letters, one after the other, over arrays that are not
/// copied: letters offsets[i] ... offsets[i + 1] are those of string i.
class ResidueStore : public Runs {
public:
    /// Throws std::invalid_argument for offsets that do not rise from 0 to n_residues.
    ResidueStore(const std::uint8_t* residues, std::size_t n_residues, const std::int64_t* offsets,
                 std::size_t n)
        : Runs(offsets, n, n_residues, "residues"), residues_(residues) {}

    [[nodiscard]] const std::uint8_t* begin(std::size_t i) const noexcept {
        return residues_ + offsets_[i];
    }
    /// Throws std::invalid_argument for a letter that is not below `n_letters`.
    void check_letters(std::size_t n_letters) const;

private:
    const std::uint8_t* residues_;
};

/// Scores of letters against each other, n_letters x n_letters, and costs of gaps: one of n letters
/// costs gap_open + gap_extend * (n - 1).
struct AlignmentKernel {
    std::vector<double> scores;
    std::size_t n_letters = 0;
    double gap_open = 0.0;
    double gap_extend = 0.0;

    bool operator==(const AlignmentKernel&) const = default;
};

/// The local alignment kernel of Saigo et al.: the sum of exp(beta * score) over all local
/// alignments of two strings, the empty one included.
class LocalAlignmentSpace final : public WideSpace {
public:
    LocalAlignmentSpace(std::shared_ptr<const ResidueStore> store, AlignmentKernel kernel,
                        double beta, WideForm form);

    /// No |beta * score| and no beta * cost may exceed this.
    static constexpr double largest_exponent = 64.0;

protected:
    Wide compute(const WideSpace& queries, std::size_t query, std::size_t object,
                 Scratch& scratch) const override;
    bool has_same_kernel(const WideSpace& queries) const noexcept override;

private:
    [[nodiscard]] double relative_error() const noexcept;

    std::shared_ptr<const ResidueStore> store_;
    AlignmentKernel kernel_;
    double beta_;
    std::vector<double> letters_;  // exp(beta * scores)
    double gap_open_, gap_extend_, greatest_;
    const AlignmentLoops& loops_;
};

/// The score of the best local alignment, with gaps (Smith and Waterman) or without (maximal
/// segment pair). Not Mercer.
class BestAlignmentSpace final : public Space, public UpperBounds {
public:
    BestAlignmentSpace(std::shared_ptr<const ResidueStore> store, AlignmentKernel kernel,
                       bool has_gaps, Isa isa);

    double self_value(std::size_t position) const override;
    bool accepts(const Space& queries) const noexcept override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;
    const UpperBounds* bounds() const noexcept override { return this; }
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override;

private:
    [[nodiscard]] double score(const BestAlignmentSpace& queries, std::size_t query,
                               std::size_t object, Scratch& scratch) const;
    [[nodiscard]] double bound(const BestAlignmentSpace& queries, std::size_t query,
                               std::size_t object) const;

    std::shared_ptr<const ResidueStore> store_;
    AlignmentKernel kernel_;
    bool has_gaps_;
    bool is_whole_;  // scores and costs are whole numbers below 2^20
    const AlignmentLoops& loops_;
    std::vector<std::int32_t> whole_;   // the scores then
    double greatest_ = 0.0;             // score
    std::vector<double> with_itself_;   // by letter: the most that a pair of this letter adds,
    std::vector<double> with_others_;   // and one with any other letter; at least 0
    std::vector<std::int32_t> counts_;  // n x n_letters
};

}  // namespace fastmks
