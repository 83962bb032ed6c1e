#pragma once

#include "bindings/core/archive.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/running.hpp"
#include "fastmks/filters/bound_counts.hpp"

/// The common part of the bindings of filters.
namespace fastmks::bindings {

/// The members of BoundCounts, in their order.
using Counts = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>;

inline Counts to_counts(const BoundCounts& counts) {
    return {counts.evaluations, counts.projections, counts.self_evaluations, counts.bounds,
            counts.operations};
}

/// The structure that bounds values, as a class.
template <class Structure>
nb::class_<Structure> bind_structure(nb::module_& m, const char* name, const char* about) {
    return nb::class_<Structure>(m, name, about)
        .def("__len__", &Structure::size)
        .def_prop_ro("n_bytes", &Structure::n_bytes)
        .def("arrays", [](const nb::handle_t<Structure>& self) {
            return to_dict(nb::cast<const Structure&>(self).arrays(), self);
        });
}

/// The structure of a file.
template <class Structure>
std::shared_ptr<Structure> restore_structure(const Space& objects, const NamedArrays& arrays) {
    const Arrays parts = from_dict(arrays);
    const WithoutGil without_gil;
    return std::make_shared<Structure>(objects, parts);
}

template <class>
nb::arg structure_argument() {
    return "structure"_a;
}

/// Binds the searches `top_k` and `above` as <name>_top_k and <name>_above. They get the
/// structure, if there is one; `serves(structure, objects)` says whether it belongs to the objects.
template <class... Structure, class TopK, class Above, class Serves>
void bind_searches(nb::module_& m, const std::string& name, TopK top_k, Above above,
                   Serves serves) {
    const auto check = [serves](const Structure&... structure, const Space& objects) {
        if (!serves(structure..., objects)) {
            throw std::invalid_argument("the filter is of other objects");
        }
    };
    m.def((name + "_top_k").c_str(),
          [=](const Space& objects, const Space& queries, const std::optional<Positions>& among,
              const std::optional<Positions>& names, const Structure&... structure, bool skip_self,
              std::size_t k, const std::optional<Thresholds>& floors, std::size_t threads,
              const nb::object& progress) {
              const ScanProblem problem =
                  scan_problem(objects, queries, among, skip_self, names, floors);
              check(structure..., objects);
              BoundCounts counts;
              const auto run = [&](const Watch& watch, double* values, std::int64_t* positions) {
                  counts = top_k(problem, structure..., k, threads, watch, values, positions);
              };
              TopKArrays found = run_top_k(problem, k, progress, run);
              return std::tuple_cat(std::move(found), std::make_tuple(to_counts(counts)));
          },
          "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          structure_argument<Structure>()..., "skip_self"_a, "k"_a, "floors"_a.none(), "threads"_a,
          "progress"_a.none());
    m.def((name + "_above").c_str(),
          [=](const Space& objects, const Space& queries, const std::optional<Positions>& among,
              const std::optional<Positions>& names, const Structure&... structure,
              const Thresholds& thresholds, std::size_t threads, const nb::object& progress) {
              const ScanProblem problem = scan_problem(objects, queries, among, false, names);
              check(structure..., objects);
              BoundCounts counts;
              HitArrays found = run_above(queries, thresholds, progress, [&](const Watch& watch) {
                  std::vector<std::vector<Hit>> answers;
                  counts = above(problem, structure..., thresholds.data(), threads, watch, answers);
                  return answers;
              });
              return std::make_tuple(std::move(found), to_counts(counts));
          },
          "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          structure_argument<Structure>()..., "thresholds"_a, "threads"_a, "progress"_a.none());
}

/// Binds the approximate search `top_k` as <name>_approximate_top_k; the rest is as above.
template <class... Structure, class TopK, class Serves>
void bind_approximate(nb::module_& m, const std::string& name, TopK top_k, Serves serves) {
    m.def((name + "_approximate_top_k").c_str(),
          [=](const Space& objects, const Space& queries, const std::optional<Positions>& among,
              const std::optional<Positions>& names, const Structure&... structure, bool skip_self,
              std::size_t k, const std::optional<Thresholds>& floors, double epsilon,
              double relative, std::optional<std::size_t> budget, std::optional<double> seconds,
              std::size_t threads, const nb::object& progress) {
              const ScanProblem problem =
                  scan_problem(objects, queries, among, skip_self, names, floors);
              if (!serves(structure..., objects)) {
                  throw std::invalid_argument("the filter is of other objects");
              }
              const StopRule stop = stop_rule(epsilon, relative, budget, seconds);
              if (stop.budget < k) throw std::invalid_argument("budget must be at least k");
              check_k(problem.among.size, skip_self, k);
              BoundCounts counts;
              const auto run = [&](const Watch& watch, TopKAnswers answers) {
                  counts = top_k(problem, structure..., k, stop, threads, watch, answers);
              };
              ApproximateArrays found = run_approximate_top_k(queries.size(), k, progress, run);
              return std::tuple_cat(std::move(found), std::make_tuple(to_counts(counts)));
          },
          "objects"_a, "queries"_a, "among"_a.none(), "names"_a.none(),
          structure_argument<Structure>()..., "skip_self"_a, "k"_a, "floors"_a.none(), "epsilon"_a,
          "relative"_a, "budget"_a.none(), "seconds"_a.none(), "threads"_a, "progress"_a.none());
}

}  // namespace fastmks::bindings
