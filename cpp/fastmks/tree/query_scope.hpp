// Which objects one query of a tree may evaluate.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "fastmks/core/space.hpp"
#include "fastmks/simd/loops.hpp"
#include "fastmks/tree/tree_search.hpp"

namespace fastmks {

/// Which places a query may evaluate, and which it may return.
struct Places {
    PlaceList among;              ///< to evaluate
    PlaceList only;               ///< to return
    bool is_sample = false;       ///< `among` is a sample: what is not in it is missed
    std::size_t self = SIZE_MAX;  ///< the query's own place, which is not returned

    [[nodiscard]] std::size_t count(std::uint32_t begin, std::uint32_t end) const {
        if (!among) return end - begin;
        const auto first = std::lower_bound(among->begin(), among->end(), begin);
        return static_cast<std::size_t>(std::lower_bound(first, among->end(), end) - first);
    }
    [[nodiscard]] bool contains(std::uint32_t place) const { return holds(among, place); }
    [[nodiscard]] bool may_return(std::uint32_t place) const {
        return place != self && holds(only, place);
    }

    /// Looks for values of a query that are not finite: ValueFault where the object may be
    /// returned. Others only lead to such objects; their values become NaN, which bounds nothing.
    void check(std::size_t query, Selection objects, const Space& space, double* values) const {
        if (loops_for(space.isa()).vectors.all_finite(values, objects.size)) return;
        for (std::size_t i = 0; i < objects.size; ++i) {
            if (std::isfinite(values[i])) continue;
            if (may_return(static_cast<std::uint32_t>(objects[i]))) {
                throw ValueFault{query, objects[i], values[i]};
            }
            values[i] = NAN;
        }
    }

private:
    static bool holds(const PlaceList& places, std::uint32_t place) {
        return !places || std::binary_search(places->begin(), places->end(), place);
    }
};

}  // namespace fastmks
