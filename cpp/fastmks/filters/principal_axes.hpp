#pragma once

#include "fastmks/filters/axes_view.hpp"

namespace fastmks::choosing {

// All axes, as columns, those first along which the vectors at some places are longest.
[[nodiscard]] Matrix all_axes(const View& view, const Places& sample, const MatrixWork& work);

// Up to n of the first ones, for long vectors: about those, and no matrix has a row and a column
// for each column of the vectors. Fewer where the vectors reach no more dimensions, perhaps none.
[[nodiscard]] Matrix first_axes(const View& view, const Places& sample, std::size_t n,
                                const MatrixWork& work);

}  // namespace fastmks::choosing
