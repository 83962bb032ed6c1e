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
class TableSpace final : public Space {
public:
    using Kernel = std::function<double(std::size_t, std::size_t)>;

    TableSpace(std::size_t n, Kernel kernel) : n_(n), kernel_(std::move(kernel)) {}
    TableSpace(TableSpace&& other) noexcept
        : bound(std::move(other.bound)), n_(other.n_), kernel_(std::move(other.kernel_)) {}

    std::size_t size() const noexcept override { return n_; }
    Rounding rounding() const noexcept override { return {0.0, 0.0}; }
    double largest_self_value() const noexcept override { return infinity; }
    double self_value(std::size_t position) const override { return kernel_(position, position); }
    bool is_zero(std::size_t position) const override { return self_value(position) == 0.0; }
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override {
        return std::make_unique<QueryBatch>(begin, end);
    }
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        before_evaluate();
        for (std::size_t i = 0; i < queries.size; ++i) {
            for (std::size_t j = 0; j < objects.size; ++j) {
                out[i * stride + j] = kernel_(queries.begin + i, objects[j]);
            }
        }
        n_evaluations += queries.size * objects.size;
    }
    Isa isa() const noexcept override { return available_isas().back(); }
    bool has_bounds() const noexcept override { return bound != nullptr; }
    void bounds(const QueryBatch& queries, Selection objects, double* out,
                std::size_t stride) const override {
        if (!bound) return Space::bounds(queries, objects, out, stride);
        for (std::size_t i = 0; i < queries.size; ++i) {
            for (std::size_t j = 0; j < objects.size; ++j) {
                out[i * stride + j] = bound(queries.begin + i, objects[j]);
            }
        }
    }

    std::function<void()> before_evaluate = [] {};
    Kernel bound;  // of values, from above; none when empty
    mutable std::atomic<std::size_t> n_evaluations{0};

private:
    std::size_t n_;
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
