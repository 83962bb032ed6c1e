#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "fastmks/isa.hpp"

/// One function per bound noun; module.cpp calls them in the order of the layers.
namespace fastmks::bindings {

void register_stores(nanobind::module_& m);
void register_spaces(nanobind::module_& m);
void register_graphs(nanobind::module_& m);
void register_alignments(nanobind::module_& m);
void register_scan(nanobind::module_& m);
void register_tree(nanobind::module_& m);

/// One of available_isas() by its name.
[[nodiscard]] Isa parse_isa(const std::string& name);

}  // namespace fastmks::bindings
