#include "gil.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace nb = nanobind;

namespace fastmks::bindings {
namespace {

// The thread that shuts the interpreter down, once it does.
std::atomic<std::thread::id> ending_thread{};

}  // namespace

void stop_here_if_python_is_ending() {
    const std::thread::id ending = ending_thread.load();
    if (ending == std::thread::id{} || ending == std::this_thread::get_id()) return;
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void watch_for_the_end_of_python() {
    const auto note = [] { ending_thread = std::this_thread::get_id(); };
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(note));
}

}  // namespace fastmks::bindings
