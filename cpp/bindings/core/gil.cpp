#include "bindings/core/gil.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace nb = nanobind;

namespace fastmks::bindings {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_wait = 5s;

// The thread that shuts the interpreter down, once it does.
std::atomic<std::thread::id> ending_thread{};
// Threads between asking for the GIL and giving it back, or having it as before they called us.
std::atomic<int> n_inside{0};

bool is_ending_elsewhere() {
    const std::thread::id ending = ending_thread.load();
    return ending != std::thread::id{} && ending != std::this_thread::get_id();
}

[[noreturn]] void stay_forever() {
    --n_inside;
    for (;;) std::this_thread::sleep_for(1h);
}

// How often this thread is inside: a function of the user may search, too.
thread_local int depth = 0;

// Whether this thread gave the GIL away, and has not taken it again since.
thread_local bool has_released = false;

bool has_gil() {
    return !has_released && PyGILState_GetThisThreadState() != nullptr;
}

// Counted before looking: either this thread sees the end, or the end sees this thread. One that
// has the GIL goes on: the end could not take it from a thread that stays.
void enter() {
    if (depth++ > 0) return;
    ++n_inside;
    if (!has_gil() && is_ending_elsewhere()) stay_forever();
}

void leave() {
    if (--depth == 0) --n_inside;
}

void note_the_end() {
    ending_thread = std::this_thread::get_id();
    PyThreadState* const state = PyEval_SaveThread();
    const auto last = std::chrono::steady_clock::now() + longest_wait;
    while (n_inside > 0 && std::chrono::steady_clock::now() < last) {
        std::this_thread::sleep_for(1ms);
    }
    PyEval_RestoreThread(state);
}

}  // namespace

void watch_for_the_end_of_python() {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&note_the_end));
}

WithGil::WithGil() {
    enter();
    state_ = PyGILState_Ensure();
    had_released_ = std::exchange(has_released, false);
}

WithGil::~WithGil() {
    has_released = had_released_;
    PyGILState_Release(state_);
    leave();
}

void WithGil::let_python_end() {
    if (!is_ending_elsewhere()) return;
    PyEval_SaveThread();
    stay_forever();
}

WithoutGil::WithoutGil() : state_(PyEval_SaveThread()) {
    has_released = true;
}

WithoutGil::~WithoutGil() {
    enter();
    PyEval_RestoreThread(state_);
    has_released = false;
    leave();
}

}  // namespace fastmks::bindings
