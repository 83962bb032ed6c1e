#pragma once

#include <cstddef>
#include <functional>

namespace fastmks {

/// Called by a long computation with the amount of work done so far, only on the calling thread.
/// Throwing stops the computation. Never empty.
using Watch = std::function<void(std::size_t work_done)>;

/// The interface of a task to the computation it is part of.
class Worker {
public:
    virtual ~Worker() = default;

    /// To be called every few milliseconds of work, at best more often at the start. Throws when
    /// the computation is to stop.
    virtual void advance(std::size_t work) = 0;
};

/// Runs task(i, worker) for each i < n_tasks on up to `threads` threads, the calling one included,
/// and returns when all are done. The first exception of a task, or of `watch`, stops the others
/// and is thrown here. The other threads start once the work has lasted longer than it takes to
/// start them, and end with the call, so that a fork cannot break them.
void parallel_for(std::size_t n_tasks, std::size_t threads, const Watch& watch,
                  const std::function<void(std::size_t, Worker&)>& task);

}  // namespace fastmks
