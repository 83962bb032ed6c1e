#pragma once

namespace fastmks {

class Worker;

/// Asks whether the computation that this thread works for is to stop, and throws if it is. For
/// work inside a single evaluation, or inside the constructor of a space, that may last longer than
/// 50 ms. On a thread of parallel_for it asks the Worker, elsewhere the function of set_pulse().
void pulse();

/// pulse() at every 64th call on this thread: for loops of work that is short each time.
void pulse_sometimes();

/// Sets the function that pulse() calls on threads outside of parallel_for; none at first.
void set_pulse(void (*ask)()) noexcept;

/// Makes pulse() on this thread ask a worker while this lives.
class PulseScope {
public:
    explicit PulseScope(Worker& worker) noexcept;
    ~PulseScope();
    PulseScope(const PulseScope&) = delete;
    PulseScope& operator=(const PulseScope&) = delete;

private:
    Worker* before_;
};

}  // namespace fastmks
