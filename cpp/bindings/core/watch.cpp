#include "bindings/core/watch.hpp"

#include <chrono>

#include "bindings/core/gil.hpp"

namespace fastmks::bindings {

Watch python_watch(const nanobind::object& progress) {
    using Clock = std::chrono::steady_clock;
    return [&progress, last = Clock::now()](std::size_t work_done) mutable {
        const auto now = Clock::now();
        if (now - last < std::chrono::milliseconds(50)) return;
        last = now;
        const WithGil with_gil;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
        if (!progress.is_none()) progress(work_done);
    };
}

}  // namespace fastmks::bindings
