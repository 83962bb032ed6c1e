#pragma once

#include <memory>
#include <vector>

#include "fastmks/core/space.hpp"
#include "fastmks/spaces/normalizer.hpp"

namespace fastmks {

using SpacePointer = std::shared_ptr<const Space>;

/// ((K1 + K2) + K3) + ... of spaces over the same objects.
[[nodiscard]] SpacePointer make_sum(std::vector<SpacePointer> terms);

/// ((K1 * K2) * K3) * ... of spaces over the same objects.
[[nodiscard]] SpacePointer make_product(std::vector<SpacePointer> factors);

/// factor * K, with 0 < factor < infinity.
[[nodiscard]] SpacePointer make_scaled(SpacePointer space, double factor);

/// K(x, y) / sqrt(K(x, x) * K(y, y)), 0 where x or y is zero in the Hilbert space. With `is_mercer`
/// results are cut at +-1, which only rounding can exceed. Throws SelfValueFault for an object
/// whose K(x, x) is negative, or below 1e-270 although the object is not zero: underflow may have
/// eaten its digits; ValueFault when it is not finite.
[[nodiscard]] SpacePointer make_normalized(SpacePointer space, bool is_mercer);

}  // namespace fastmks
