#include <algorithm>
#include <cmath>

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

template <class T>
class DenseStore final : public VectorStore {
public:
    DenseStore(const T* data, std::size_t n_rows, std::size_t n_columns, std::size_t row_stride)
        : data_(data), n_rows_(n_rows), n_columns_(n_columns), row_stride_(row_stride) {}

    std::size_t size() const noexcept override { return n_rows_; }
    std::size_t n_columns() const noexcept override { return n_columns_; }
    bool is_sparse() const noexcept override { return false; }
    std::size_t longest_sum() const noexcept override { return padded(n_columns_) / n_lanes; }

    std::unique_ptr<VectorQueries> queries(std::size_t begin, std::size_t end) const override {
        auto packed = std::make_unique<PackedQueries>(end - begin, n_columns_);
        for (std::size_t i = begin; i < end; ++i) copy_rows(i, i + 1, packed->row(i - begin), 0);
        return packed;
    }

    void refill(VectorQueries& queries, std::size_t i) const override {
        copy_rows(i, i + 1, static_cast<PackedQueries&>(queries).row(0), 0);
    }

    void products(const VectorQueries& queries, Selection objects, const VectorLoops& loops,
                  double* out, std::size_t stride) const override {
        for_each_block(queries, objects, [&](DenseQueries view, DenseBlock<T> block, auto first) {
            loops.rows<T>().products(view, block, out + first, stride);
        });
    }

    void squared_distances(const VectorQueries& queries, Selection objects, DifferenceScale scale,
                           const VectorLoops& loops, double* out,
                           std::size_t stride) const override {
        for_each_block(queries, objects, [&](DenseQueries view, DenseBlock<T> block, auto first) {
            loops.rows<T>().squared_distances(view, block, scale, out + first, stride);
        });
    }

    void minimums(const VectorQueries& queries, Selection objects, const VectorLoops& loops,
                  double* out, std::size_t stride) const override {
        for_each_block(queries, objects, [&](DenseQueries view, DenseBlock<T> block, auto first) {
            loops.rows<T>().minimums(view, block, out + first, stride);
        });
    }

    double sum(std::size_t i) const override {
        LaneSum sum;
        for (std::size_t c = 0; c < n_columns_; ++c) sum.add(c, static_cast<double>(row(i)[c]));
        return sum.total();
    }

    double squared_norm(std::size_t i) const override {
        LaneSum sum;
        for (std::size_t c = 0; c < n_columns_; ++c) {
            const auto x = static_cast<double>(row(i)[c]);
            sum.add(c, x * x);
        }
        return sum.total();
    }

    VectorEntries entries(std::size_t i) const override {
        VectorEntries entries;
        for (std::size_t c = 0; c < n_columns_; ++c) {
            if (row(i)[c] == T{0}) continue;
            entries.columns.push_back(static_cast<std::int32_t>(c));
            entries.values.push_back(static_cast<double>(row(i)[c]));
        }
        return entries;
    }

    void copy_rows(std::size_t begin, std::size_t end, double* out,
                   std::size_t stride) const override {
        for (std::size_t i = begin; i < end; ++i, out += stride) {
            for (std::size_t c = 0; c < n_columns_; ++c) out[c] = static_cast<double>(row(i)[c]);
        }
    }

private:
    [[nodiscard]] const T* row(std::size_t i) const noexcept { return data_ + i * row_stride_; }

    // Calls run(queries, block, first) for the selected rows, a stackful at a time.
    template <class Run>
    void for_each_block(const VectorQueries& queries, Selection objects, Run run) const {
        constexpr std::size_t largest_block = 256;
        const DenseQueries view = static_cast<const PackedQueries&>(queries).view();
        const T* rows[largest_block];
        const T* const end = n_rows_ == 0 ? data_ : row(n_rows_ - 1) + n_columns_;
        for (std::size_t first = 0; first < objects.size; first += largest_block) {
            const std::size_t n = std::min(largest_block, objects.size - first);
            for (std::size_t j = 0; j < n; ++j) {
                rows[j] = row(objects[first + j]);
                if (objects.positions) prefetch(rows[j], n_columns_ * sizeof(T));
            }
            run(view, DenseBlock<T>{rows, n, n_columns_, end}, first);
        }
    }

    const T* data_;
    std::size_t n_rows_;
    std::size_t n_columns_;
    std::size_t row_stride_;
};

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
std::shared_ptr<VectorStore> make_dense_store(const T* data, std::size_t n_rows,
                                              std::size_t n_columns, std::size_t row_stride) {
    return std::make_shared<DenseStore<T>>(data, n_rows, n_columns, row_stride);
}

template std::shared_ptr<VectorStore> make_dense_store(const float*, std::size_t, std::size_t,
                                                       std::size_t);
template std::shared_ptr<VectorStore> make_dense_store(const double*, std::size_t, std::size_t,
                                                       std::size_t);

}  // namespace fastmks
