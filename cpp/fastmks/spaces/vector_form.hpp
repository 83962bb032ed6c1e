#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "fastmks/core/rounding.hpp"
#include "fastmks/simd/vector_loops.hpp"
#include "fastmks/spaces/score_map.hpp"

namespace fastmks {

/// A kernel between vectors: the name of its form, and parameters. Those that the form does not use
/// are ignored.
struct VectorKernel {
    std::string form = "linear";
    unsigned degree = 1;
    double scale = 1.0;
    double offset = 0.0;
    double bandwidth = 1.0;

    bool operator==(const VectorKernel&) const = default;
};

/// The sum that a score is computed from.
struct ScoreSum {
    double terms;   ///< that a lane adds up, at most
    bool is_exact;  ///< since all products and sums are whole numbers
};

/// The facts of a form. All records are in vector_forms.cpp; the defaults are those of most
/// functions of the distance. `values` are s = <x, y> or d^2 = |x - y|^2 at first, and the kernel's
/// in the end.
struct VectorForm {
    const char* name;
    ScoreKind score;
    /// docs/how-it-works/proofs/rounding.md derives each.
    Rounding (*rounding)(const VectorKernel& kernel, ScoreSum sum);
    /// None where the values are the scores themselves.
    void (*map)(const VectorKernel& kernel, const VectorLoops& loops, double* values,
                std::size_t n) = nullptr;
    /// A guess at the score that has a value: it saves time, and nothing rests on it.
    double (*score_near)(const VectorKernel& kernel, double value) = nullptr;
    /// Whether K = 0 where s = 0.
    bool (*vanishes)(const VectorKernel& kernel) = [](const VectorKernel&) { return false; };
    double largest_self_value = 1.0;
    double least_value = 0.0;
    /// Whether rounded values keep the order of the scores: products and sums do, and
    /// approximations of exp or of a root may not.
    bool keeps_order = false;
    /// Whether values are (scale * s + offset)^degree, which for even degrees grows on both sides.
    bool is_power = false;
};

/// The form of that name; throws std::invalid_argument for any other name.
[[nodiscard]] const VectorForm& vector_form(const std::string& name);

}  // namespace fastmks
