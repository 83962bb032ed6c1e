// Every task runs once, and every failure is reported.

#include "fastmks/core/parallel.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/testing.hpp"

namespace {

void rest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Waits like a task that works. Gives up after about ten seconds, so that a broken library fails
// instead of hanging.
template <class Condition>
void wait_until(Worker& worker, Condition condition) {
    for (int i = 0; i < 10000 && !condition(); ++i) {
        rest();
        worker.advance(0);
    }
}

void work_until_stopped(Worker& worker) {
    wait_until(worker, [] { return false; });
}

// The text of what parallel_for throws, or nothing.
std::string failure_of(std::size_t n_tasks, std::size_t threads, const Watch& watch,
                       const std::function<void(std::size_t, Worker&)>& task) {
    const auto error = check::caught<std::runtime_error>(
        [&] { return parallel_for(n_tasks, threads, watch, task); });
    return error ? error->what() : "";
}

}  // namespace

TEST(every_task_runs_once) {
    for (const std::size_t n_tasks : {0, 1, 2, 7, 300}) {
        for (const std::size_t threads : {0, 1, 2, 5, 40}) {
            const check::Context here(text("tasks", n_tasks) + text(", threads", threads));
            std::vector<std::atomic<int>> runs(n_tasks);
            parallel_for(n_tasks, threads, ignore, [&](std::size_t i, Worker& worker) {
                ++runs[i];
                std::this_thread::sleep_for(std::chrono::microseconds(20));
                worker.advance(1);
            });
            int sum = 0;
            for (const auto& run : runs) {
                CHECK(run == 1);
                sum += run;
            }
            CHECK(sum == static_cast<int>(n_tasks));
        }
    }
}

TEST(tasks_run_at_the_same_time) {
    // Each of three tasks waits for the others to begin.
    std::atomic<int> begun{0}, met{0};
    parallel_for(3, 3, ignore, [&](std::size_t, Worker& worker) {
        ++begun;
        wait_until(worker, [&] { return begun == 3; });
        if (begun == 3) ++met;
    });
    CHECK(met == 3);
}

TEST(one_thread_runs_tasks_in_order_on_the_caller) {
    std::vector<std::size_t> order;
    bool elsewhere = false;
    const auto caller = std::this_thread::get_id();
    parallel_for(9, 1, ignore, [&](std::size_t i, Worker&) {
        order.push_back(i);
        elsewhere = elsewhere || std::this_thread::get_id() != caller;
    });
    CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(!elsewhere);
}

TEST(the_watch_sees_the_work_on_the_calling_thread) {
    const auto caller = std::this_thread::get_id();
    for (const std::size_t threads : {1, 2, 5}) {
        std::vector<std::size_t> seen;
        bool elsewhere = false;
        const Watch watch = [&](std::size_t done) {
            elsewhere = elsewhere || std::this_thread::get_id() != caller;
            seen.push_back(done);
        };
        parallel_for(50, threads, watch, [&](std::size_t, Worker& worker) {
            worker.advance(3);
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            worker.advance(4);
        });
        CHECK(!elsewhere);
        for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i - 1] <= seen[i]);
        for (const std::size_t done : seen) CHECK(done <= 350);
        if (threads == 1) CHECK(seen.size() == 100 && seen.back() == 350);
    }
}

TEST(a_failing_task_ends_the_run) {
    std::atomic<int> n_runs{0};
    const auto fail_at_two = [&](std::size_t i, Worker&) {
        ++n_runs;
        if (i == 2) throw std::runtime_error("task 2");
    };
    CHECK(failure_of(9, 1, ignore, fail_at_two) == "task 2");
    CHECK(n_runs == 3);
    for (const std::size_t threads : {2, 5, 40}) {
        CHECK(failure_of(9, threads, ignore, fail_at_two) == "task 2");
    }
}

TEST(a_failure_stops_tasks_that_are_under_way) {
    for (const std::size_t threads : {2, 5}) {
        std::atomic<std::size_t> begun{0};
        const auto task = [&](std::size_t i, Worker& worker) {
            ++begun;
            if (i == 1) throw std::runtime_error("task 1");
            work_until_stopped(worker);
        };
        CHECK(failure_of(100, threads, ignore, task) == "task 1");
        CHECK(begun <= threads);
    }
}

TEST(the_first_failure_is_the_one_thrown) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> begun{0};
        const auto task = [&](std::size_t i, Worker& worker) {
            ++begun;
            wait_until(worker, [&] { return begun == 3; });
            if (i == 0) throw std::runtime_error("first");
            try {
                work_until_stopped(worker);
            } catch (...) {  // told to stop, so the first failure is known
                throw std::runtime_error("later");
            }
        };
        CHECK(failure_of(3, 3, ignore, task) == "first");
    }
}

TEST(what_a_task_throws_arrives_as_it_is) {
    struct Odd {
        int number;
    };
    const auto fail = [](std::size_t i, Worker&) {
        if (i == 3) throw Odd{42};
    };
    const auto odd = check::caught<Odd>([&] { return parallel_for(4, 2, ignore, fail); });
    CHECK(odd && odd->number == 42);
}

TEST(a_failing_watch_ends_the_run) {
    for (const std::size_t threads : {1, 2, 5}) {
        std::atomic<std::size_t> begun{0};
        const Watch watch = [&](std::size_t) {
            if (begun == threads) throw std::runtime_error("watch");
        };
        const auto task = [&](std::size_t, Worker& worker) {
            ++begun;
            work_until_stopped(worker);
        };
        CHECK(failure_of(100, threads, watch, task) == "watch");
        CHECK(begun == threads);
    }
}

TEST(a_waiting_caller_keeps_watching) {
    // The caller has nothing left to do; the other thread works until the watch stops it.
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> other_begun{false};
    bool caller_done = false;
    int n_calls = 0;
    const Watch watch = [&](std::size_t) {
        if (caller_done && ++n_calls == 3) throw std::runtime_error("enough");
    };
    const auto task = [&](std::size_t, Worker& worker) {
        if (std::this_thread::get_id() == caller) {
            wait_until(worker, [&] { return other_begun.load(); });
            caller_done = true;
        } else {
            other_begun = true;
            work_until_stopped(worker);
        }
    };
    CHECK(failure_of(2, 2, watch, task) == "enough");
    CHECK(n_calls == 3);
}

TEST(runs_nest) {
    std::atomic<int> sum{0};
    parallel_for(4, 2, ignore, [&](std::size_t i, Worker&) {
        parallel_for(i + 1, 2, ignore, [&](std::size_t, Worker&) { ++sum; });
    });
    CHECK(sum == 10);
}
