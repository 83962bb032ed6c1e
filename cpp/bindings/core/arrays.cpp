#include "bindings/core/arrays.hpp"

namespace fastmks::bindings {

Selection selection(const Space& objects, const std::optional<Positions>& among) {
    if (!among) return Selection::range(0, objects.size());
    const std::int64_t* data = among->data();
    for (std::size_t i = 0; i < among->size(); ++i) {
        const std::int64_t previous = i == 0 ? -1 : data[i - 1];
        if (data[i] <= previous || data[i] >= static_cast<std::int64_t>(objects.size())) {
            throw std::invalid_argument("positions must increase and exist");
        }
    }
    return Selection::list(data, among->size());
}

Flattened flatten(const std::vector<std::vector<Hit>>& answers) {
    Flattened flat;
    flat.n_queries = answers.size();
    flat.offsets = std::make_unique<std::int64_t[]>(answers.size() + 1);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        flat.offsets[i + 1] = flat.offsets[i] + static_cast<std::int64_t>(answers[i].size());
    }
    const auto total = static_cast<std::size_t>(flat.offsets[answers.size()]);
    flat.values = std::make_unique<double[]>(total);
    flat.positions = std::make_unique<std::int64_t[]>(total);
    std::size_t at = 0;
    for (const auto& answer : answers) {
        for (const Hit& hit : answer) {
            flat.values[at] = hit.value;
            flat.positions[at++] = hit.position;
        }
    }
    return flat;
}

HitArrays to_arrays(Flattened flat) {
    const std::size_t n = flat.n_queries;
    const auto total = static_cast<std::size_t>(flat.offsets[n]);
    return {to_array(std::move(flat.offsets), {n + 1}), to_array(std::move(flat.values), {total}),
            to_array(std::move(flat.positions), {total})};
}

}  // namespace fastmks::bindings
