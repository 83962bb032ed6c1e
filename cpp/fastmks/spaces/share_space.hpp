#pragma once

#include "fastmks/core/space.hpp"

namespace fastmks {

/// A space whose values are shares: from 0 to 1, with cheap bounds. An object has all of itself,
/// unless it is zero.
class ShareSpace : public Space {
public:
    double largest_self_value() const noexcept final { return 1.0; }
    double self_value(std::size_t position) const final { return is_zero(position) ? 0.0 : 1.0; }
    std::size_t self_evaluations(std::size_t) const noexcept final { return 0; }
    bool has_bounds() const noexcept final { return true; }
    Isa isa() const noexcept final { return isa_; }

protected:
    explicit ShareSpace(Isa isa) : isa_(isa) {}

private:
    Isa isa_;
};

}  // namespace fastmks
