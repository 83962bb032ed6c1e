#pragma once

#include <cstddef>
#include <functional>

namespace fastmks {

/// What a long computation tells its caller, and asks: called only on the calling thread, with the
/// amount of work done so far. Throwing stops the computation. Never empty.
using Watch = std::function<void(std::size_t work_done)>;

/// What a task sees of the computation it is part of.
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
/// start them, and live only as long as the call: nothing is left over for a fork to break.
void parallel_for(std::size_t n_tasks, std::size_t threads, const Watch& watch,
                  const std::function<void(std::size_t, Worker&)>& task);

}  // namespace fastmks
