#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "fastmks/core/space.hpp"

namespace fastmks {

/// Most objects that a scan evaluates at once, and most queries: their values stay in cache.
inline constexpr std::size_t largest_block = 256;
inline constexpr std::size_t largest_batch = 64;

/// Blocks start small and grow while they are fast, so that a stop is noticed soon however long one
/// evaluation takes. None is smaller than the number of processes that evaluate it together.
class BlockSize {
public:
    explicit BlockSize(const Space& objects)
        : least_(std::min(objects.facts().n_processes, largest_block)), size_(least_) {}

    [[nodiscard]] std::size_t next() {
        const auto now = Clock::now();
        // Messages to processes have a cost, which larger blocks share.
        if (now - started_ < std::chrono::milliseconds(least_ > 1 ? 12 : 5)) {
            size_ = std::min(4 * size_, largest_block);
        } else if (now - started_ > std::chrono::milliseconds(50)) {
            size_ = std::max(least_, size_ / 4);
        }
        started_ = now;
        return size_;
    }

private:
    using Clock = std::chrono::steady_clock;
    std::size_t least_;
    std::size_t size_;
    Clock::time_point started_ = Clock::now();
};

}  // namespace fastmks
