#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"
#include "bindings/core/gil.hpp"

namespace fastmks::bindings {

// One for each bound noun.
using Register = void(nanobind::module_&);
Register register_faults, register_watch, register_matrix, register_stores, register_grams,
    register_spaces, register_graphs, register_alignments, register_own, register_sets,
    register_scan, register_own_bounds, register_codes, register_postings, register_pivots,
    register_tree;

}  // namespace fastmks::bindings

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of fastmks: private, and free to change.";
    // An index that outlives the interpreter is no news to its user; tests count references
    // instead.
    nanobind::set_leak_warnings(false);
    m.attr("version") = FASTMKS_VERSION;
    fastmks::bindings::watch_for_the_end_of_python();
    using namespace fastmks::bindings;
    // A class comes after those that it is built from.
    for (Register* const add :
         {register_faults, register_watch, register_matrix, register_stores, register_grams,
          register_spaces, register_graphs, register_alignments, register_own, register_sets,
          register_scan, register_own_bounds, register_codes, register_postings, register_pivots,
          register_tree}) {
        add(m);
    }
}
