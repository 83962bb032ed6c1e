#include "fastmks/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace fastmks {
namespace {

// Thrown by Worker::advance to leave a task; never leaves parallel_for.
struct Stopped {};

constexpr auto watch_interval = std::chrono::milliseconds(20);

// One call of parallel_for.
class Run {
public:
    Run(std::size_t n_tasks, const Watch& watch,
        const std::function<void(std::size_t, Worker&)>& task)
        : n_tasks_(n_tasks), watch_(watch), task_(task) {}

    void work(bool is_caller) noexcept {
        Worker worker(work_done_, stop_, is_caller ? &watch_ : nullptr);
        try {
            for (std::size_t i = next_++; i < n_tasks_ && !stop_; i = next_++) task_(i, worker);
        } catch (const Stopped&) {
        } catch (...) {
            fail(std::current_exception());
        }
        const std::lock_guard lock(mutex_);
        ++n_finished_;
        finished_.notify_one();
    }

    // The caller's wait for the others; keeps watching meanwhile.
    void wait_for(std::size_t n_workers) noexcept {
        std::unique_lock lock(mutex_);
        while (
            !finished_.wait_for(lock, watch_interval, [&] { return n_finished_ == n_workers; })) {
            lock.unlock();
            try {
                if (!stop_) watch_(work_done_);
            } catch (...) {
                fail(std::current_exception());
            }
            lock.lock();
        }
    }

    void throw_if_failed() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void fail(std::exception_ptr failure) noexcept {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::move(failure);
        stop_ = true;
    }

    std::size_t n_tasks_;
    const Watch& watch_;
    const std::function<void(std::size_t, Worker&)>& task_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::size_t> work_done_{0};
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::condition_variable finished_;
    std::size_t n_finished_ = 0;
    std::exception_ptr failure_;
};

}  // namespace

void Worker::advance(std::size_t work) {
    const std::size_t done = work_done_.fetch_add(work, std::memory_order_relaxed) + work;
    if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
    if (watch_) (*watch_)(done);
}

void parallel_for(std::size_t n_tasks, std::size_t threads, const Watch& watch,
                  const std::function<void(std::size_t, Worker&)>& task) {
    const std::size_t n_workers = std::max<std::size_t>(1, std::min(threads, n_tasks));
    Run run(n_tasks, watch, task);
    std::vector<std::thread> others;
    others.reserve(n_workers - 1);
    std::size_t n_started = 1;
    try {
        for (; n_started < n_workers; ++n_started) others.emplace_back([&run] { run.work(false); });
    } catch (const std::system_error&) {
        // The system gives no more threads: those that started share the tasks.
    }
    run.work(true);
    run.wait_for(n_started);
    for (auto& other : others) other.join();
    run.throw_if_failed();
}

}  // namespace fastmks
