#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"
#include "bindings/core/gil.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of fastmks: private, and free to change.";
    // An index that outlives the interpreter is no news to its user; tests count references
    // instead.
    nanobind::set_leak_warnings(false);
    m.attr("version") = FASTMKS_VERSION;
    fastmks::bindings::watch_for_the_end_of_python();
    fastmks::bindings::register_watch(m);
    fastmks::bindings::register_matrix(m);
    fastmks::bindings::register_stores(m);
    fastmks::bindings::register_grams(m);
    fastmks::bindings::register_spaces(m);
    fastmks::bindings::register_graphs(m);
    fastmks::bindings::register_alignments(m);
    fastmks::bindings::register_own(m);
    fastmks::bindings::register_sets(m);
    fastmks::bindings::register_scan(m);
    fastmks::bindings::register_own_bounds(m);
    fastmks::bindings::register_codes(m);
    fastmks::bindings::register_postings(m);
    fastmks::bindings::register_pivots(m);
    fastmks::bindings::register_tree(m);
}
