#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/core/space.hpp"
#include "fastmks/core/top_k.hpp"
#include "fastmks/simd/code_loops.hpp"
#include "fastmks/spaces/score_map.hpp"

/// The state of one query in a search through a table.
namespace fastmks::coded {

// At most x.
inline float round_down(double x) {
    constexpr double largest = 0x1p127;
    if (!(x >= -largest)) return -HUGE_VALF;
    const auto rounded = static_cast<float>(std::min(x, largest));
    return rounded - 0x1p-22f * __builtin_fabsf(rounded) - 1e-37f;
}

inline float round_up(double x) {
    return -round_down(-x);
}

// At least a promise; what is not a number promises everything.
inline float promise_above(double promise) {
    return promise == promise ? round_up(promise) : HUGE_VALF;
}

// Objects that may matter to a query, each with a promise: at least how far its score lies from
// the middle of the query's useless scores.
class Candidates {
public:
    [[nodiscard]] std::size_t size() const noexcept { return promises_.size(); }
    // Room for n more, all of which must be written.
    struct Room {
        float* promises;
        std::uint32_t* positions;
    };
    [[nodiscard]] Room room(std::size_t n) {
        const std::size_t before = size();
        resize(before + n);
        return {promises_.data() + before, positions_.data() + before};
    }
    // Drops those that promise less than `reach`.
    void drop(float reach) {
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            const float promise = promises_[i];
            promises_[n_left] = promise;
            positions_[n_left] = positions_[i];
            n_left += !(promise < reach);
        }
        resize(n_left);
    }
    // Moves the n most promising ones, and perhaps a few more, to `out`.
    void take_best(std::size_t n, const CodeLoops& loops, std::vector<std::int64_t>& out) {
        const float least = loops.least_of_best(promises_.data(), size(), n);
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            if (promises_[i] >= least) {
                out.push_back(positions_[i]);
            } else {
                promises_[n_left] = promises_[i];
                positions_[n_left++] = positions_[i];
            }
        }
        resize(n_left);
    }
    // Moves up to n of them, whichever, to `out`.
    void take_last(std::size_t n, std::vector<std::int64_t>& out) {
        const std::size_t first = size() - std::min(n, size());
        out.insert(out.end(), positions_.begin() + static_cast<std::ptrdiff_t>(first),
                   positions_.end());
        resize(first);
    }

    // Hands all of them on through take(promise, position).
    template <class Take>
    void drain(Take take) {
        for (std::size_t i = 0; i < size(); ++i) take(promises_[i], positions_[i]);
        resize(0);
    }

private:
    void resize(std::size_t n) {
        promises_.resize(n);
        positions_.resize(n);
    }

    std::vector<float> promises_;
    std::vector<std::uint32_t> positions_;
};

// One query: where it lies, what it has found, and which scores are no use to it any more. Lengths
// and scores are in units of the table and err above.
struct alignas(64) Query {
    Query(std::size_t index_, std::size_t k) : index(index_), best(k) {}

    // The members that every leaf uses lie together.
    std::vector<std::int32_t> words;  // codes
    std::int32_t sum = 0;
    float scale = 0.0f;
    struct {
        double code_norm = 0.0, code_error = 0.0, length = 0.0, tail = 0.0;
        float tails = 0.0f;    // what multiplies those of objects
    } slack_of;                // the leaf's lengths, as shares of each
    float least = -HUGE_VALF;  // lesser lower bounds are dropped
    double slack = 0.0;        // of bounds in the leaf scanned last
    double spread = 0.0;       // between upper and lower bounds there, without tails
    float reach = -HUGE_VALF;  // what promises less is useless
    double middle = 0.0;
    ScoreRange useless = ScoreRange::empty();
    bool is_finite = true;
    bool is_two_sided = false;
    // Lower bounds of the scores of objects that were candidates; the k-th greatest says which
    // values matter before anything is evaluated. Only where values grow with their scores.
    bool has_leasts = false;
    std::vector<float> leasts;
    Candidates candidates;

    std::size_t index;
    std::unique_ptr<QueryBatch> batch;
    TopK best;
    std::vector<Hit> found;  // for searches above a threshold

    std::vector<float> row;  // coordinates, zeros up to whole words
    double norm = 0.0;
    double row_norm = 0.0;
    double tail = 0.0;
    double least_tail = 0.0;  // errs below
    double error = 0.0;       // of the row
    double code_error = 0.0;

    int shift = 0;             // scores here are true ones times 2^-shift
    double unit = 1.0;         // that power, where it is a number
    double largest = 0.0;      // no true score is greater in magnitude
    double value = -HUGE_VAL;  // only values of at least this matter

    [[nodiscard]] bool has_useless() const noexcept { return useless.low < useless.high; }
};

}  // namespace fastmks::coded
