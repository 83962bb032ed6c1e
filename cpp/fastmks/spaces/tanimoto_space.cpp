#include "fastmks/spaces/tanimoto_space.hpp"

#include <algorithm>

#include "fastmks/simd/loops.hpp"

namespace fastmks {
namespace {

// Signatures have at least this many bits for each member of a set of average size.
constexpr std::size_t bits_per_member = 4;

std::size_t choose_length(const SetStore& store) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < store.size(); ++i) {
        total += static_cast<std::size_t>(store.n_known(i));
    }
    std::size_t n_words = 1;
    while (n_words < longest_signature && n_words * 64 * store.size() < bits_per_member * total) {
        n_words *= 2;
    }
    return n_words;
}

// Word w of a short signature is the exclusive or of the words w, w + n_words, ... of the longest.
void shorten(std::uint64_t (&signature)[longest_signature], std::size_t n_words) {
    for (std::size_t w = n_words; w < longest_signature; ++w) {
        signature[w % n_words] ^= signature[w];
    }
}

}  // namespace

SetSignatures::SetSignatures(const SetStore& store) : n_words_(choose_length(store)) {
    const std::size_t n_blocks = (store.size() + signature_block - 1) / signature_block;
    blocks_.resize(n_blocks * n_words_ * signature_block);
    sizes_.resize(n_blocks * signature_block);
    std::copy(store.sizes().begin(), store.sizes().end(), sizes_.begin());
    for (std::size_t i = 0; i < store.size(); ++i) {
        std::uint64_t signature[longest_signature];
        store.signature(i, signature);
        shorten(signature, n_words_);
        std::uint64_t* const block =
            blocks_.data() + i / signature_block * n_words_ * signature_block;
        for (std::size_t w = 0; w < n_words_; ++w) {
            block[w * signature_block + i % signature_block] = signature[w];
        }
    }
}

void SetSignatures::bounds(SetQuery query, Selection objects, const BitLoops& loops,
                           double* out) const {
    std::uint64_t signature[longest_signature];
    std::copy_n(query.signature, longest_signature, signature);
    shorten(signature, n_words_);
    query.signature = signature;
    if (objects.positions) {
        for (std::size_t j = 0; j < objects.size; ++j) out[j] = bound(query, objects[j]);
        return;
    }
    const std::size_t whole =
        objects.begin % signature_block == 0 ? objects.size / signature_block * signature_block : 0;
    bound_blocks(query, objects.begin, whole, loops, out);
    for (std::size_t j = whole; j < objects.size; ++j) out[j] = bound(query, objects[j]);
}

void SetSignatures::bound_blocks(SetQuery query, std::size_t begin, std::size_t n,
                                 const BitLoops& loops, double* out) const {
    loops.signature_bounds(query, blocks_.data() + begin * n_words_, n_words_,
                           sizes_.data() + begin, n / signature_block, out);
}

double SetSignatures::bound(SetQuery query, std::size_t i) const {
    const std::uint64_t* const block =
        blocks_.data() + i / signature_block * n_words_ * signature_block;
    int differences = 0;
    for (std::size_t w = 0; w < n_words_; ++w) {
        differences += __builtin_popcountll(query.signature[w] ^
                                            block[w * signature_block + i % signature_block]);
    }
    const std::int32_t shared =
        std::min({(query.n_known + sizes_[i] - differences) >> 1, sizes_[i], query.n_known});
    const std::int32_t either = query.n_members + sizes_[i] - shared;
    return either > 0 ? static_cast<double>(shared) / static_cast<double>(either) : 0.0;
}

TanimotoSpace::TanimotoSpace(std::shared_ptr<const SetStore> store, Isa isa)
    // Counts are exact and the quotient, at most 1, is rounded once.
    : ShareSpace(std::move(store), {roundoff, 0.0}, isa),
      loops_(loops_for(isa).bits),
      signatures_(*store_) {}

bool TanimotoSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const TanimotoSpace*>(&queries);
    return other && store_->accepts(*other->store_);
}

void TanimotoSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                             std::size_t stride) const {
    const auto& taken = static_cast<const Batch&>(queries);
    store_->intersections(*taken.queries, objects, loops_, out, stride);
    constexpr std::size_t chunk = 256;
    std::int32_t gathered[chunk];
    for (std::size_t begin = 0; begin < objects.size; begin += chunk) {
        const std::size_t n = std::min(chunk, objects.size - begin);
        const std::int32_t* sizes = store_->sizes().data() + objects.begin + begin;
        if (objects.positions) {
            for (std::size_t j = 0; j < n; ++j) gathered[j] = store_->sizes()[objects[begin + j]];
            sizes = gathered;
        }
        for (std::size_t i = 0; i < taken.size; ++i) {
            loops_.quotients(out + i * stride + begin, sizes, n,
                             taken.owner.store_->sizes()[taken.begin + i]);
        }
    }
}

void TanimotoSpace::bound_values(const QueryBatch& queries, Selection objects, double* out,
                                 std::size_t stride) const {
    const auto& taken = static_cast<const Batch&>(queries);
    for (std::size_t i = 0; i < taken.size; ++i) {
        const std::size_t at = taken.begin + i;
        std::uint64_t signature[longest_signature];
        taken.owner.store_->signature(at, signature);
        const SetQuery query{signature, taken.owner.store_->n_known(at),
                             taken.owner.store_->sizes()[at]};
        signatures_.bounds(query, objects, loops_, out + i * stride);
    }
}

}  // namespace fastmks
