#pragma once

#include <nanobind/nanobind.h>

/// One function per bound noun; module.cpp calls them in the order of the layers.
namespace fastmks::bindings {

void register_stores(nanobind::module_& m);
void register_grams(nanobind::module_& m);
void register_spaces(nanobind::module_& m);
void register_scan(nanobind::module_& m);
void register_tree(nanobind::module_& m);

}  // namespace fastmks::bindings
