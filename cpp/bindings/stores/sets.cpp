

#include "bindings/core/arrays.hpp"
#include "fastmks/spaces/minmax_space.hpp"
#include "fastmks/spaces/tanimoto_space.hpp"

namespace fastmks::bindings {
namespace {

std::shared_ptr<SetStore> bit_store(const Array<std::uint64_t, 2>& words) {
    return make_bit_store(words.data(), words.shape(0), words.shape(1));
}

std::shared_ptr<SetStore> member_store(const Array<std::int64_t, 1>& offsets,
                                       const Array<std::int32_t, 1>& members,
                                       const Array<std::int32_t, 1>& sizes, std::size_t n_known) {
    if (offsets.size() != sizes.size() + 1) {
        throw std::invalid_argument("offsets and sizes do not belong together");
    }
    return make_member_store(offsets.data(), members.data(), sizes.data(), sizes.size(),
                             members.size(), n_known);
}

MutableSpace tanimoto_space(const std::shared_ptr<SetStore>& store, const std::string& isa) {
    return std::make_shared<TanimotoSpace>(store, parse_isa(isa));
}

MutableSpace minmax_space(const std::shared_ptr<VectorStore>& store, const std::string& isa) {
    return std::make_shared<MinMaxSpace>(store, parse_isa(isa));
}

}  // namespace

void register_sets(nb::module_& m) {
    nb::class_<SetStore>(m, "SetStore", "Sets, over arrays that are not copied.");
    // No conversions: a converted copy would not be what keep_alive keeps alive.
    m.def("bit_store", &bit_store, "words"_a.noconvert(), nb::keep_alive<0, 1>(), Unlocked());
    m.def("member_store", &member_store, "offsets"_a.noconvert(), "members"_a.noconvert(),
          "sizes"_a.noconvert(), "n_known"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
          nb::keep_alive<0, 3>(), Unlocked());
    m.def("tanimoto_space", &tanimoto_space, "store"_a, "isa"_a, Unlocked());
    m.def("minmax_space", &minmax_space, "store"_a, "isa"_a, Unlocked());
}

}  // namespace fastmks::bindings
