#include "fastmks/stores/grams.hpp"

#include <type_traits>

#include "bindings/core/archive.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/watch.hpp"

namespace fastmks::bindings {
namespace {

template <class T>
using Letters = Array<T, 1>;

// Offsets, columns, counts, the number of columns, and the first row that is too large.
using CountArrays =
    std::tuple<Result<std::int64_t>, Result<std::int32_t>, nb::object, std::size_t, std::size_t>;

template <class T>
Sequences sequences(const Letters<T>& letters, const Positions& offsets) {
    const std::int64_t* const data = offsets.data();
    const bool is_right = offsets.size() > 0 && data[0] == 0 &&
                          std::is_sorted(data, data + offsets.size()) &&
                          data[offsets.size() - 1] == static_cast<std::int64_t>(letters.size());
    if (!is_right) throw std::invalid_argument("offsets must rise from 0 to the number of letters");
    Sequences taken{nullptr, nullptr, data, offsets.size() - 1};
    if constexpr (std::is_same_v<T, std::uint8_t>) {
        taken.narrow = letters.data();
    } else {
        taken.wide = letters.data();
    }
    return taken;
}

CountArrays to_arrays(GramCounts counts) {
    const auto n = static_cast<std::size_t>(counts.offsets[counts.n_rows]);
    nb::object values = counts.floats ? nb::cast(to_array(std::move(counts.floats), {n}))
                                      : nb::cast(to_array(std::move(counts.doubles), {n}));
    return {to_array(std::move(counts.offsets), {counts.n_rows + 1}),
            to_array(std::move(counts.columns), {n}), values, counts.n_columns,
            counts.first_too_large};
}

// Runs on the caller's thread and others, without the GIL; Ctrl-C stops it.
template <class Run>
auto work(std::size_t threads, Run run) {
    const nb::object no_progress = nb::none();
    const Watch watch = python_watch(no_progress);
    const WithoutGil without_gil;
    return run(Labour{threads, watch});
}

template <class T>
std::tuple<std::shared_ptr<GramTable>, CountArrays> count_grams(
    const Letters<T>& letters, const Positions& offsets, std::size_t length, std::size_t mismatches,
    const std::vector<Letter>& alphabet, std::size_t threads) {
    if (length == 0) throw std::invalid_argument("grams have at least one letter");
    const Sequences taken = sequences(letters, offsets);
    std::shared_ptr<GramTable> table;
    GramCounts counts = work(threads, [&](const Labour& labour) {
        table = std::make_shared<GramTable>(GramRule{length, mismatches, alphabet}, taken, labour);
        return table->count(taken, labour);
    });
    return {table, to_arrays(std::move(counts))};
}

template <class T>
CountArrays count_others(const GramTable& table, const Letters<T>& letters,
                         const Positions& offsets, std::size_t threads) {
    const Sequences taken = sequences(letters, offsets);
    return to_arrays(
        work(threads, [&](const Labour& labour) { return table.count_others(taken, labour); }));
}

NamedArrays arrays(const nb::handle_t<GramTable>& self) {
    return to_dict(nb::cast<const GramTable&>(self).arrays(), self);
}

std::shared_ptr<GramTable> restore(std::size_t length, std::size_t mismatches,
                                   const std::vector<Letter>& alphabet, const NamedArrays& arrays) {
    const Arrays parts = from_dict(arrays);
    const WithoutGil without_gil;
    return std::make_shared<GramTable>(GramRule{length, mismatches, alphabet}, parts);
}

template <class T>
void register_for(nb::module_& m, nb::class_<GramTable>& table) {
    m.def("count_grams", &count_grams<T>, "letters"_a.noconvert(), "offsets"_a.noconvert(),
          "length"_a, "mismatches"_a, "alphabet"_a, "threads"_a,
          "The grams of some sequences and their counts: offsets, columns, counts, number of "
          "columns, and the first row whose inner product with itself exceeds 2**53.");
    table.def("count", &count_others<T>, "letters"_a.noconvert(), "offsets"_a.noconvert(),
              "threads"_a,
              "The counts of other sequences; new grams have columns after all others.");
}

}  // namespace

void register_grams(nb::module_& m) {
    nb::class_<GramTable> table(m, "GramTable", "The grams of some sequences.");
    table.def("arrays", &arrays);
    m.def("restore_gram_table", &restore, "length"_a, "mismatches"_a, "alphabet"_a, "arrays"_a);
    register_for<std::uint8_t>(m, table);
    register_for<Letter>(m, table);
}

}  // namespace fastmks::bindings
