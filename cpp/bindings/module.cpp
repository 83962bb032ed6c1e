#include <nanobind/nanobind.h>

#include "bindings.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of fastmks: private, and free to change.";
    fastmks::bindings::register_stores(m);
    fastmks::bindings::register_spaces(m);
    fastmks::bindings::register_scan(m);
}
