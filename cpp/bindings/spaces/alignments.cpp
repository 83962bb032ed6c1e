

#include "bindings/core/arrays.hpp"
#include "fastmks/spaces/residue_space.hpp"
#include "fastmks/spaces/series_space.hpp"

namespace fastmks::bindings {
namespace {

using Offsets = Array<std::int64_t, 1>;

std::shared_ptr<ResidueStore> residue_store(const Array<std::uint8_t, 1>& residues,
                                            const Offsets& offsets) {
    if (offsets.size() == 0) throw std::invalid_argument("offsets must hold at least 0");
    return std::make_shared<ResidueStore>(residues.data(), residues.size(), offsets.data(),
                                          offsets.size() - 1);
}

std::shared_ptr<SeriesStore> series_store(const Array<double, 1>& values, const Offsets& offsets,
                                          std::size_t n_channels) {
    if (offsets.size() == 0) throw std::invalid_argument("offsets must hold at least 0");
    return std::make_shared<SeriesStore>(values.data(), values.size(), offsets.data(),
                                         offsets.size() - 1, n_channels);
}

AlignmentKernel alignment_kernel(const Array<double, 2>& scores, double gap_open,
                                 double gap_extend) {
    if (scores.shape(0) != scores.shape(1)) throw std::invalid_argument("scores must be square");
    return {{scores.data(), scores.data() + scores.size()}, scores.shape(0), gap_open, gap_extend};
}

MutableSpace local_alignment_space(const std::shared_ptr<ResidueStore>& store,
                                   const std::string& isa, const Array<double, 2>& scores,
                                   double gap_open, double gap_extend, double beta,
                                   bool is_normalized, bool is_mercer) {
    const AlignmentKernel kernel = alignment_kernel(scores, gap_open, gap_extend);
    const WideForm form{is_normalized, is_mercer, parse_isa(isa)};
    return std::make_shared<LocalAlignmentSpace>(store, kernel, beta, form);
}

MutableSpace best_alignment_space(const std::shared_ptr<ResidueStore>& store,
                                  const std::string& isa, const Array<double, 2>& scores,
                                  double gap_open, double gap_extend, bool has_gaps) {
    const AlignmentKernel kernel = alignment_kernel(scores, gap_open, gap_extend);
    return std::make_shared<BestAlignmentSpace>(store, kernel, has_gaps, parse_isa(isa));
}

MutableSpace global_alignment_space(const std::shared_ptr<SeriesStore>& store,
                                    const std::string& isa, double bandwidth,
                                    std::size_t triangular, bool is_normalized) {
    const WideForm form{is_normalized, true, parse_isa(isa)};
    return std::make_shared<GlobalAlignmentSpace>(store, bandwidth, triangular, form);
}

}  // namespace

void register_alignments(nb::module_& m) {
    nb::class_<ResidueStore>(m, "ResidueStore", "Strings, over arrays that are not copied.");
    nb::class_<SeriesStore>(m, "SeriesStore", "Series, over arrays that are not copied.");
    // No conversions: a converted copy would not be what keep_alive keeps alive.
    m.def("residue_store", &residue_store, "residues"_a.noconvert(), "offsets"_a.noconvert(),
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
    m.def("series_store", &series_store, "values"_a.noconvert(), "offsets"_a.noconvert(),
          "n_channels"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
    m.def("local_alignment_space", &local_alignment_space, "store"_a, "isa"_a, "scores"_a,
          "gap_open"_a, "gap_extend"_a, "beta"_a, "is_normalized"_a, "is_mercer"_a, Unlocked());
    m.def("best_alignment_space", &best_alignment_space, "store"_a, "isa"_a, "scores"_a,
          "gap_open"_a, "gap_extend"_a, "has_gaps"_a, Unlocked());
    m.def("global_alignment_space", &global_alignment_space, "store"_a, "isa"_a, "bandwidth"_a,
          "triangular"_a, "is_normalized"_a, Unlocked());
}

}  // namespace fastmks::bindings
