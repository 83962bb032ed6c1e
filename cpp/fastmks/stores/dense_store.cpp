#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fastmks/stores/lane_sum.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks {
namespace {

class PackedQueries final : public VectorQueries {
public:
    PackedQueries(std::size_t n_queries, std::size_t n_columns)
        : VectorQueries(n_queries), n_columns_(n_columns), rows_(n_queries * padded(n_columns)) {}

    [[nodiscard]] double* row(std::size_t i) noexcept {
        return rows_.data() + i * padded(n_columns_);
    }
    [[nodiscard]] DenseQueries view() const noexcept { return {rows_.data(), size, n_columns_}; }

private:
    std::size_t n_columns_;
    std::vector<double> rows_;  // zeros behind each row's last column
};

// Prefetches the beginning of a row that may be far from the last one, as much of it as the CPU
// does not prefetch by itself.
void prefetch(const void* row, std::size_t n_bytes) {
    constexpr std::size_t most = 512, line = 64;
    const char* const bytes = static_cast<const char*>(row);
    for (std::size_t at = 0; at < n_bytes && at < most; at += line) __builtin_prefetch(bytes + at);
}

}  // namespace

double scaled_product(const VectorEntries& x, int x_shift, const VectorEntries& y, int y_shift) {
    LaneSum sum;
    std::size_t i = 0, j = 0;
    while (i < x.columns.size() && j < y.columns.size()) {
        if (x.columns[i] < y.columns[j]) {
            ++i;
        } else if (x.columns[i] > y.columns[j]) {
            ++j;
        } else {
            sum.add(static_cast<std::size_t>(x.columns[i]),
                    std::ldexp(x.values[i], x_shift) * std::ldexp(y.values[j], y_shift));
            ++i;
            ++j;
        }
    }
    return sum.total();
}

template <class T>
DenseStore<T>::DenseStore(const T* data, std::size_t n_rows, std::size_t n_columns,
                          std::size_t row_stride)
    : data_(data), n_rows_(n_rows), n_columns_(n_columns), row_stride_(row_stride) {}

template <class T>
std::size_t DenseStore<T>::longest_sum() const noexcept {
    return padded(n_columns_) / n_lanes;
}

template <class T>
std::unique_ptr<VectorQueries> DenseStore<T>::queries(std::size_t begin, std::size_t end) const {
    auto packed = std::make_unique<PackedQueries>(end - begin, n_columns_);
    for (std::size_t i = begin; i < end; ++i) {
        double* out = packed->row(i - begin);
        const T* from = row(i);
        for (std::size_t c = 0; c < n_columns_; ++c) out[c] = static_cast<double>(from[c]);
    }
    return packed;
}

template <class T>
bool DenseStore<T>::refill(VectorQueries& queries, std::size_t i) const {
    double* const out = static_cast<PackedQueries&>(queries).row(0);
    const T* const from = row(i);
    for (std::size_t c = 0; c < n_columns_; ++c) out[c] = static_cast<double>(from[c]);
    return true;
}

// Calls run(block, first) for the selected rows, a stackful at a time.
template <class T>
template <class Run>
void DenseStore<T>::for_each_block(Selection objects, Run run) const {
    constexpr std::size_t largest_block = 256;
    const T* rows[largest_block];
    const T* const end = n_rows_ == 0 ? data_ : row(n_rows_ - 1) + n_columns_;
    for (std::size_t first = 0; first < objects.size; first += largest_block) {
        const std::size_t n = std::min(largest_block, objects.size - first);
        for (std::size_t j = 0; j < n; ++j) {
            rows[j] = row(objects[first + j]);
            if (objects.positions) prefetch(rows[j], n_columns_ * sizeof(T));
        }
        run(DenseBlock<T>{rows, n, n_columns_, end}, first);
    }
}

template <class T>
void DenseStore<T>::products(const VectorQueries& queries, Selection objects,
                             const VectorLoops& loops, double* out, std::size_t stride) const {
    const DenseQueries view = static_cast<const PackedQueries&>(queries).view();
    for_each_block(objects, [&](DenseBlock<T> block, std::size_t first) {
        if constexpr (std::is_same_v<T, float>) {
            loops.products_f32(view, block, out + first, stride);
        } else {
            loops.products_f64(view, block, out + first, stride);
        }
    });
}

template <class T>
void DenseStore<T>::squared_distances(const VectorQueries& queries, Selection objects,
                                      DifferenceScale scale, const VectorLoops& loops, double* out,
                                      std::size_t stride) const {
    const DenseQueries view = static_cast<const PackedQueries&>(queries).view();
    for_each_block(objects, [&](DenseBlock<T> block, std::size_t first) {
        if constexpr (std::is_same_v<T, float>) {
            loops.squared_distances_f32(view, block, scale, out + first, stride);
        } else {
            loops.squared_distances_f64(view, block, scale, out + first, stride);
        }
    });
}

template <class T>
void DenseStore<T>::minimums(const VectorQueries& queries, Selection objects,
                             const VectorLoops& loops, double* out, std::size_t stride) const {
    const DenseQueries view = static_cast<const PackedQueries&>(queries).view();
    for_each_block(objects, [&](DenseBlock<T> block, std::size_t first) {
        if constexpr (std::is_same_v<T, float>) {
            loops.minimums_f32(view, block, out + first, stride);
        } else {
            loops.minimums_f64(view, block, out + first, stride);
        }
    });
}

template <class T>
double DenseStore<T>::sum(std::size_t i) const {
    LaneSum sum;
    for (std::size_t c = 0; c < n_columns_; ++c) sum.add(c, static_cast<double>(row(i)[c]));
    return sum.total();
}

template <class T>
double DenseStore<T>::squared_norm(std::size_t i) const {
    LaneSum sum;
    for (std::size_t c = 0; c < n_columns_; ++c) {
        const auto x = static_cast<double>(row(i)[c]);
        sum.add(c, x * x);
    }
    return sum.total();
}

template <class T>
VectorEntries DenseStore<T>::entries(std::size_t i) const {
    VectorEntries entries;
    for (std::size_t c = 0; c < n_columns_; ++c) {
        if (row(i)[c] == T{0}) continue;
        entries.columns.push_back(static_cast<std::int32_t>(c));
        entries.values.push_back(static_cast<double>(row(i)[c]));
    }
    return entries;
}

template <class T>
void DenseStore<T>::copy_rows(std::size_t begin, std::size_t end, double* out,
                              std::size_t stride) const {
    for (std::size_t i = begin; i < end; ++i, out += stride) {
        for (std::size_t c = 0; c < n_columns_; ++c) out[c] = static_cast<double>(row(i)[c]);
    }
}

template class DenseStore<float>;
template class DenseStore<double>;

}  // namespace fastmks
