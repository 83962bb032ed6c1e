#include "fastmks/filters/postings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/core/archive.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/gil.hpp"
#include "bindings/core/running.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

using Counts = std::tuple<std::size_t, std::size_t, std::size_t>;

Counts to_counts(const BoundCounts& counts) {
    return {counts.evaluations, counts.bounds, counts.operations};
}

std::shared_ptr<Postings> postings(const Space& objects, const nb::object& progress) {
    const Watch watch = python_watch(progress);
    const WithoutGil without_gil;
    return std::make_shared<Postings>(objects, watch);
}

NamedArrays arrays(const nb::handle_t<Postings>& self) {
    return to_dict(nb::cast<const Postings&>(self).arrays(), self);
}

std::shared_ptr<Postings> restore(const Space& objects, const NamedArrays& arrays) {
    const Arrays parts = from_dict(arrays);
    const WithoutGil without_gil;
    return std::make_shared<Postings>(objects, parts);
}

void check_postings(const Postings& postings, const Space& objects) {
    if (postings.size() != objects.size() || !Postings::fits(objects)) {
        throw std::invalid_argument("the postings are of other objects");
    }
}

auto top_k(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, const Postings& postings, bool skip_self,
           std::size_t k, const std::optional<Thresholds>& floors, std::size_t threads,
           const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names, floors);
    check_postings(postings, objects);
    return count_top_k(problem, k, progress, [&](const Watch& watch, double* values, auto* hits) {
        return to_counts(postings_top_k(problem, postings, k, threads, watch, values, hits));
    });
}

auto above(const Space& objects, const Space& queries, const std::optional<Positions>& among,
           const std::optional<Positions>& names, const Postings& postings,
           const Thresholds& thresholds, std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    check_postings(postings, objects);
    return count_above(problem, thresholds, progress, [&](const Watch& watch, auto& answers) {
        return to_counts(
            postings_above(problem, postings, thresholds.data(), threads, watch, answers));
    });
}

}  // namespace

void register_postings(nb::module_& m) {
    nb::class_<Postings>(m, "Postings", "Sparse vectors by columns.")
        .def_static("fits", &Postings::fits, "objects"_a)
        .def("__len__", &Postings::size)
        .def_prop_ro("n_planes", &Postings::n_planes)
        .def_prop_ro("n_postings", &Postings::n_postings)
        .def_prop_ro("n_bytes", &Postings::n_bytes)
        .def("arrays", &arrays);
    m.def("postings", &postings, "objects"_a, "progress"_a.none());
    m.def("restore_postings", &restore, "objects"_a, "arrays"_a);
    m.def("postings_top_k", &top_k, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "postings"_a, "skip_self"_a, "k"_a, "floors"_a.none(), "threads"_a, "progress"_a.none());
    m.def("postings_above", &above, "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          "postings"_a, "thresholds"_a, "threads"_a, "progress"_a.none());
}

}  // namespace fastmks::bindings
