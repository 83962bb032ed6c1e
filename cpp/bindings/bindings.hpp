#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "fastmks/simd/isa.hpp"

namespace fastmks::bindings {

/// The instruction set of that name; throws std::invalid_argument where this CPU has none.
[[nodiscard]] Isa parse_isa(const std::string& name);

/// A new exception type of the module, for a fault of the core.
[[nodiscard]] nanobind::handle new_fault(nanobind::module_& m, const char* name);

// One function per bound noun; module.cpp calls them in the order of the layers.
void register_watch(nanobind::module_& m);
void register_matrix(nanobind::module_& m);
void register_stores(nanobind::module_& m);
void register_grams(nanobind::module_& m);
void register_graphs(nanobind::module_& m);
void register_spaces(nanobind::module_& m);
void register_alignments(nanobind::module_& m);
void register_sets(nanobind::module_& m);
void register_own(nanobind::module_& m);
void register_scan(nanobind::module_& m);
void register_own_bounds(nanobind::module_& m);
void register_codes(nanobind::module_& m);
void register_postings(nanobind::module_& m);
void register_pivots(nanobind::module_& m);
void register_tree(nanobind::module_& m);

}  // namespace fastmks::bindings
