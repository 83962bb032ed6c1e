#include "fastmks/spaces/residue_space.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "fastmks/core/pulse.hpp"
#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

constexpr double largest_whole = 0x1p20;
constexpr double largest_whole_score = 0x1p30;

// The letters of y from the last to the first, in the scratch.
const std::uint8_t* turn(const std::uint8_t* y, std::size_t m, Scratch& scratch) {
    scratch.letters.resize(m + 1);
    std::reverse_copy(y, y + m, scratch.letters.begin());
    return scratch.letters.data();
}

template <class T>
T* grown(std::vector<T>& memory, std::size_t n) {
    if (memory.size() < scratch_size(n)) memory.resize(scratch_size(n));
    return memory.data();
}

}  // namespace

void ResidueStore::check_letters(std::size_t n_letters) const {
    const auto is_known = [=](std::uint8_t letter) { return letter < n_letters; };
    if (!std::all_of(residues_, residues_ + offsets_[n_], is_known)) {
        throw std::invalid_argument("a letter is not in the matrix");
    }
}

LocalAlignmentSpace::LocalAlignmentSpace(std::shared_ptr<const ResidueStore> store,
                                         AlignmentKernel kernel, double beta, WideForm form)
    : WideSpace(store->size(), form),
      store_(std::move(store)),
      kernel_(std::move(kernel)),
      beta_(beta),
      loops_(loops_for(form.isa).alignments) {
    store_->check_letters(kernel_.n_letters);
    std::vector<double> factors = kernel_.scores;
    factors.push_back(-kernel_.gap_open);
    factors.push_back(-kernel_.gap_extend);
    for (double& factor : factors) {
        factor *= beta;
        if (!(std::abs(factor) <= largest_exponent)) {
            throw std::invalid_argument("a factor is out of range");
        }
    }
    loops_for(form.isa).vectors.exponential(factors.data(), factors.size());
    greatest_ = std::max(1.0, *std::max_element(factors.begin(), factors.end()));
    gap_extend_ = factors.back();
    factors.pop_back();
    gap_open_ = factors.back();
    factors.pop_back();
    letters_ = std::move(factors);
    complete(relative_error());
}

bool LocalAlignmentSpace::has_same_kernel(const WideSpace& queries) const noexcept {
    const auto& other = static_cast<const LocalAlignmentSpace&>(queries);
    return other.kernel_ == kernel_ && other.beta_ == beta_;
}

// The recurrences treat x and y differently, so the pair is put in order: the shorter string first,
// of equally long ones the one with the lesser letters.
Wide LocalAlignmentSpace::compute(const WideSpace& queries, std::size_t query, std::size_t object,
                                  Scratch& scratch) const {
    const ResidueStore& others = *static_cast<const LocalAlignmentSpace&>(queries).store_;
    const std::uint8_t *x = store_->begin(object), *y = others.begin(query);
    std::size_t n = store_->length(object), m = others.length(query);
    if (n == 0 || m == 0) return {1.0, 0};
    if (n > m || (n == m && std::memcmp(x, y, n) > 0)) {
        std::swap(x, y);
        std::swap(n, m);
    }
    double* const doubles = grown(scratch.doubles, n);
    std::int64_t* const integers = grown(scratch.integers, n);
    const AlignmentFactors factors{letters_.data(), kernel_.n_letters, gap_open_, gap_extend_,
                                   greatest_};
    loops_.local_alignment({x, n, turn(y, m, scratch), m}, factors, doubles, integers, pulse);
    Wide sum{1.0, 0};
    for (std::size_t i = 1; i <= n; ++i) sum = sum + make_wide(doubles[i], integers[i]);
    return sum;
}

// Every term of the sum is a product along a path of at most n + m cells. A cell adds at most five
// roundings and one factor, which is off by 2 units for exp and by |exponent| for its argument; the
// sums over cells add n + m at most. See docs/how-it-works/proofs/rounding.md.
double LocalAlignmentSpace::relative_error() const noexcept {
    double largest = std::max(kernel_.gap_open, kernel_.gap_extend);
    for (const double score : kernel_.scores) largest = std::max(largest, std::abs(score));
    const double steps = 2.0 * static_cast<double>(store_->longest()) + 2.0;
    const double errors = steps * (8.0 + beta_ * largest) * roundoff;
    return errors < 0.5 ? errors / (1.0 - errors) : HUGE_VAL;
}

BestAlignmentSpace::BestAlignmentSpace(std::shared_ptr<const ResidueStore> store,
                                       AlignmentKernel kernel, bool has_gaps, Isa isa)
    : Space(
          {.size = store->size(), .isa = isa, .symmetry = Symmetry::proven, .is_expensive = true}),
      store_(std::move(store)),
      kernel_(std::move(kernel)),
      has_gaps_(has_gaps),
      loops_(loops_for(isa).alignments) {
    const std::size_t n_letters = kernel_.n_letters;
    store_->check_letters(n_letters);
    const auto is_whole = [](double score) {
        return std::abs(score) <= largest_whole && score == std::trunc(score);
    };
    is_whole_ = std::all_of(kernel_.scores.begin(), kernel_.scores.end(), is_whole) &&
                is_whole(kernel_.gap_open) && is_whole(kernel_.gap_extend);
    if (is_whole_) whole_.assign(kernel_.scores.begin(), kernel_.scores.end());
    with_itself_.resize(n_letters);
    with_others_.resize(n_letters);
    for (std::size_t a = 0; a < n_letters; ++a) {
        for (std::size_t b = 0; b < n_letters; ++b) {
            const double score = kernel_.scores[a * n_letters + b];
            greatest_ = std::max(greatest_, score);
            double& best = a == b ? with_itself_[a] : with_others_[a];
            best = std::max(best, score);
        }
        with_itself_[a] = std::max(with_itself_[a], with_others_[a]);
    }
    counts_.resize(size() * n_letters);
    for (std::size_t i = 0; i < size(); ++i) {
        const std::uint8_t* const letters = store_->begin(i);
        for (std::size_t at = 0; at < store_->length(i); ++at) {
            ++counts_[i * n_letters + letters[at]];
        }
    }
}

bool BestAlignmentSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const BestAlignmentSpace*>(&queries);
    return other && other->kernel_ == kernel_ && other->has_gaps_ == has_gaps_;
}

double BestAlignmentSpace::self_value(std::size_t position) const {
    Scratch scratch;
    return score(*this, position, position, scratch);
}

void BestAlignmentSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                                  std::size_t stride) const {
    const BestAlignmentSpace& others = static_cast<const BestAlignmentSpace&>(queries.space);
    Scratch scratch;
    for (std::size_t i = 0; i < queries.size; ++i) {
        for (std::size_t j = 0; j < objects.size; ++j) {
            out[i * stride + j] = score(others, queries.begin + i, objects[j], scratch);
        }
    }
}

void BestAlignmentSpace::bound_values(const QueryBatch& queries, Selection objects, double* out,
                                      std::size_t stride) const {
    const BestAlignmentSpace& others = static_cast<const BestAlignmentSpace&>(queries.space);
    for (std::size_t i = 0; i < queries.size; ++i) {
        for (std::size_t j = 0; j < objects.size; ++j) {
            out[i * stride + j] = bound(others, queries.begin + i, objects[j]);
        }
    }
}

// Exchanging x and y exchanges the two kinds of gap and nothing else: the same bits.
double BestAlignmentSpace::score(const BestAlignmentSpace& queries, std::size_t query,
                                 std::size_t object, Scratch& scratch) const {
    const std::uint8_t *x = store_->begin(object), *y = queries.store_->begin(query);
    std::size_t n = store_->length(object), m = queries.store_->length(query);
    if (n > m) {
        std::swap(x, y);
        std::swap(n, m);
    }
    if (n == 0) return 0.0;
    const StringPair pair{x, n, turn(y, m, scratch), m};
    // Whole scores are exact either way; narrow integers are faster.
    if (is_whole_ && static_cast<double>(n) * greatest_ <= largest_whole_score) {
        const AlignmentScores<std::int32_t> scores{
            whole_.data(), kernel_.n_letters, static_cast<std::int32_t>(kernel_.gap_open),
            static_cast<std::int32_t>(kernel_.gap_extend), has_gaps_};
        return loops_.best_i32(pair, scores, grown(scratch.scores, n), pulse);
    }
    const AlignmentScores<double> scores{kernel_.scores.data(), kernel_.n_letters, kernel_.gap_open,
                                         kernel_.gap_extend, has_gaps_};
    return loops_.best_f64(pair, scores, grown(scratch.doubles, n), pulse);
}

// An alignment pairs each letter of either string at most once. Of the letters a in x, as many as
// there are in y can be paired with their like; the others add at most what a adds with any other
// letter. So for y: the lesser sum is the bound. A score is a sum of fewer than n + m rounded terms
// on the way up to it, and this one of 2 * n_letters: a share of (n + m + 2 n_letters) units covers
// both, and whole numbers need none of it.
double BestAlignmentSpace::bound(const BestAlignmentSpace& queries, std::size_t query,
                                 std::size_t object) const {
    const std::size_t n_letters = kernel_.n_letters;
    const std::int32_t* const x = counts_.data() + object * n_letters;
    const std::int32_t* const y = queries.counts_.data() + query * n_letters;
    double of_x = 0.0, of_y = 0.0;
    for (std::size_t a = 0; a < n_letters; ++a) {
        const double shared = std::min(x[a], y[a]);
        const double alike = shared * with_itself_[a];
        of_x += alike + (x[a] - shared) * with_others_[a];
        of_y += alike + (y[a] - shared) * with_others_[a];
    }
    const double sum = std::min(of_x, of_y);
    if (is_whole_) return sum;
    const double terms = static_cast<double>(store_->length(object)) +
                         static_cast<double>(queries.store_->length(query)) +
                         2.0 * static_cast<double>(n_letters) + 8.0;
    return sum * (1.0 + 2.0 * terms * roundoff);
}

}  // namespace fastmks
