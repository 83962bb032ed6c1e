#include "bindings/core/watch.hpp"

#include <chrono>

#include "fastmks/core/pulse.hpp"

namespace fastmks::bindings {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto interval = std::chrono::milliseconds(50);

// Kept alive by the caller of set_check.
thread_local PyObject* current_check = nullptr;

// With the GIL.
void check_now() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (current_check != nullptr) nb::borrow(current_check)();
}

void ask_python() {
    thread_local Clock::time_point last{};
    const auto now = Clock::now();
    if (now - last < interval) return;
    last = now;
    const WithGil with_gil;
    check_now();
}

nb::object set_check(const nb::object& check) {
    nb::object before = current_check ? nb::borrow(current_check) : nb::none();
    current_check = check.is_none() ? nullptr : check.ptr();
    return before;
}

}  // namespace

Watch python_watch(const nb::object& progress) {
    return [&progress, last = Clock::now()](std::size_t work_done) mutable {
        const auto now = Clock::now();
        if (now - last < interval) return;
        last = now;
        const WithGil with_gil;
        check_now();
        if (!progress.is_none()) progress(work_done);
    };
}

// Also has pulse() of the core call the check, and let Ctrl-C through.
void register_watch(nb::module_& m) {
    set_pulse(&ask_python);
    m.def("set_check", &set_check, "check"_a.none(),
          "Make long work on this thread call a function a few times a second, or None. Returns "
          "the one before. The caller keeps the function alive while it is set.");
}

}  // namespace fastmks::bindings
