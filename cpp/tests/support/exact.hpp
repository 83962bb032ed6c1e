#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "fastmks/spaces/vector_space.hpp"
#include "tests/support/numbers.hpp"

namespace fastmks::test {

inline long double exact_product(const double* x, const double* y, std::size_t n) {
    long double sum = 0.0L;
    for (std::size_t c = 0; c < n; ++c) sum += static_cast<long double>(x[c]) * y[c];
    return sum;
}

inline long double exact_distance(const double* x, const double* y, std::size_t n) {
    long double sum = 0.0L;
    for (std::size_t c = 0; c < n; ++c) {
        const long double difference = static_cast<long double>(x[c]) - y[c];
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

/// The formula of a kernel in long double, which has digits and exponents to spare.
inline long double exact_value(const VectorKernel& kernel, const double* x, const double* y,
                               std::size_t n) {
    const long double s = exact_product(x, y, n);
    const long double affine = s * kernel.scale + kernel.offset;
    const long double h = exact_distance(x, y, n) / kernel.bandwidth;
    if (kernel.form == "linear") return s;
    if (kernel.form == "polynomial") return std::pow(affine, static_cast<int>(kernel.degree));
    if (kernel.form == "tanh") return std::tanh(affine);
    if (kernel.form == "exponential") return std::exp(s * kernel.scale);
    if (kernel.form == "gaussian") return std::exp(-h * h / 2);
    if (kernel.form == "laplacian") return std::exp(-h);
    if (kernel.form == "epanechnikov") return std::max(0.0L, 1 - h * h);
    if (kernel.form == "triangular") return std::max(0.0L, 1 - h);
    if (kernel.form == "spherical") return h < 1 ? 1 - 1.5L * h + 0.5L * h * h * h : 0.0L;
    if (kernel.form != "cosine") throw std::invalid_argument(kernel.form);
    const long double norms = std::sqrt(exact_product(x, x, n)) * std::sqrt(exact_product(y, y, n));
    return norms == 0.0L ? 0.0L : s / norms;
}

inline constexpr const char* distance_forms[] = {"gaussian", "laplacian", "epanechnikov",
                                                 "triangular", "spherical"};

inline VectorKernel distance_kernel(const std::string& form, double bandwidth) {
    return {.form = form, .bandwidth = bandwidth};
}

/// Every form, with parameters on both sides of their defaults.
inline std::vector<VectorKernel> all_kernels() {
    std::vector<VectorKernel> kernels{{}};
    for (const unsigned degree : {1u, 2u, 3u, 10u}) {
        for (const double scale : {1.0, 0.3}) {
            for (const double offset : {0.0, 1.0, 0.1}) {
                kernels.push_back({"polynomial", degree, scale, offset, 1.0});
            }
        }
    }
    kernels.push_back({"tanh", 1, 1.0, 0.0, 1.0});
    kernels.push_back({"tanh", 1, 0.1, -0.2, 1.0});
    kernels.push_back({"exponential", 1, 1.0, 0.0, 1.0});
    kernels.push_back({"exponential", 1, 0.05, 7.0, 1.0});  // offset is not its business
    kernels.push_back({"cosine", 1, 1.0, 0.0, 1.0});
    for (const std::string form : distance_forms) {
        for (const double bandwidth : {0.3, 1.0, 4.7, 30.0}) {
            kernels.push_back(distance_kernel(form, bandwidth));
        }
    }
    return kernels;
}

/// Whether a value is within the limits of Rounding, given the exact self values.
inline bool within(Rounding rounding, double value, long double exact, long double self_x,
                   long double self_y) {
    const long double limit =
        rounding.relative * std::sqrt(self_x) * std::sqrt(self_y) + rounding.absolute;
    return std::fabs(value - exact) <= limit;
}

}  // namespace fastmks::test
