// The rounding errors of the vector forms. docs/how-it-works/numerics.md derives each line.

#include <cmath>

#include "fastmks/spaces/vector_space.hpp"

namespace fastmks {
namespace {

// exp(t) with |t| known to a share `error`: exp(t) overflows beyond this.
constexpr double largest_exponent = 710.0;

Rounding polynomial_rounding(const VectorKernel& kernel, double product, double lost) {
    if (kernel.offset < 0.0) return {HUGE_VAL, HUGE_VAL};
    const double degree = kernel.degree;
    const double base = product + 3 * roundoff;
    const double from_lost = degree * kernel.scale * lost;
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

}  // namespace

Rounding VectorSpace::rounding() const noexcept {
    const auto terms = static_cast<double>(store_->longest_sum());
    const double product = share_lost(terms + 3) + roundoff;
    const double lost = terms * static_cast<double>(n_lanes) * underflow;
    switch (kernel_.form) {
        case VectorForm::linear:
            if (store_->has_exact_products()) return {0.0, 0.0};
            return {product, lost};
        case VectorForm::polynomial:
            return polynomial_rounding(kernel_, product, lost);
        case VectorForm::exponential:
            return {std::expm1(largest_exponent * (product + 2 * roundoff) + kernel_.scale * lost) +
                        4 * roundoff,
                    0.0};
        case VectorForm::cosine:
            return {2 * product + 5 * roundoff, 0.0};
        case VectorForm::tanh:  // not Mercer: K(x, x) says nothing about K(x, y)
            return {HUGE_VAL, HUGE_VAL};
        case VectorForm::gaussian:
        case VectorForm::laplacian:
        case VectorForm::epanechnikov:
        case VectorForm::triangular:
        case VectorForm::spherical:
            break;
    }
    const auto columns = static_cast<double>(padded(store_->n_columns()) / n_lanes);
    return {share_lost(columns + 16), 0.0};
}

}  // namespace fastmks
