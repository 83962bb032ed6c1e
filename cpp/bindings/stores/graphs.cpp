

#include "bindings/core/arrays.hpp"
#include "bindings/core/watch.hpp"
#include "fastmks/stores/path_counts.hpp"

namespace fastmks::bindings {
namespace {

using Offsets = Array<std::int64_t, 1>;
using Labels = Array<std::int32_t, 1>;

template <class T>
Result<T> column(const std::vector<PathCount>& counts, T PathCount::* field) {
    return array_of<T>(counts.size(), [&](std::size_t i) { return counts[i].*field; });
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
    return {column(counts, &PathCount::graph), column(counts, &PathCount::low),
            column(counts, &PathCount::high), column(counts, &PathCount::length),
            column(counts, &PathCount::count)};
}

}  // namespace

void register_graphs(nb::module_& m) {
    m.def("path_counts", &path_counts, "graphs"_a.noconvert(), "offsets"_a.noconvert(),
          "neighbours"_a.noconvert(), "labels"_a.noconvert(),
          "(graph, low label, high label, length, count) of the pairs of nodes in each graph.");
}

}  // namespace fastmks::bindings
