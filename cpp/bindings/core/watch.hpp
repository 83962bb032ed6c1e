#pragma once

#include "bindings/bindings.hpp"

#include "fastmks/core/parallel.hpp"

namespace fastmks::bindings {

/// Lets Ctrl-C through, calls the check of this thread (set_check), and tells `progress`
/// (or None) how much is done, a few times a second. Called by the core on the thread that called
/// us, which holds no GIL meanwhile. `progress` must outlive it.
[[nodiscard]] Watch python_watch(const nanobind::object& progress);

}  // namespace fastmks::bindings
