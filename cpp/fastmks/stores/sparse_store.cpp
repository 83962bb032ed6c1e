#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fastmks/stores/lane_sum.hpp"
#include "fastmks/stores/runs.hpp"
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

template <class T>
class SparseStore final : public VectorStore {
public:
    SparseStore(const std::int64_t* offsets, const std::int32_t* columns, const T* values,
                std::size_t n_rows, std::size_t n_columns, std::size_t n_entries,
                bool has_exact_products)
        : offsets_(offsets),
          columns_(columns),
          values_(values),
          n_rows_(n_rows),
          n_columns_(n_columns),
          has_exact_products_(has_exact_products) {
        check_runs(offsets, n_rows, n_entries, "entries");
        for (std::size_t i = 0; i < n_rows; ++i) {
            const SparseRow<T> entries = row(i);
            longest_row_ = std::max(longest_row_, entries.n_entries);
            if (!is_increasing(entries.columns, entries.n_entries, n_columns)) {
                throw std::invalid_argument("columns must increase within a row and exist");
            }
            if (has_exact_products && !is_exact(entries)) {
                throw std::invalid_argument("products of these numbers may round");
            }
        }
    }

    std::size_t size() const noexcept override { return n_rows_; }
    std::size_t n_columns() const noexcept override { return n_columns_; }
    bool is_sparse() const noexcept override { return true; }
    std::size_t longest_sum() const noexcept override {
        return std::min(longest_row_, padded(n_columns_) / n_lanes);
    }
    bool has_exact_products() const noexcept override { return has_exact_products_; }

    std::unique_ptr<VectorQueries> queries(std::size_t begin, std::size_t end) const override {
        std::vector<VectorEntries> rows;
        rows.reserve(end - begin);
        for (std::size_t i = begin; i < end; ++i) rows.push_back(entries(i));
        return std::make_unique<SparseQueryRows>(std::move(rows), n_columns_);
    }

    void refill(VectorQueries& queries, std::size_t i) const override {
        static_cast<SparseQueryRows&>(queries).refill(entries(i));
    }

    void products(const VectorQueries& queries, Selection objects, const VectorLoops& loops,
                  double* out, std::size_t stride) const override {
        add_up<ProductTerm>(queries, objects, loops, out, stride);
    }

    void minimums(const VectorQueries& queries, Selection objects, const VectorLoops& loops,
                  double* out, std::size_t stride) const override {
        add_up<MinimumTerm>(queries, objects, loops, out, stride);
    }

    void squared_distances(const VectorQueries& queries, Selection objects, DifferenceScale scale,
                           const VectorLoops&, double* out, std::size_t stride) const override {
        const auto& taken = static_cast<const SparseQueryRows&>(queries);
        for (std::size_t i = 0; i < taken.size; ++i) {
            for (std::size_t j = 0; j < objects.size; ++j) {
                LaneSum sum;
                merge(taken.rows()[i], row(objects[j]),
                      [&](std::size_t column, double x, double y) {
                          const double difference =
                              (x * scale.before - y * scale.before) * scale.after;
                          sum.add(column, difference * difference);
                      });
                out[i * stride + j] = sum.total();
            }
        }
    }

    double sum(std::size_t i) const override {
        LaneSum sum;
        for_each_entry(i, [&](std::size_t column, double x) { sum.add(column, x); });
        return sum.total();
    }

    double squared_norm(std::size_t i) const override {
        LaneSum sum;
        for_each_entry(i, [&](std::size_t column, double x) { sum.add(column, x * x); });
        return sum.total();
    }

    VectorEntries entries(std::size_t i) const override {
        VectorEntries entries;
        entries.columns.reserve(row(i).n_entries);
        entries.values.reserve(row(i).n_entries);
        for_each_entry(i, [&](std::size_t column, double x) {
            if (x == 0.0) return;
            entries.columns.push_back(static_cast<std::int32_t>(column));
            entries.values.push_back(x);
        });
        return entries;
    }

    void copy_rows(std::size_t begin, std::size_t end, double* out,
                   std::size_t stride) const override {
        for (std::size_t i = begin; i < end; ++i, out += stride) {
            std::fill_n(out, n_columns_, 0.0);
            for_each_entry(i, [&](std::size_t column, double x) { out[column] = x; });
        }
    }

private:
    [[nodiscard]] SparseRow<T> row(std::size_t i) const noexcept {
        const auto begin = static_cast<std::size_t>(offsets_[i]);
        const auto end = static_cast<std::size_t>(offsets_[i + 1]);
        return {columns_ + begin, values_ + begin, end - begin};
    }

    // Calls visit(column, x) for the stored entries of a row.
    template <class Visit>
    void for_each_entry(std::size_t i, Visit visit) const {
        const SparseRow<T> from = row(i);
        for (std::size_t e = 0; e < from.n_entries; ++e) {
            visit(static_cast<std::size_t>(from.columns[e]), static_cast<double>(from.values[e]));
        }
    }

    // Whole numbers whose squares add up to at most 2^53: neither these nor, by Cauchy and Schwarz,
    // their products with such another row leave what float64 holds exactly, in whatever order.
    static bool is_exact(const SparseRow<T>& entries) noexcept {
        double sum = 0.0;
        for (std::size_t e = 0; e < entries.n_entries; ++e) {
            const auto x = static_cast<double>(entries.values[e]);
            if (x != std::trunc(x)) return false;
            sum += x * x;
            if (!(sum <= 0x1p53)) return false;
        }
        return true;
    }

    template <class Term>
    void add_up(const VectorQueries& queries, Selection objects, const VectorLoops& loops,
                double* out, std::size_t stride) const {
        const auto row_of = [&](std::size_t j) {
            // A list of positions is met in trees, whose nodes lie anywhere.
            if (objects.positions && j + 1 < objects.size) {
                const SparseRow<T> next = row(objects[j + 1]);
                __builtin_prefetch(next.columns);
                __builtin_prefetch(next.values);
            }
            return row(objects[j]);
        };
        static_cast<const SparseQueryRows&>(queries).template add_up<Term>(objects.size, row_of,
                                                                           loops, out, stride);
    }

    const std::int64_t* offsets_;
    const std::int32_t* columns_;
    const T* values_;
    std::size_t n_rows_;
    std::size_t n_columns_;
    bool has_exact_products_;
    std::size_t longest_row_ = 0;
};

}  // namespace

template <class T>
std::shared_ptr<VectorStore> make_sparse_store(const std::int64_t* offsets,
                                               const std::int32_t* columns, const T* values,
                                               std::size_t n_rows, std::size_t n_columns,
                                               std::size_t n_entries, bool has_exact_products) {
    return std::make_shared<SparseStore<T>>(offsets, columns, values, n_rows, n_columns, n_entries,
                                            has_exact_products);
}

template std::shared_ptr<VectorStore> make_sparse_store(const std::int64_t*, const std::int32_t*,
                                                        const float*, std::size_t, std::size_t,
                                                        std::size_t, bool);
template std::shared_ptr<VectorStore> make_sparse_store(const std::int64_t*, const std::int32_t*,
                                                        const double*, std::size_t, std::size_t,
                                                        std::size_t, bool);

}  // namespace fastmks
