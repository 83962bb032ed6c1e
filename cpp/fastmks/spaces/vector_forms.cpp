// The vector kernels: a record for each. docs/developers/add-a-kernel.md shows how to add one.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "fastmks/spaces/vector_form.hpp"

namespace fastmks {
namespace {

// exp(t) overflows beyond this.
constexpr double largest_exponent = 710.0;

// The rounding of a product of two vectors, as a share of their lengths.
double product_share(ScoreSum sum) {
    return share_lost(sum.terms + 3) + roundoff;
}

// And by underflow.
double product_lost(ScoreSum sum) {
    return sum.terms * static_cast<double>(n_lanes) * underflow;
}

Rounding distance_rounding(const VectorKernel&, ScoreSum sum) {
    return {share_lost(sum.terms + 16), 0.0};
}

Rounding polynomial_rounding(const VectorKernel& kernel, ScoreSum sum) {
    if (kernel.offset < 0.0) return {HUGE_VAL, HUGE_VAL};
    const double degree = kernel.degree;
    const double base = product_share(sum) + 3 * roundoff;
    const double from_lost = degree * kernel.scale * product_lost(sum);
    Rounding rounding{std::expm1(degree * (base + roundoff)) + from_lost,
                      from_lost + 2 * degree * underflow};
    // K(x, x) is at least offset^degree, so what underflow loses is a share of it.
    const double least = std::pow(kernel.offset, degree) * 0.5;
    if (least > 0x1p-900) {
        rounding.relative += rounding.absolute / least;
        rounding.absolute = 0.0;
    }
    return rounding;
}

bool always(const VectorKernel&) {
    return true;
}

bool without_offset(const VectorKernel& kernel) {
    return kernel.offset == 0.0;
}

// The s that v = scale * s + offset comes from.
double product_of(const VectorKernel& kernel, double v) {
    return (v - kernel.offset) / kernel.scale;
}

// The score of a distance, given as a multiple of the bandwidth.
double score_of_ratio(const VectorKernel& kernel, double ratio) {
    return -0.5 * (ratio * kernel.bandwidth) * (ratio * kernel.bandwidth);
}

// Comparisons here and below are written so that NaN stays NaN: Space::values must see it.
void cut_at_zero(double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values[i] = values[i] < 0.0 ? 0.0 : values[i];
}

constexpr VectorForm forms[] = {
    {.name = "linear",
     .score = ScoreKind::product,
     .rounding =
         [](const VectorKernel&, ScoreSum sum) {
             return sum.is_exact ? Rounding{0.0, 0.0}
                                 : Rounding{product_share(sum), product_lost(sum)};
         },
     .vanishes = always,
     .largest_self_value = HUGE_VAL,
     .least_value = -HUGE_VAL,
     .keeps_order = true},

    // (scale * s + offset)^degree
    {.name = "polynomial",
     .score = ScoreKind::product,
     .rounding = polynomial_rounding,
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             loops.affine(values, n, kernel.scale, kernel.offset);
             loops.power(values, n, kernel.degree);
         },
     .score_near =
         [](const VectorKernel& kernel, double value) {
             const double root = std::pow(std::abs(value), 1.0 / kernel.degree);
             return product_of(kernel, std::copysign(root, value));
         },
     .vanishes = without_offset,
     .largest_self_value = HUGE_VAL,
     .least_value = -HUGE_VAL,
     .keeps_order = true,
     .is_power = true},

    // tanh(scale * s + offset); not Mercer, so K(x, x) says nothing about K(x, y)
    {.name = "tanh",
     .score = ScoreKind::product,
     .rounding = [](const VectorKernel&, ScoreSum) { return Rounding{HUGE_VAL, HUGE_VAL}; },
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             loops.affine(values, n, kernel.scale, kernel.offset);
             loops.hyperbolic_tangent(values, n);
         },
     .score_near = [](const VectorKernel& kernel,
                      double value) { return product_of(kernel, std::atanh(value)); },
     .vanishes = without_offset,
     .least_value = -HUGE_VAL},

    // exp(scale * s)
    {.name = "exponential",
     .score = ScoreKind::product,
     .rounding =
         [](const VectorKernel& kernel, ScoreSum sum) {
             const double lost = kernel.scale * product_lost(sum);
             const double share = product_share(sum) + 2 * roundoff;
             return Rounding{std::expm1(largest_exponent * share + lost) + 4 * roundoff, 0.0};
         },
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             loops.affine(values, n, kernel.scale, 0.0);
             loops.exponential(values, n);
         },
     .score_near = [](const VectorKernel& kernel,
                      double value) { return std::log(value) / kernel.scale; },
     .largest_self_value = HUGE_VAL},

    // s / (|x| |y|), 0 for a zero vector: VectorSpace divides
    {.name = "cosine",
     .score = ScoreKind::cosine,
     .rounding = [](const VectorKernel&,
                    ScoreSum sum) { return Rounding{2 * product_share(sum) + 5 * roundoff, 0.0}; },
     .vanishes = always,
     .least_value = -HUGE_VAL,
     .keeps_order = true},

    // exp(-d^2 / (2 bandwidth^2))
    {.name = "gaussian",
     .score = ScoreKind::distance,
     .rounding = distance_rounding,
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             loops.affine(values, n, -0.5 / (kernel.bandwidth * kernel.bandwidth), 0.0);
             loops.exponential(values, n);
         },
     .score_near =
         [](const VectorKernel& kernel, double value) {
             return std::log(value) * kernel.bandwidth * kernel.bandwidth;
         }},

    // exp(-d / bandwidth)
    {.name = "laplacian",
     .score = ScoreKind::distance,
     .rounding = distance_rounding,
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             loops.square_root(values, n);
             loops.affine(values, n, -1.0 / kernel.bandwidth, 0.0);
             loops.exponential(values, n);
         },
     .score_near = [](const VectorKernel& kernel,
                      double value) { return score_of_ratio(kernel, std::log(value)); }},

    // max(0, 1 - d^2 / bandwidth^2)
    {.name = "epanechnikov",
     .score = ScoreKind::distance,
     .rounding = distance_rounding,
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             loops.affine(values, n, -1.0 / (kernel.bandwidth * kernel.bandwidth), 1.0);
             cut_at_zero(values, n);
         },
     .score_near =
         [](const VectorKernel& kernel, double value) {
             return -0.5 * (1.0 - value) * kernel.bandwidth * kernel.bandwidth;
         }},

    // max(0, 1 - d / bandwidth)
    {.name = "triangular",
     .score = ScoreKind::distance,
     .rounding = distance_rounding,
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             loops.square_root(values, n);
             loops.affine(values, n, -1.0 / kernel.bandwidth, 1.0);
             cut_at_zero(values, n);
         },
     .score_near = [](const VectorKernel& kernel,
                      double value) { return score_of_ratio(kernel, 1.0 - value); }},

    // (1 - h)^2 (1 + h / 2) with h = min(1, d / bandwidth)
    {.name = "spherical",
     .score = ScoreKind::distance,
     .rounding = distance_rounding,
     .map =
         [](const VectorKernel& kernel, const VectorLoops& loops, double* values, std::size_t n) {
             const double bandwidth = kernel.bandwidth;
             loops.square_root(values, n);
             for (std::size_t i = 0; i < n; ++i) {
                 const double ratio = values[i] / bandwidth;
                 const double h = ratio > 1.0 ? 1.0 : ratio;
                 const double rest = 1.0 - h;
                 values[i] = (rest * rest) * (1.0 + 0.5 * h);
             }
         }},
};

}  // namespace

const VectorForm& vector_form(const std::string& name) {
    const auto* found = std::find_if(std::begin(forms), std::end(forms),
                                     [&](const VectorForm& form) { return form.name == name; });
    if (found == std::end(forms)) throw std::invalid_argument("no such vector kernel: " + name);
    return *found;
}

}  // namespace fastmks
