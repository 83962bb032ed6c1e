#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fastmks/stores/lane_sum.hpp"
#include "fastmks/stores/sparse_queries.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks {
namespace {

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
                            std::size_t n_entries, bool has_exact_products)
    : offsets_(offsets),
      columns_(columns),
      values_(values),
      n_rows_(n_rows),
      n_columns_(n_columns),
      has_exact_products_(has_exact_products) {
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
        if (has_exact_products && !is_exact(i)) {
            throw std::invalid_argument("products of these numbers may round");
        }
    }
}

// Whole numbers whose squares add up to at most 2^53: neither these nor, by Cauchy and Schwarz,
// their products with such another row leave what float64 holds exactly, in whatever order.
template <class T>
bool SparseStore<T>::is_exact(std::size_t i) const noexcept {
    const SparseRow<T> entries = row(i);
    double sum = 0.0;
    for (std::size_t e = 0; e < entries.n_entries; ++e) {
        const auto x = static_cast<double>(entries.values[e]);
        if (x != std::trunc(x)) return false;
        sum += x * x;
        if (!(sum <= 0x1p53)) return false;
    }
    return true;
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

template <class T>
bool SparseStore<T>::refill(VectorQueries& queries, std::size_t i) const {
    static_cast<SparseQueryRows&>(queries).refill(entries(i));
    return true;
}

template <class T>
template <class Term>
void SparseStore<T>::add_up(const VectorQueries& queries, Selection objects,
                            const VectorLoops& loops, double* out, std::size_t stride) const {
    const auto row_of = [&](std::size_t j) {
        // A list of positions is met in trees, whose nodes lie anywhere.
        if (objects.positions && j + 1 < objects.size) {
            const SparseRow<T> next = row(objects[j + 1]);
            __builtin_prefetch(next.columns);
            __builtin_prefetch(next.values);
        }
        return row(objects[j]);
    };
    static_cast<const SparseQueryRows&>(queries).template add_up<Term>(objects.size, row_of, loops,
                                                                       out, stride);
}

template <class T>
void SparseStore<T>::products(const VectorQueries& queries, Selection objects,
                              const VectorLoops& loops, double* out, std::size_t stride) const {
    add_up<ProductTerm>(queries, objects, loops, out, stride);
}

template <class T>
void SparseStore<T>::minimums(const VectorQueries& queries, Selection objects,
                              const VectorLoops& loops, double* out, std::size_t stride) const {
    add_up<MinimumTerm>(queries, objects, loops, out, stride);
}

template <class T>
void SparseStore<T>::squared_distances(const VectorQueries& queries, Selection objects,
                                       DifferenceScale scale, const VectorLoops&, double* out,
                                       std::size_t stride) const {
    const auto& taken = static_cast<const SparseQueryRows&>(queries);
    for (std::size_t i = 0; i < taken.size; ++i) {
        for (std::size_t j = 0; j < objects.size; ++j) {
            LaneSum sum;
            merge(taken.rows()[i], row(objects[j]), [&](std::size_t column, double x, double y) {
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

template <class T>
void SparseStore<T>::copy_rows(std::size_t begin, std::size_t end, double* out,
                               std::size_t stride) const {
    for (std::size_t i = begin; i < end; ++i, out += stride) {
        std::fill_n(out, n_columns_, 0.0);
        const SparseRow<T> from = row(i);
        for (std::size_t e = 0; e < from.n_entries; ++e) {
            out[from.columns[e]] = static_cast<double>(from.values[e]);
        }
    }
}

template class SparseStore<float>;
template class SparseStore<double>;

}  // namespace fastmks
