#include "bindings/core/problem.hpp"

namespace fastmks::bindings {
namespace {

void check_names(const Positions& names, const Space& objects) {
    const auto n = static_cast<std::int64_t>(objects.size());
    bool is_right = names.size() == objects.size();
    for (std::size_t i = 0; is_right && i < names.size(); ++i) {
        is_right = names.data()[i] >= 0 && names.data()[i] < n;
    }
    if (!is_right) throw std::invalid_argument("names must be positions, one per object");
}

}  // namespace

ScanProblem scan_problem(const Space& objects, const Space& queries,
                         const std::optional<Positions>& among, bool skip_self,
                         const std::optional<Positions>& names,
                         const std::optional<Thresholds>& floors) {
    check_queries(objects, queries);
    if (names) check_names(*names, objects);
    return {objects,
            queries,
            selection(objects, among),
            skip_self,
            names ? names->data() : nullptr,
            check_floors(floors, queries.size())};
}

const double* check_floors(const std::optional<Thresholds>& floors, std::size_t n_queries) {
    if (!floors) return nullptr;
    if (floors->size() != n_queries) throw std::invalid_argument("one floor per query");
    return floors->data();
}

void check_queries(const Space& objects, const Space& queries) {
    if (!objects.accepts(queries)) {
        throw std::invalid_argument(
            "queries must have the objects' kernel, columns and kind of store");
    }
}

void check_k(std::size_t n_objects, bool skip_self, std::size_t k) {
    if (k == 0 || k + (skip_self ? 1 : 0) > n_objects) {
        throw std::invalid_argument("k must be between 1 and the objects searched");
    }
}

}  // namespace fastmks::bindings
