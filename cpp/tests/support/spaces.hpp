#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "fastmks/core/space.hpp"
#include "tests/support/numbers.hpp"

namespace fastmks::test {

/// A space with any values: kernel(query, object), by position.
class TableSpace final : public Space, public UpperBounds {
public:
    using Kernel = std::function<double(std::size_t, std::size_t)>;

    TableSpace(std::size_t n, Kernel kernel, Symmetry symmetry = Symmetry::unknown)
        : Space({.size = n,
                 .isa = available_isas().back(),
                 .rounding = {0.0, 0.0},
                 .symmetry = symmetry}),
          kernel_(std::move(kernel)) {}
    TableSpace(TableSpace&& other) noexcept
        : Space(other.facts()), bound(std::move(other.bound)), kernel_(std::move(other.kernel_)) {}

    double self_value(std::size_t position) const override { return kernel_(position, position); }
    bool is_zero(std::size_t position) const override { return self_value(position) == 0.0; }
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        before_evaluate();
        fill(kernel_, queries, objects, out, stride);
        n_evaluations += queries.size * objects.size;
    }
    const UpperBounds* bounds() const noexcept override { return bound ? this : nullptr; }
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override {
        fill(bound, queries, objects, out, stride);
    }

    std::function<void()> before_evaluate = [] {};
    Kernel bound;  // of values, from above; none when empty
    mutable std::atomic<std::size_t> n_evaluations{0};

private:
    static void fill(const Kernel& kernel, const QueryBatch& queries, Selection objects,
                     double* out, std::size_t stride) {
        for (std::size_t i = 0; i < queries.size; ++i) {
            for (std::size_t j = 0; j < objects.size; ++j) {
                out[i * stride + j] = kernel(queries.begin + i, objects[j]);
            }
        }
    }

    Kernel kernel_;
};

/// Every value of every query and object.
inline std::vector<double> all_values(const Space& objects, const Space& queries) {
    std::vector<double> out(queries.size() * objects.size());
    objects.values(*queries.batch(0, queries.size()), Selection::range(0, objects.size()),
                   out.data());
    return out;
}

}  // namespace fastmks::test
