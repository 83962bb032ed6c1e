// Postings to arrays and back. Lists and planes are large and are not read here: planes may hold
// any bits, and a search leaves a list where its places leave their order.

#include <stdexcept>

#include "fastmks/core/archive.hpp"
#include "fastmks/filters/postings.hpp"
#include "fastmks/spaces/score_map.hpp"

namespace fastmks {

template <class Self, class Visit>
void Postings::describe(Self& self, Visit& visit) {
    visit.counts("counts", self.exponent_, self.is_whole_, self.has_all_columns_);
    visit("columns", self.columns_);
    visit("slots", self.slots_);
    visit("postings", self.postings_);
    visit("lines", self.lines_);
    visit("positions", self.positions_);
    visit("places", self.places_);
    visit("inverse_norms", self.inverse_norms_);
    visit("shelf_norms", self.shelf_norms_);
}

Arrays Postings::arrays() const {
    ArrayWriter writer;
    describe(*this, writer);
    return writer.take();
}

Postings::Postings(const Space& objects, const Arrays& arrays) {
    if (!fits(objects)) {
        throw std::invalid_argument("postings need sparse vectors and an increasing score");
    }
    const ArrayReader reader(arrays);
    describe(*this, reader);
    check_array(!slots_.empty(), "slots", "there must be one after the last column");
    n_slots_ = slots_.size() - 1;
    n_planes_ = slots_.back().plane;
    check(objects);
}

void Postings::check(const Space& objects) const {
    const std::size_t n = objects.size(), n_blocks = (n + block_size - 1) / block_size;
    check_exponent("counts", exponent_);
    ArrayReader::check_size("positions", positions_.size(), n);
    ArrayReader::check_size("places", places_.size(), n);
    check_places();
    ArrayReader::check_size("shelf_norms", n_shelves(), (n + shelf_size - 1) / shelf_size);
    check_lengths("shelf_norms", shelf_norms_);
    const bool is_cosine = scores_of(objects).kind == ScoreKind::cosine;
    ArrayReader::check_size("inverse_norms", inverse_norms_.size(),
                            is_cosine ? n_blocks * block_size : 0);
    check_lengths("inverse_norms", inverse_norms_);
    ArrayReader::check_size("columns", columns_.size(), has_all_columns_ ? 0 : n_slots_);
    check_slots();
    ArrayReader::check_size("lines", lines_.size(), n_blocks * n_planes_);
}

// Each is the inverse of the other, so neither holds a number twice.
void Postings::check_places() const {
    for (std::size_t p = 0; p < size(); ++p) {
        check_array(positions_[p] < size(), "positions", "there is no such object");
        check_array(places_[positions_[p]] == p, "places", "they are not those of the positions");
    }
}

// Lists and planes of the columns, one after the other, and few enough planes for a column.
void Postings::check_slots() const {
    check_array(slots_[0].list == 0 && slots_[0].plane == 0, "slots", "they must begin with 0");
    for (std::size_t s = 0; s < n_slots_; ++s) {
        const Slot slot = slots_[s], next = slots_[s + 1];
        const bool is_right = slot.list <= next.list && slot.plane <= next.plane &&
                              next.plane - slot.plane <= most_planes;
        check_array(is_right, "slots", "a column must begin where the one before it ends");
    }
    ArrayReader::check_size("postings", postings_.size(), slots_.back().list);
}

}  // namespace fastmks
