#pragma once

#include <cstddef>
#include <cstdint>

namespace fastmks {

/// Called now and then within a pair, every 20 ms at least; what it throws ends the work.
using Pulse = void (*)();

/// Two strings of letters, as numbers from 0: x forwards, y backwards.
struct StringPair {
    const std::uint8_t* x;
    std::size_t n;
    const std::uint8_t* y_backwards;
    std::size_t m;
};

/// The factors of matches and gaps in a local alignment kernel. All are between 2^-100 and 2^100.
struct AlignmentFactors {
    const double* letters;  ///< n_letters x n_letters, symmetric
    std::size_t n_letters;
    double gap_open;
    double gap_extend;
    double greatest;  ///< of them all and 1
};

/// The scores that matches add to an alignment, and those that gaps subtract.
template <class T>
struct AlignmentScores {
    const T* letters;
    std::size_t n_letters;
    T gap_open;
    T gap_extend;
    bool has_gaps;  ///< false: ungapped segments only
};

/// Two series of n_channels each, one channel after the other: x forwards, y backwards.
struct SeriesPair {
    const double* x;
    std::size_t n;
    const double* y_backwards;
    std::size_t m;
    std::size_t n_channels;
};

struct SeriesForm {
    double inverse_bandwidth;
    const double* weights;  ///< of |i - j| = 0 ... n_weights - 1; null where every pair weighs 1
    std::size_t n_weights;
};

/// Places of each kind that the loops need for an x of length n.
[[nodiscard]] constexpr std::size_t scratch_size(std::size_t n) noexcept {
    return 13 * (n + 2);
}

/// The loops over all pairs of positions of two objects. They run along antidiagonals, whose cells
/// do not depend on each other; each cell is one fixed expression, so every instruction set gives
/// the same bits. Built once per instruction set. Scratch holds scratch_size(n) elements.
struct AlignmentLoops {
    /// Sums of M(i, j) over j: row i = 1 ... n is left in doubles[i] * 2^integers[i].
    void (*local_alignment)(StringPair, AlignmentFactors, double* doubles, std::int64_t* integers,
                            Pulse pulse);
    /// The score of the best local alignment, at least 0.
    std::int32_t (*best_i32)(StringPair, AlignmentScores<std::int32_t>, std::int32_t* scratch,
                             Pulse pulse);
    double (*best_f64)(StringPair, AlignmentScores<double>, double* scratch, Pulse pulse);
    /// The global alignment kernel is left in doubles[0] * 2^integers[0].
    void (*global_alignment)(SeriesPair, SeriesForm, double* doubles, std::int64_t* integers,
                             Pulse pulse);
};

}  // namespace fastmks
