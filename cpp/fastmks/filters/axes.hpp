#pragma once

#include <cstddef>
#include <memory>

#include "fastmks/core/parallel.hpp"
#include "fastmks/core/space.hpp"
#include "fastmks/filters/projection.hpp"

namespace fastmks {

/// Leaves of codes are split along this many of the first axes.
inline constexpr std::size_t most_split_axes = 16;

/// The searches that axes are chosen for.
struct AxesWish {
    const Space* queries = nullptr;  ///< to come; null where some of the objects stand in
    std::size_t dimension = 0;       ///< how many axes; 0 for as many as pay
    double n_hits = 10.0;            ///< of a search among all objects
};

/// Principal axes of the vectors of a space, and what a search on them is expected to cost.
struct ChosenAxes {
    std::shared_ptr<AxisProjection> projection;
    double survivors;           ///< share of the objects that the bounds of a typical search leave
    double seconds_per_object;  ///< that a typical search needs, for each query
};

/// Chooses from samples of the objects and of the queries; `objects` must have scores. Any axes
/// give the same answers. No clock is asked, and all arithmetic is the same on every CPU and with
/// any number of threads: so the same objects have the same axes everywhere. Takes no more memory
/// than the objects in float32 and some 64 MiB. Throws CoordinateFault for vectors that are not
/// finite.
[[nodiscard]] ChosenAxes choose_axes(const Space& objects, const AxesWish& wish,
                                     std::size_t threads, const Watch& watch);

/// About the seconds that choosing takes on one thread.
[[nodiscard]] double guess_axes_seconds(std::size_t n_objects, std::size_t n_columns);

}  // namespace fastmks
