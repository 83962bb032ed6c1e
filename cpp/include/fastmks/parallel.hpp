#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace fastmks {

/// What a long computation tells its caller, and asks: called only on the calling thread, with the
/// amount of work done so far. Throwing stops the computation.
using Watch = std::function<void(std::size_t work_done)>;

/// What a task sees of the computation it is part of.
class Worker {
public:
    Worker(std::atomic<std::size_t>& work_done, const std::atomic<bool>& stop, const Watch* watch)
        : work_done_(work_done), stop_(stop), watch_(watch) {}

    /// To be called every few milliseconds of work. Throws when the computation is to stop.
    void advance(std::size_t work);

private:
    std::atomic<std::size_t>& work_done_;
    const std::atomic<bool>& stop_;
    const Watch* watch_;  // set on the calling thread alone
};

/// Runs task(i, worker) for each i < n_tasks on up to `threads` threads, the calling one included,
/// and returns when all are done. The first exception of a task, or of `watch`, stops the others
/// and is thrown here. Threads live only as long as the call, so nothing is left over for a fork to
/// break.
void parallel_for(std::size_t n_tasks, std::size_t threads, const Watch& watch,
                  const std::function<void(std::size_t, Worker&)>& task);

}  // namespace fastmks
