#include "fastmks/filters/axes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "fastmks/filters/axes_trial.hpp"
#include "fastmks/filters/principal_axes.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

using choosing::Places;
using choosing::PowerOfTwo;
using choosing::Trial;
using choosing::View;

// Vectors that say where the axes lie, and as many again that play the objects when the number of
// axes is chosen: few where they are long, so that a sample of the longest is read about as fast.
constexpr std::size_t most_sampled = 8192;
constexpr std::size_t fewest_sampled = 256;
constexpr std::size_t most_numbers = std::size_t{1} << 24;
constexpr std::size_t most_exact = 1024;        // columns up to which all axes are computed
constexpr std::size_t most_found = 512;         // axes beyond that
constexpr std::size_t most_oriented_by = 1024;  // sampled vectors that choose the axes' signs
constexpr std::size_t most_judges = 32;         // sampled vectors that play the queries
constexpr std::size_t fewest_judges = 8;
constexpr std::size_t most_judged_numbers = std::size_t{1} << 21;
constexpr std::size_t n_neighbours = 1024;  // objects among which a judge looks for close ones
constexpr double close = 0.8;               // cosine of vectors that are
// Seconds of the code of one coordinate of one object, of one column of an evaluation, and of an
// evaluation beside, which is spent waiting for memory. The same on every machine, so that the same
// objects have the same axes everywhere.
constexpr double code_seconds = 6e-12;
constexpr double column_seconds = 1e-10;
constexpr double waiting_seconds = 1e-7;
constexpr double per_survivor = 2.0;  // candidates for each object that the last threshold leaves

// Some places, evenly spread, with the first and the last.
Places spread(std::size_t n, std::size_t most) {
    Places places(std::min(n, most));
    for (std::size_t i = 0; i < places.size(); ++i) {
        places[i] = places.size() == 1 ? 0 : i * (n - 1) / (places.size() - 1);
    }
    return places;
}

// Others, as evenly spread, in the middles of equal parts.
Places between(std::size_t n, std::size_t most) {
    Places places(std::min(n, most));
    for (std::size_t i = 0; i < places.size(); ++i) {
        places[i] = (2 * i + 1) * n / (2 * places.size());
    }
    return places;
}

std::size_t sample_size(std::size_t n, std::size_t n_columns) {
    if (n_columns <= most_exact) return std::min(n, most_sampled);
    return std::min(n, std::clamp(most_numbers / n_columns, fewest_sampled, most_sampled));
}

// Axes of long vectors: no more than fit, twice, into the memory of the objects in float32.
std::size_t axis_count(std::size_t n, std::size_t n_columns) {
    const std::size_t in_memory = std::max<std::size_t>(8, n / 5);
    return std::min({most_found, sample_size(n, n_columns), n_columns, in_memory});
}

std::size_t judge_count(std::size_t n_columns) {
    return std::clamp(most_judged_numbers / (n_columns + 1), fewest_judges, most_judges);
}

// Whether unit vectors are told apart better by their distances: they are close to each other.
bool are_close(const Matrix& judges, const View& objects, const Places& looked_at,
               const MatrixWork& work) {
    Places neighbours;
    for (const std::size_t i : spread(looked_at.size(), n_neighbours)) {
        neighbours.push_back(looked_at[i]);
    }
    const std::size_t n = judges.n_columns();
    std::vector<double> best(n, -HUGE_VAL), second(n, -HUGE_VAL);
    objects.for_blocks(neighbours, [&](const Matrix& block, std::size_t) {
        Matrix cosines(block.n_rows(), n);
        add_product(block, judges, cosines, work);
        for (std::size_t i = 0; i < block.n_rows(); ++i) {
            for (std::size_t q = 0; q < n; ++q) {
                const double cosine = cosines.row(i)[q];
                second[q] = std::max(second[q], std::min(best[q], cosine));
                best[q] = std::max(best[q], cosine);
            }
        }
    });
    std::vector<double>& seen = neighbours.size() > 1 ? second : best;
    const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(n / 2);
    std::nth_element(seen.begin(), middle, seen.end());
    return *middle >= close;
}

std::vector<std::size_t> candidates(std::size_t most, std::size_t wanted) {
    if (wanted > 0) return {std::min(wanted, most)};
    std::vector<std::size_t> numbers;
    for (const std::size_t m : {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768}) {
        if (m < most) numbers.push_back(m);
    }
    numbers.push_back(most);
    return numbers;
}

Matrix find_axes(const View& view, const Places& sample, const MatrixWork& work) {
    const std::size_t n = view.n_columns();
    Matrix axes = n <= most_exact
                      ? choosing::all_axes(view, sample, work)
                      : choosing::first_axes(view, sample, axis_count(view.size(), n), work);
    if (axes.n_columns() > 0) return axes;
    Matrix any(n, 1);  // all vectors are zero
    any.row(0)[0] = 1.0;
    return any;
}

// Turns each axis along which leaves may be split so that a sample reaches farther towards its low
// end. Leaves begin there: those with the longest vectors come first, and products exceed the k-th
// value early.
void put_long_vectors_first(Matrix& axes, const View& view, const Places& sample,
                            const MatrixWork& work) {
    const std::size_t n = std::min(axes.n_columns(), most_split_axes);
    Matrix first(axes.n_rows(), n);
    for (std::size_t c = 0; c < axes.n_rows(); ++c) std::copy_n(axes.row(c), n, first.row(c));
    Places places = spread(sample.size(), most_oriented_by);
    for (std::size_t& place : places) place = sample[place];
    std::vector<double> cubes(n);
    view.for_blocks(places, [&](const Matrix& block, std::size_t) {
        Matrix coordinates(block.n_rows(), n);
        add_product(block, first, coordinates, work);
        for (std::size_t i = 0; i < block.n_rows(); ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                const double x = coordinates.row(i)[j];
                cubes[j] += x * x * x;
            }
        }
    });
    for (std::size_t j = 0; j < n; ++j) {
        if (!(cubes[j] > 0.0)) continue;
        for (std::size_t c = 0; c < axes.n_rows(); ++c) axes.row(c)[j] *= -1.0;
    }
}

std::shared_ptr<AxisProjection> project_on(const Matrix& axes, std::size_t n_axes,
                                           const Space& objects, const View& view) {
    const std::size_t n = view.n_columns();
    std::vector<double> rows(n_axes * padded(n));
    for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t i = 0; i < n_axes; ++i) rows[i * padded(n) + c] = axes.row(c)[i];
    }
    std::vector<double> origin = view.origin();
    const ScoreKind kind = scores_of(objects).kind;
    if (kind == ScoreKind::distance) {
        const PowerOfTwo scaled(view.exponent());
        for (double& x : origin) x = scaled(x);
    }
    return std::make_shared<AxisProjection>(kind, std::move(rows), n_axes, n, std::move(origin),
                                            objects.isa());
}

}  // namespace

double guess_axes_seconds(std::size_t n_objects, std::size_t n_columns) {
    const auto n = static_cast<double>(sample_size(n_objects, n_columns));
    const auto d = static_cast<double>(n_columns);
    constexpr double step = 4.5e-11;  // a multiplication and an addition
    double n_steps = 64.0 * n * d;
    if (n_columns <= most_exact) {
        n_steps += 0.5 * n * d * d + 18.0 * d * d * d;
    } else {
        const auto m = static_cast<double>(axis_count(n_objects, n_columns));
        n_steps += 4.0 * n * m * d + 8.0 * m * m * d + 110.0 * m * m * m;
    }
    return 0.001 + n_steps * step;
}

ChosenAxes choose_axes(const Space& objects, const AxesWish& wish, std::size_t threads,
                       const Watch& watch) {
    const ScoreKind kind = scores_of(objects).kind;
    const MatrixWork work{loops_for(objects.isa()).matrices, threads, watch};
    View view(objects, kind, watch);
    const bool has_queries = wish.queries && wish.queries->size() > 0;
    View asking(has_queries ? *wish.queries : objects, kind, watch);

    const std::size_t n_sampled = sample_size(objects.size(), view.n_columns());
    const std::size_t n_judges = judge_count(view.n_columns());
    const Places sample = spread(objects.size(), n_sampled);
    Places looked_at = between(objects.size(), n_sampled);
    Places asked;
    if (has_queries) {
        asked = spread(wish.queries->size(), n_judges);
    } else {
        for (const std::size_t i : spread(looked_at.size(), n_judges)) {
            asked.push_back(looked_at[i]);
        }
    }
    if (kind != ScoreKind::cosine) {
        view.find_unit(sample);
        if (kind == ScoreKind::product && has_queries) {
            asking.find_unit(asked);  // products with any multiple of a query are in the same order
        } else {
            asking.use_unit(view.exponent());
        }
    }
    if (kind == ScoreKind::distance ||
        (kind == ScoreKind::cosine && are_close(asking.columns(asked), view, looked_at, work))) {
        view.use_origin(view.mean(sample));
        asking.use_origin(view.origin());
    }

    Matrix axes = find_axes(view, sample, work);
    if (kind == ScoreKind::product) put_long_vectors_first(axes, view, sample, work);
    Trial trial(asking, asked, view, std::move(looked_at), axes, work);
    const double share = trial.share_looked_into(objects.size());
    // An object that plays a query is its own best hit.
    const double n_hits =
        wish.n_hits / static_cast<double>(objects.size()) * static_cast<double>(n_sampled) +
        (has_queries ? 0.0 : 1.0);
    const auto rank = static_cast<std::size_t>(std::llround(n_hits));
    trial.set_rank(std::min(n_sampled - 1, rank));
    const double survivor_seconds =
        per_survivor * (waiting_seconds + static_cast<double>(view.n_columns()) * column_seconds);
    std::size_t best = 0;
    ChosenAxes chosen{nullptr, 1.0, HUGE_VAL};
    for (const std::size_t m : candidates(axes.n_columns(), wish.dimension)) {
        const double codes = static_cast<double>(m) * code_seconds * share;
        if (codes >= chosen.seconds_per_object) break;
        const double survivors = trial.share_left(m);
        const double seconds = codes + survivors * survivor_seconds;
        if (seconds < chosen.seconds_per_object) {
            best = m;
            chosen = {nullptr, survivors, seconds};
        }
    }
    chosen.projection = project_on(axes, best, objects, view);
    return chosen;
}

}  // namespace fastmks
