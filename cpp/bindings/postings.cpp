#include "fastmks/postings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "gil.hpp"
#include "problem.hpp"
#include "watch.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

using Counts = std::tuple<std::size_t, std::size_t, std::size_t>;

Counts to_counts(const PostingsCounts& counts) {
    return {counts.evaluations, counts.bounds, counts.operations};
}

std::shared_ptr<Postings> postings(const Space& objects, const nb::object& progress) {
    const Watch watch = python_watch(progress);
    const WithoutGil without_gil;
    return std::make_shared<Postings>(objects, watch);
}

void check_postings(const Postings& postings, const Space& objects) {
    if (postings.size() != objects.size() || !Postings::fits(objects)) {
        throw std::invalid_argument("the postings are of other objects");
    }
}

std::tuple<Result<double>, Result<std::int64_t>, Counts> top_k(
    const Space& objects, const Space& queries, const Postings& postings,
    const std::optional<Positions>& among, const std::optional<Positions>& names, bool skip_self,
    std::size_t k, std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self, names);
    check_postings(postings, objects);
    check_k(problem, k);
    const std::size_t n = queries.size();
    auto values = std::make_unique<double[]>(n * k);
    auto positions = std::make_unique<std::int64_t[]>(n * k);
    const Watch watch = python_watch(progress);
    PostingsCounts counts;
    {
        const WithoutGil without_gil;
        counts =
            postings_top_k(problem, postings, k, threads, watch, values.get(), positions.get());
    }
    return {to_array(std::move(values), {n, k}), to_array(std::move(positions), {n, k}),
            to_counts(counts)};
}

std::tuple<HitArrays, Counts> above(const Space& objects, const Space& queries,
                                    const Postings& postings, const std::optional<Positions>& among,
                                    const std::optional<Positions>& names,
                                    const Thresholds& thresholds, std::size_t threads,
                                    const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, false, names);
    check_postings(postings, objects);
    if (thresholds.size() != queries.size()) throw std::invalid_argument("one threshold per query");
    Flattened flattened;
    PostingsCounts counts;
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        std::vector<std::vector<Hit>> answers;
        counts = postings_above(problem, postings, thresholds.data(), threads, watch, answers);
        flattened = flatten(answers);
    }
    return {to_arrays(std::move(flattened)), to_counts(counts)};
}

}  // namespace

void register_postings(nb::module_& m) {
    nb::class_<Postings>(m, "Postings", "Sparse vectors by columns.")
        .def_static("fits", &Postings::fits, "objects"_a)
        .def("__len__", &Postings::size)
        .def_prop_ro("n_planes", &Postings::n_planes)
        .def_prop_ro("n_postings", &Postings::n_postings)
        .def_prop_ro("n_bytes", &Postings::n_bytes);
    m.def("postings", &postings, "objects"_a, "progress"_a.none());
    m.def("postings_top_k", &top_k, "objects"_a, "queries"_a, "postings"_a, "among"_a.none(),
          "names"_a.none(), "skip_self"_a, "k"_a, "threads"_a, "progress"_a.none());
    m.def("postings_above", &above, "objects"_a, "queries"_a, "postings"_a, "among"_a.none(),
          "names"_a.none(), "thresholds"_a, "threads"_a, "progress"_a.none());
}

}  // namespace fastmks::bindings
