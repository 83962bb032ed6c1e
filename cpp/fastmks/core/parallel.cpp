#include "fastmks/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "fastmks/core/pulse.hpp"

namespace fastmks {
namespace {

using Clock = std::chrono::steady_clock;

// Thrown by advance() to leave a task; never leaves parallel_for.
struct Stopped {};

// The others start after this long: about three times what starting a thread costs
// (docs/developers/architecture.md has the figures).
constexpr auto start_others_after = std::chrono::microseconds(100);
constexpr auto watch_interval = std::chrono::milliseconds(20);

// One call of parallel_for.
class Run {
public:
    Run(std::size_t n_tasks, std::size_t n_workers, const Watch& watch,
        const std::function<void(std::size_t, Worker&)>& task)
        : n_tasks_(n_tasks), n_workers_(n_workers), watch_(watch), task_(task) {}

    void work_as_caller() {
        CallerWorker worker(*this);
        work(worker);
        wait_for_others();
        for (auto& other : others_) other.join();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    class OtherWorker final : public Worker {
    public:
        explicit OtherWorker(Run& run) : run_(run) {}
        void advance(std::size_t work) override { run_.add(work); }

    private:
        Run& run_;
    };

    class CallerWorker final : public Worker {
    public:
        explicit CallerWorker(Run& run) : run_(run) {}
        void advance(std::size_t work) override {
            const std::size_t done = run_.add(work);
            if (Clock::now() - started_ >= start_others_after) run_.start_others();
            run_.watch_(done);
        }

    private:
        Run& run_;
        Clock::time_point started_ = Clock::now();
    };

    std::size_t add(std::size_t work) {
        const std::size_t done = work_done_.fetch_add(work, std::memory_order_relaxed) + work;
        if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
        return done;
    }

    void work(Worker& worker) noexcept {
        const PulseScope scope(worker);
        try {
            for (std::size_t i = next_++; i < n_tasks_ && !stop_; i = next_++) task_(i, worker);
        } catch (const Stopped&) {
        } catch (...) {
            fail(std::current_exception());
        }
    }

    void start_others() {
        if (!others_.empty() || next_ >= n_tasks_) return;
        const std::size_t n = std::min(n_workers_ - 1, n_tasks_ - next_);
        others_.reserve(n);
        try {
            while (others_.size() < n) {
                others_.emplace_back([this] {
                    OtherWorker worker(*this);
                    work(worker);
                    const std::lock_guard lock(mutex_);
                    ++n_finished_;
                    finished_.notify_one();
                });
            }
        } catch (const std::system_error&) {
            // The system gives no more threads: those that started share the tasks.
        }
    }

    // Goes on watching meanwhile.
    void wait_for_others() noexcept {
        const auto all_finished = [this] { return n_finished_ == others_.size(); };
        std::unique_lock lock(mutex_);
        while (!finished_.wait_for(lock, watch_interval, all_finished)) {
            lock.unlock();
            try {
                if (!stop_) watch_(work_done_);
            } catch (...) {
                fail(std::current_exception());
            }
            lock.lock();
        }
    }

    void fail(std::exception_ptr failure) noexcept {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::move(failure);
        stop_ = true;
    }

    std::size_t n_tasks_;
    std::size_t n_workers_;
    const Watch& watch_;
    const std::function<void(std::size_t, Worker&)>& task_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::size_t> work_done_{0};
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::condition_variable finished_;
    std::size_t n_finished_ = 0;
    std::exception_ptr failure_;
    std::vector<std::thread> others_;
};

}  // namespace

void parallel_for(std::size_t n_tasks, std::size_t threads, const Watch& watch,
                  const std::function<void(std::size_t, Worker&)>& task) {
    Run(n_tasks, std::max<std::size_t>(1, threads), watch, task).work_as_caller();
}

}  // namespace fastmks
