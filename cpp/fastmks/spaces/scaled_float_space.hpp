#pragma once

#include <memory>
#include <vector>

#include "fastmks/core/space.hpp"
#include "fastmks/spaces/scaled_float.hpp"

namespace fastmks {

/// Memory that an evaluation works in: each call has its own, and keeps it from pair to pair.
struct Scratch {
    std::vector<double> doubles;
    std::vector<std::int64_t> integers;
    std::vector<std::int32_t> scores;
    std::vector<std::uint8_t> letters;
};

/// How the values of a wide space are given out.
struct WideForm {
    bool is_normalized = false;  ///< K(x, y) / sqrt(K(x, x) K(y, y)) instead of K(x, y)
    bool is_mercer = true;       ///< then a normalised value above 1 is rounding, and cut
    Isa isa = Isa::baseline;

    bool operator==(const WideForm&) const = default;
};

/// A space whose K(x, y) > 0 may be far outside the range of float64, with K(x, x) >= 1. Values
/// themselves are infinite where they are too large; normalised ones never are, and self values are
/// then exactly 1.
class WideSpace : public Space {
public:
    WideSpace(std::size_t size, WideForm form);

    double self_value(std::size_t position) const override;
    std::size_t self_evaluations(std::size_t) const noexcept override {
        return form_.is_normalized ? 0 : 1;
    }
    bool accepts(const Space& queries) const noexcept override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;

protected:
    /// K(query, object), where `queries` is a space that this one accepts: the same bits whichever
    /// of the two is the query.
    [[nodiscard]] virtual Wide compute(const WideSpace& queries, std::size_t query,
                                       std::size_t object, Scratch& scratch) const = 0;
    /// Whether the kernel is the same, and the kind of objects.
    [[nodiscard]] virtual bool has_same_kernel(const WideSpace& queries) const noexcept = 0;

    /// For the end of a kernel's constructor: compute() may be off by `relative_error` as a share
    /// of sqrt(K(x, x) K(y, y)), if the kernel is Mercer.
    void complete(double relative_error);

private:
    WideForm form_;
    std::vector<WideRoot> roots_;  // of the self values, where normalised
};

}  // namespace fastmks
