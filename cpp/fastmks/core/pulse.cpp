#include "fastmks/core/pulse.hpp"

#include <atomic>
#include <utility>

#include "fastmks/core/parallel.hpp"

namespace fastmks {
namespace {

thread_local Worker* current = nullptr;
std::atomic<void (*)()> ask_elsewhere{nullptr};

}  // namespace

void pulse() {
    if (current != nullptr) {
        current->advance(0);
    } else if (const auto ask = ask_elsewhere.load(std::memory_order_relaxed)) {
        ask();
    }
}

void pulse_sometimes() {
    thread_local unsigned n = 0;
    if (++n % 64 == 0) pulse();
}

void set_pulse(void (*ask)()) noexcept {
    ask_elsewhere = ask;
}

PulseScope::PulseScope(Worker& worker) noexcept : before_(std::exchange(current, &worker)) {}

PulseScope::~PulseScope() {
    current = before_;
}

}  // namespace fastmks
