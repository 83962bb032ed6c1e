#pragma once

#include <nanobind/nanobind.h>

namespace fastmks::bindings {

// At the end of the interpreter, a daemon thread that waits for the GIL is ended by Python, through
// whatever C++ is on its stack, and that aborts the process. So the end waits (a while) until no
// thread is between asking for the GIL and releasing it; a thread that asks later is blocked
// forever.

/// Makes the classes below work; once, when the module is loaded.
void watch_for_the_end_of_python();

/// The GIL while this lives, on a thread that may have it already: then it never has to wait.
class WithGil {
public:
    WithGil();
    ~WithGil();
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

    /// To be called now and then where this lives for long: does not return once the interpreter
    /// is ending.
    void let_python_end();

private:
    bool had_released_;
    PyGILState_STATE state_;
};

/// No GIL while this lives.
class WithoutGil {
public:
    WithoutGil();
    ~WithoutGil();
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

private:
    PyThreadState* state_;
};

}  // namespace fastmks::bindings
