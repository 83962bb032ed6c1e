#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/gil.hpp"
#include "bindings/core/watch.hpp"
#include "fastmks/stores/path_counts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fastmks::bindings {
namespace {

using Offsets = Array<std::int64_t, 1>;
using Labels = Array<std::int32_t, 1>;

template <class T, class Field>
Result<T> column(const std::vector<PathCount>& counts, Field field) {
    auto values = std::make_unique<T[]>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) values[i] = counts[i].*field;
    return to_array(std::move(values), {counts.size()});
}

using Counts = std::tuple<Result<std::int64_t>, Result<std::int32_t>, Result<std::int32_t>,
                          Result<std::int32_t>, Result<std::int64_t>>;

Counts path_counts(const Offsets& graphs, const Offsets& offsets, const Labels& neighbours,
                   const Labels& labels) {
    if (graphs.size() == 0 || offsets.size() != labels.size() + 1) {
        throw std::invalid_argument("graphs, offsets and labels do not belong together");
    }
    const GraphsView view{graphs.data(),     graphs.size() - 1, offsets.data(), labels.size(),
                          neighbours.data(), neighbours.size(), labels.data()};
    const nb::object no_progress = nb::none();
    std::vector<PathCount> counts;
    {
        const WithoutGil without_gil;
        counts = count_paths(view, python_watch(no_progress));
    }
    return {column<std::int64_t>(counts, &PathCount::graph),
            column<std::int32_t>(counts, &PathCount::low),
            column<std::int32_t>(counts, &PathCount::high),
            column<std::int32_t>(counts, &PathCount::length),
            column<std::int64_t>(counts, &PathCount::count)};
}

}  // namespace

void register_graphs(nb::module_& m) {
    m.def("path_counts", &path_counts, "graphs"_a.noconvert(), "offsets"_a.noconvert(),
          "neighbours"_a.noconvert(), "labels"_a.noconvert(),
          "(graph, low label, high label, length, count) of the pairs of nodes in each graph.");
}

}  // namespace fastmks::bindings
