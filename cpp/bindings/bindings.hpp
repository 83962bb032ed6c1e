#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "fastmks/isa.hpp"

/// One function per bound noun; module.cpp calls them in the order of the layers.
namespace fastmks::bindings {

/// The instruction set of that name; throws std::invalid_argument where this CPU has none.
[[nodiscard]] Isa parse_isa(const std::string& name);

void register_stores(nanobind::module_& m);
void register_grams(nanobind::module_& m);
void register_spaces(nanobind::module_& m);
void register_graphs(nanobind::module_& m);
void register_alignments(nanobind::module_& m);
void register_sets(nanobind::module_& m);
void register_scan(nanobind::module_& m);
void register_tree(nanobind::module_& m);

/// One of available_isas() by its name.
[[nodiscard]] Isa parse_isa(const std::string& name);

void register_own(nanobind::module_& m);

/// An instruction set by its name.

/// A new exception type of the module, for a fault of the core.
[[nodiscard]] nanobind::handle new_fault(nanobind::module_& m, const char* name);

}  // namespace fastmks::bindings
