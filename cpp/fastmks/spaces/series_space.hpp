#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/simd/alignment_loops.hpp"
#include "fastmks/spaces/scaled_float_space.hpp"
#include "fastmks/stores/runs.hpp"

namespace fastmks {

/// Series of the same number of channels and any length, over arrays that are not copied: series i
/// has offsets[i + 1] - offsets[i] times, and its numbers begin at offsets[i] * n_channels, one
/// channel after the other.
class SeriesStore : public Runs {
public:
    /// Throws std::invalid_argument for offsets that do not rise from 0 to the number of times.
    SeriesStore(const double* values, std::size_t n_values, const std::int64_t* offsets,
                std::size_t n, std::size_t n_channels);

    [[nodiscard]] std::size_t n_channels() const noexcept { return n_channels_; }
    [[nodiscard]] const double* begin(std::size_t i) const noexcept {
        return values_ + static_cast<std::size_t>(offsets_[i]) * n_channels_;
    }

private:
    const double* values_;
    std::size_t n_channels_;
};

/// The global alignment kernel of Cuturi: the sum over all alignments of two series of the product
/// of v / (2 - v), v = (1 - |i - j| / triangular) exp(-|x_i - y_j|^2 / (2 bandwidth^2)).
class GlobalAlignmentSpace final : public WideSpace {
public:
    /// `triangular` = 0: every pair of times weighs 1.
    GlobalAlignmentSpace(std::shared_ptr<const SeriesStore> store, double bandwidth,
                         std::size_t triangular, WideForm form);

protected:
    Wide compute(const WideSpace& queries, std::size_t query, std::size_t object,
                 Scratch& scratch) const override;
    bool has_same_kernel(const WideSpace& queries) const noexcept override;

private:
    [[nodiscard]] double relative_error() const noexcept;

    std::shared_ptr<const SeriesStore> store_;
    double bandwidth_;
    std::size_t triangular_;
    std::vector<double> weights_;  // of |i - j|
    const AlignmentLoops& loops_;
};

}  // namespace fastmks
