#pragma once

#include <memory>
#include <utility>

#include "fastmks/core/space.hpp"

namespace fastmks {

/// A space `Owner` over a store that makes queries of its objects.
template <class Owner, class Store>
class StoreSpace : public Space {
public:
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const final {
        return std::make_unique<Batch>(static_cast<const Owner&>(*this),
                                       store_->queries(begin, end), begin, end);
    }

    void refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const final {
        auto* const held = dynamic_cast<Batch*>(batch.get());
        if (held && &held->space == this && held->size == 1) {
            store_->refill(*held->queries, position);
            held->begin = position;
        } else {
            batch = this->batch(position, position + 1);
        }
    }

protected:
    using Queries = decltype(std::declval<const Store&>().queries(0, 0));

    struct Batch final : QueryBatch {
        Batch(const Owner& owner_, Queries queries_, std::size_t begin_, std::size_t end_)
            : QueryBatch(owner_, begin_, end_), owner(owner_), queries(std::move(queries_)) {}
        const Owner& owner;
        Queries queries;
    };

    StoreSpace(std::shared_ptr<const Store> store, SpaceFacts facts)
        : Space(facts), store_(std::move(store)) {}

    std::shared_ptr<const Store> store_;
};

}  // namespace fastmks
