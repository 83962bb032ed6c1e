#pragma once

#include <nanobind/nanobind.h>

namespace fastmks::bindings {

/// Blocks forever where the interpreter is being shut down by another thread. A daemon thread that
/// asked for the GIL then would be ended inside C++ code, and that aborts the process.
void stop_here_if_python_is_ending();

/// Makes stop_here_if_python_is_ending work; once, when the module is loaded.
void watch_for_the_end_of_python();

/// No GIL while this lives.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() {
        stop_here_if_python_is_ending();
        PyEval_RestoreThread(state_);
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

private:
    PyThreadState* state_;
};

}  // namespace fastmks::bindings
