#pragma once

#include <memory>
#include <utility>

#include "fastmks/core/space.hpp"

namespace fastmks {

/// Objects of a space as queries, in the form that its store has for them.
template <class Owner, class Queries>
struct StoreBatch final : QueryBatch {
    StoreBatch(const Owner& space_, std::unique_ptr<Queries> queries_, std::size_t begin_,
               std::size_t end_)
        : QueryBatch(begin_, end_), space(space_), queries(std::move(queries_)) {}
    const Owner& space;
    std::unique_ptr<Queries> queries;
};

/// Space::refill for spaces with such batches: `put` puts the object at the position into the
/// queries of a batch of one, or says that they cannot take it.
template <class Batch, class Owner, class Put>
void refill_batch(const Owner& space, std::unique_ptr<QueryBatch>& batch, std::size_t position,
                  Put put) {
    auto* const held = dynamic_cast<Batch*>(batch.get());
    if (held && &held->space == &space && held->size == 1 && put(*held->queries)) {
        held->begin = position;
    } else {
        batch = space.batch(position, position + 1);
    }
}

}  // namespace fastmks
