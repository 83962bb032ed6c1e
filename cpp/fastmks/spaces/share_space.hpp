#pragma once

#include <memory>
#include <utility>

#include "fastmks/spaces/store_space.hpp"

namespace fastmks {

/// A space whose values are shares, from 0 to 1, with fast bounds. An object has all of itself,
/// unless it is zero.
template <class Owner, class Store>
class ShareSpace : public StoreSpace<Owner, Store>, public UpperBounds {
public:
    double self_value(std::size_t position) const final {
        return this->is_zero(position) ? 0.0 : 1.0;
    }
    std::size_t self_evaluations(std::size_t) const noexcept final { return 0; }
    const UpperBounds* bounds() const noexcept final { return this; }

protected:
    ShareSpace(std::shared_ptr<const Store> store, Rounding rounding, Isa isa)
        : StoreSpace<Owner, Store>(store, {.size = store->size(),
                                           .isa = isa,
                                           .rounding = rounding,
                                           .largest_self_value = 1.0,
                                           .symmetry = Symmetry::proven}) {}
};

}  // namespace fastmks
