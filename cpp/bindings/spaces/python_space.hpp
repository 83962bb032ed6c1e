#pragma once

#include <atomic>

#include "bindings/bindings.hpp"

#include "fastmks/core/space.hpp"

namespace fastmks::bindings {

/// A function of the user in two forms: (x, y) -> value, and (x, ys) -> values, which is
/// preferred. Both borrowed, either may be absent.
struct PythonFunction {
    nanobind::handle pair;
    nanobind::handle block;

    [[nodiscard]] bool exists() const noexcept { return pair.is_valid() || block.is_valid(); }
    bool operator==(const PythonFunction& other) const noexcept {
        return pair.ptr() == other.pair.ptr() && block.ptr() == other.block.ptr();
    }
};

/// Python objects under a function written in Python: the only space that needs the GIL, which it
/// takes for each block. One thread at a time.
///
/// The space owns nothing: `calls`, a `fastmks.stores.python.Calls`, holds the objects and the
/// functions, and the space has a weak reference to it. So the garbage collector sees every
/// reference, and an index whose function refers back to it can be freed.
class PythonSpace final : public Space, public UpperBounds {
public:
    PythonSpace(nanobind::handle calls, StatedFacts stated, Isa isa);
    ~PythonSpace() override;
    PythonSpace(const PythonSpace&) = delete;
    PythonSpace& operator=(const PythonSpace&) = delete;

    double self_value(std::size_t position) const override;
    std::size_t self_evaluations(std::size_t position) const noexcept override;
    bool is_zero(std::size_t position) const override;
    bool accepts(const Space& queries) const noexcept override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;
    const UpperBounds* bounds() const noexcept override { return bound_.exists() ? this : nullptr; }
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override;

private:
    [[nodiscard]] nanobind::object held() const;
    [[nodiscard]] nanobind::object item(std::size_t position) const;
    [[nodiscard]] nanobind::object items(Selection objects) const;
    void call(const PythonFunction& function, const QueryBatch& queries, Selection objects,
              double* out, std::size_t stride) const;
    [[nodiscard]] bool ask_workers(const QueryBatch& queries, Selection objects, double* out,
                                   std::size_t stride) const;
    void note_cost(double seconds) const;
    void call_here(const PythonFunction& function, const QueryBatch& queries, Selection objects,
                   double* out, std::size_t stride) const;
    void call_pairs(WithGil& with_gil, const PythonFunction& function, nanobind::handle x,
                    std::size_t query, Selection objects, double* out) const;
    void call_self_block(std::size_t position) const;
    [[nodiscard]] double call_self(std::size_t position) const;
    [[nodiscard]] double number(nanobind::handle returned, std::size_t query,
                                std::size_t object) const;
    void numbers(nanobind::handle returned, std::size_t n, std::size_t query, std::size_t object,
                 double* out) const;

    nanobind::handle weak_;  // owned; a weak reference to what keeps all others alive
    nanobind::handle objects_;
    nanobind::handle take_;  // array of positions -> objects; absent where they are a list
    nanobind::handle read_;  // whatever a function returned, and how many -> numbers, or a problem
    nanobind::handle array_type_;  // numpy.ndarray
    PythonFunction value_;
    PythonFunction bound_;
    nanobind::handle self_block_;
    nanobind::handle workers_;  // a pool of processes that evaluate values; may be absent
    mutable std::atomic<double> value_seconds_{0.0};  // about what a value takes; 0 where unknown
    double* self_values_;                             // not a number where not asked yet
    double relative_;
};

}  // namespace fastmks::bindings
