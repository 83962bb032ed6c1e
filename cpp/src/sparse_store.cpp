#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "fastmks/lane_sum.hpp"
#include "fastmks/vector_store.hpp"

namespace fastmks {
namespace {

// A group of queries keeps one int32 per column up to here; beyond, rows are merged instead.
constexpr std::size_t most_slots = std::size_t{1} << 22;
constexpr std::size_t group_size = 8;

// Eight queries side by side (SparseQueries): the columns they have between them get slots.
class QueryGroup {
public:
    QueryGroup(const VectorEntries* queries, std::size_t n_queries, std::size_t n_columns)
        : n_queries_(n_queries), slots_(n_columns, -1) {
        std::int32_t n_slots = 0;
        for (std::size_t i = 0; i < n_queries; ++i) {
            for (const std::int32_t column : queries[i].columns) {
                auto& slot = slots_[static_cast<std::size_t>(column)];
                if (slot < 0) slot = n_slots++;
            }
        }
        table_.resize(static_cast<std::size_t>(n_slots) * group_size);
        for (std::size_t i = 0; i < n_queries; ++i) {
            for (std::size_t e = 0; e < queries[i].columns.size(); ++e) {
                const auto slot = slots_[static_cast<std::size_t>(queries[i].columns[e])];
                table_[static_cast<std::size_t>(slot) * group_size + i] = queries[i].values[e];
            }
        }
    }
    [[nodiscard]] SparseQueries view() const noexcept {
        return {slots_.data(), table_.data(), n_queries_};
    }

private:
    std::size_t n_queries_;
    std::vector<std::int32_t> slots_;
    std::vector<double> table_;
};

class SparseQueryRows final : public VectorQueries {
public:
    SparseQueryRows(std::vector<VectorEntries> taken, std::size_t n_columns)
        : VectorQueries(taken.size()), rows(std::move(taken)) {
        if (n_columns > most_slots) return;
        for (std::size_t i = 0; i < size; i += group_size) {
            groups.emplace_back(rows.data() + i, std::min(group_size, size - i), n_columns);
        }
    }
    std::vector<VectorEntries> rows;
    std::vector<QueryGroup> groups;  // empty where there are too many columns for slots
};

// Calls visit(column, x, y) for each column of either vector, in increasing order.
template <class T, class Visit>
void merge(const VectorEntries& x, SparseRow<T> y, Visit visit) {
    const std::size_t n_x = x.columns.size();
    std::size_t i = 0, j = 0;
    while (i < n_x || j < y.n_entries) {
        if (j == y.n_entries || (i < n_x && x.columns[i] < y.columns[j])) {
            visit(static_cast<std::size_t>(x.columns[i]), x.values[i], 0.0);
            ++i;
        } else if (i == n_x || y.columns[j] < x.columns[i]) {
            visit(static_cast<std::size_t>(y.columns[j]), 0.0, static_cast<double>(y.values[j]));
            ++j;
        } else {
            visit(static_cast<std::size_t>(x.columns[i]), x.values[i],
                  static_cast<double>(y.values[j]));
            ++i;
            ++j;
        }
    }
}

}  // namespace

template <class T>
SparseStore<T>::SparseStore(const std::int64_t* offsets, const std::int32_t* columns,
                            const T* values, std::size_t n_rows, std::size_t n_columns,
                            std::size_t n_entries)
    : offsets_(offsets),
      columns_(columns),
      values_(values),
      n_rows_(n_rows),
      n_columns_(n_columns) {
    if (offsets[0] != 0 || static_cast<std::size_t>(offsets[n_rows]) != n_entries) {
        throw std::invalid_argument("offsets must run from 0 to the number of entries");
    }
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (offsets[i + 1] < offsets[i] || static_cast<std::size_t>(offsets[i + 1]) > n_entries) {
            throw std::invalid_argument("offsets must not decrease");
        }
        const SparseRow<T> entries = row(i);
        longest_row_ = std::max(longest_row_, entries.n_entries);
        std::int64_t previous = -1;
        for (std::size_t e = 0; e < entries.n_entries; ++e) {
            const std::int64_t column = entries.columns[e];
            if (column <= previous || column >= static_cast<std::int64_t>(n_columns)) {
                throw std::invalid_argument("columns must increase within a row and exist");
            }
            previous = column;
        }
    }
}

template <class T>
SparseRow<T> SparseStore<T>::row(std::size_t i) const noexcept {
    const auto begin = static_cast<std::size_t>(offsets_[i]);
    const auto end = static_cast<std::size_t>(offsets_[i + 1]);
    return {columns_ + begin, values_ + begin, end - begin};
}

template <class T>
std::size_t SparseStore<T>::longest_sum() const noexcept {
    return std::min(longest_row_, padded(n_columns_) / n_lanes);
}

template <class T>
std::unique_ptr<VectorQueries> SparseStore<T>::queries(std::size_t begin, std::size_t end) const {
    std::vector<VectorEntries> rows;
    rows.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) rows.push_back(entries(i));
    return std::make_unique<SparseQueryRows>(std::move(rows), n_columns_);
}

// Runs loop(group of queries, row, out, stride) for each selected row, or where there are no groups
// adds up term(x, y) over the merged columns.
template <class T>
template <class Loop, class Term>
void SparseStore<T>::for_each_pair(const VectorQueries& queries, Selection objects, Loop loop,
                                   Term term, double* out, std::size_t stride) const {
    const auto& taken = static_cast<const SparseQueryRows&>(queries);
    for (std::size_t g = 0; g < taken.groups.size(); ++g) {
        const SparseQueries view = taken.groups[g].view();
        for (std::size_t j = 0; j < objects.size; ++j) {
            loop(view, row(objects[j]), out + g * group_size * stride + j, stride);
        }
    }
    if (!taken.groups.empty()) return;
    for (std::size_t i = 0; i < taken.size; ++i) {
        for (std::size_t j = 0; j < objects.size; ++j) {
            LaneSum sum;
            merge(taken.rows[i], row(objects[j]),
                  [&](std::size_t column, double x, double y) { sum.add(column, term(x, y)); });
            out[i * stride + j] = sum.total();
        }
    }
}

template <class T>
void SparseStore<T>::products(const VectorQueries& queries, Selection objects,
                              const VectorLoops& loops, double* out, std::size_t stride) const {
    const auto term = [](double x, double y) { return x * y; };
    if constexpr (std::is_same_v<T, float>) {
        for_each_pair(queries, objects, loops.sparse_products_f32, term, out, stride);
    } else {
        for_each_pair(queries, objects, loops.sparse_products_f64, term, out, stride);
    }
}

template <class T>
void SparseStore<T>::minimums(const VectorQueries& queries, Selection objects,
                              const VectorLoops& loops, double* out, std::size_t stride) const {
    const auto term = [](double x, double y) { return x < y ? x : y; };
    if constexpr (std::is_same_v<T, float>) {
        for_each_pair(queries, objects, loops.sparse_minimums_f32, term, out, stride);
    } else {
        for_each_pair(queries, objects, loops.sparse_minimums_f64, term, out, stride);
    }
}

template <class T>
void SparseStore<T>::squared_distances(const VectorQueries& queries, Selection objects,
                                       DifferenceScale scale, const VectorLoops&, double* out,
                                       std::size_t stride) const {
    const auto& taken = static_cast<const SparseQueryRows&>(queries);
    for (std::size_t i = 0; i < taken.size; ++i) {
        for (std::size_t j = 0; j < objects.size; ++j) {
            LaneSum sum;
            merge(taken.rows[i], row(objects[j]), [&](std::size_t column, double x, double y) {
                const double difference = (x * scale.before - y * scale.before) * scale.after;
                sum.add(column, difference * difference);
            });
            out[i * stride + j] = sum.total();
        }
    }
}

template <class T>
double SparseStore<T>::sum(std::size_t i) const {
    const SparseRow<T> from = row(i);
    LaneSum sum;
    for (std::size_t e = 0; e < from.n_entries; ++e) {
        sum.add(static_cast<std::size_t>(from.columns[e]), static_cast<double>(from.values[e]));
    }
    return sum.total();
}

template <class T>
double SparseStore<T>::squared_norm(std::size_t i) const {
    const SparseRow<T> from = row(i);
    LaneSum sum;
    for (std::size_t e = 0; e < from.n_entries; ++e) {
        const auto x = static_cast<double>(from.values[e]);
        sum.add(static_cast<std::size_t>(from.columns[e]), x * x);
    }
    return sum.total();
}

template <class T>
VectorEntries SparseStore<T>::entries(std::size_t i) const {
    const SparseRow<T> from = row(i);
    VectorEntries entries;
    entries.columns.reserve(from.n_entries);
    entries.values.reserve(from.n_entries);
    for (std::size_t e = 0; e < from.n_entries; ++e) {
        if (from.values[e] == T{0}) continue;
        entries.columns.push_back(from.columns[e]);
        entries.values.push_back(static_cast<double>(from.values[e]));
    }
    return entries;
}

template class SparseStore<float>;
template class SparseStore<double>;

}  // namespace fastmks
