#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

// Everything the core throws about objects, values and files. A fault carries numbers and no text:
// bindings/core/faults.cpp makes an exception of Python with its `arguments`, and
// fastmks.engines.faults an error that names the objects.

namespace fastmks {

/// Stands for the object of a fault that is the query itself.
inline constexpr std::size_t itself = SIZE_MAX;

/// A kernel value that is NaN or infinite.
struct ValueFault {
    std::size_t query;
    std::size_t object;
    double value;
    [[nodiscard]] auto arguments() const { return std::tuple(query, object, value); }
};

/// K(x, x) that no normalisation can use: negative, or swallowed by rounding.
struct SelfValueFault {
    std::size_t object;
    double value;
    [[nodiscard]] auto arguments() const { return std::tuple(object, value); }
};

/// K(x, x) that is needed and was not given.
struct MissingSelfValue {
    std::size_t object;
    [[nodiscard]] auto arguments() const { return std::tuple(object); }
};

/// A function of the user that did not return what it must.
struct ReturnFault {
    std::size_t query;
    std::size_t object;  ///< the first of the block, or `itself`
    std::string problem;
    [[nodiscard]] auto arguments() const { return std::tuple(query, object, problem); }
};

/// Values that no Mercer kernel can have: |K(x, y)| > sqrt(K(x, x) K(y, y)) beyond rounding.
struct NotMercerFault {
    std::size_t query;
    std::size_t object;
    double value;
    double limit;  ///< what |K(x, y)| may be at most
    [[nodiscard]] auto arguments() const { return std::tuple(query, object, value, limit); }
};

/// Three objects whose distances break the triangle inequality beyond rounding.
struct TriangleFault {
    std::size_t a, b, c;
    double ab, bc, ca;
    [[nodiscard]] auto arguments() const { return std::tuple(a, b, c, ab, bc, ca); }
};

/// Values with some pivots that no Mercer kernel can have. `query` is the object whose values they
/// are; `object` another one whose value exceeds what the pivots allow, or `itself` where the part
/// of the query that lies in the pivots' span is longer than the query.
struct PivotFault {
    std::size_t query;
    std::size_t object;
    double value;  ///< K(x, y), or the square of that length
    double limit;  ///< what it may be at most
    std::vector<std::int64_t> pivots;
    [[nodiscard]] auto arguments() const { return std::tuple(query, object, value, limit, pivots); }
};

/// K(a, b) and K(b, a) differ, though the user declared them to be the same.
struct AsymmetryFault {
    std::size_t a, b;
    double ab, ba;
    [[nodiscard]] auto arguments() const { return std::tuple(a, b, ab, ba); }
};

/// A value greater than its upper bound.
struct BoundFault {
    std::size_t query;
    std::size_t object;
    double value;
    double bound;
    [[nodiscard]] auto arguments() const { return std::tuple(query, object, value, bound); }
};

/// Coordinates that leave the range of numbers.
struct CoordinateFault {
    [[nodiscard]] static auto arguments() { return std::tuple("coordinates are not finite"); }
};

/// A search that found fewer objects than exist: its tree or filter was damaged, or forged.
struct DamageFault {
    [[nodiscard]] static auto arguments() {
        return std::tuple("a search found fewer than k objects");
    }
};

}  // namespace fastmks
