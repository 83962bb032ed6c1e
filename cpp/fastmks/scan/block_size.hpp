#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace fastmks {

/// Most objects that a scan evaluates at once, and most queries: their values stay in cache.
inline constexpr std::size_t largest_block = 256;
inline constexpr std::size_t largest_batch = 64;

/// Blocks start small and grow while they are fast, so that a stop is noticed soon however long one
/// evaluation takes.
class BlockSize {
public:
    [[nodiscard]] std::size_t next() {
        const auto now = Clock::now();
        if (now - started_ < std::chrono::milliseconds(5)) {
            size_ = std::min(4 * size_, largest_block);
        } else if (now - started_ > std::chrono::milliseconds(50)) {
            size_ = std::max<std::size_t>(1, size_ / 4);
        }
        started_ = now;
        return size_;
    }

private:
    using Clock = std::chrono::steady_clock;
    std::size_t size_ = 1;
    Clock::time_point started_ = Clock::now();
};

}  // namespace fastmks
