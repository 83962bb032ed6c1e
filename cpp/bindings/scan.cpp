#include "fastmks/scan.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <memory>
#include <optional>
#include <tuple>

#include "bindings.hpp"
#include "gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

template <class T>
using Result = nb::ndarray<nb::numpy, T>;
using Positions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Thresholds = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Result<T> to_array(std::unique_ptr<T[]> values, std::initializer_list<std::size_t> shape) {
    T* data = values.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Result<T>(data, shape, owner);
}

Selection selection(const Space& objects, const std::optional<Positions>& among) {
    if (!among) return Selection::range(0, objects.size());
    const std::int64_t* data = among->data();
    for (std::size_t i = 0; i < among->size(); ++i) {
        const std::int64_t previous = i == 0 ? -1 : data[i - 1];
        if (data[i] <= previous || data[i] >= static_cast<std::int64_t>(objects.size())) {
            throw std::invalid_argument("positions must increase and exist");
        }
    }
    return Selection::list(data, among->size());
}

ScanProblem scan_problem(const Space& objects, const Space& queries,
                         const std::optional<Positions>& among, bool skip_self = false) {
    if (!objects.accepts(queries)) {
        throw std::invalid_argument(
            "queries must have the objects' kernel, columns and kind of store");
    }
    return {objects, queries, selection(objects, among), skip_self};
}

// Lets Ctrl-C through, and tells `progress` how much is done, a few times a second. Called by the
// core on the thread that called us, which holds no GIL meanwhile.
Watch python_watch(const nb::object& progress) {
    using Clock = std::chrono::steady_clock;
    return [&progress, last = Clock::now()](std::size_t work_done) mutable {
        const auto now = Clock::now();
        if (now - last < std::chrono::milliseconds(50)) return;
        last = now;
        stop_here_if_python_is_ending();
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(work_done);
    };
}

std::tuple<Result<double>, Result<std::int64_t>> top_k(const Space& objects, const Space& queries,
                                                       const std::optional<Positions>& among,
                                                       bool skip_self, std::size_t k,
                                                       std::size_t threads,
                                                       const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among, skip_self);
    if (k == 0 || k + (skip_self ? 1 : 0) > problem.among.size) {
        throw std::invalid_argument("k must be between 1 and the objects searched");
    }
    const std::size_t n = queries.size();
    auto values = std::make_unique<double[]>(n * k);
    auto positions = std::make_unique<std::int64_t[]>(n * k);
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        scan_top_k(problem, k, threads, watch, values.get(), positions.get());
    }
    return {to_array(std::move(values), {n, k}), to_array(std::move(positions), {n, k})};
}

std::tuple<Result<std::int64_t>, Result<double>, Result<std::int64_t>> above(
    const Space& objects, const Space& queries, const std::optional<Positions>& among,
    const Thresholds& thresholds, std::size_t threads, const nb::object& progress) {
    const ScanProblem problem = scan_problem(objects, queries, among);
    const std::size_t n = queries.size();
    if (thresholds.size() != n) throw std::invalid_argument("one threshold per query");
    auto offsets = std::make_unique<std::int64_t[]>(n + 1);
    std::unique_ptr<double[]> values;
    std::unique_ptr<std::int64_t[]> positions;
    const Watch watch = python_watch(progress);
    {
        const WithoutGil without_gil;
        const auto answers = scan_above(problem, thresholds.data(), threads, watch);
        for (std::size_t i = 0; i < n; ++i) {
            offsets[i + 1] = offsets[i] + static_cast<std::int64_t>(answers[i].size());
        }
        values = std::make_unique<double[]>(static_cast<std::size_t>(offsets[n]));
        positions = std::make_unique<std::int64_t[]>(static_cast<std::size_t>(offsets[n]));
        std::size_t at = 0;
        for (const auto& answer : answers) {
            for (const Hit& hit : answer) {
                values[at] = hit.value;
                positions[at++] = hit.position;
            }
        }
    }
    const auto total = static_cast<std::size_t>(offsets[n]);
    return {to_array(std::move(offsets), {n + 1}), to_array(std::move(values), {total}),
            to_array(std::move(positions), {total})};
}

Result<double> matrix(const Space& objects, const Space& queries, std::size_t threads) {
    const ScanProblem problem = scan_problem(objects, queries, std::nullopt);
    auto values = std::make_unique<double[]>(queries.size() * objects.size());
    const nb::object no_progress = nb::none();
    const Watch watch = python_watch(no_progress);
    {
        const WithoutGil without_gil;
        scan_matrix(problem, threads, watch, values.get());
    }
    return to_array(std::move(values), {queries.size(), objects.size()});
}

}  // namespace

void register_scan(nb::module_& m) {
    m.def("scan_top_k", &top_k, "objects"_a, "queries"_a, "among"_a.none(), "skip_self"_a, "k"_a,
          "threads"_a, "progress"_a.none());
    m.def("scan_above", &above, "objects"_a, "queries"_a, "among"_a.none(), "thresholds"_a,
          "threads"_a, "progress"_a.none());
    m.def("scan_matrix", &matrix, "objects"_a, "queries"_a, "threads"_a);
}

}  // namespace fastmks::bindings
