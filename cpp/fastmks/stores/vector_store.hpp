#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastmks/core/selection.hpp"
#include "fastmks/simd/vector_loops.hpp"

namespace fastmks {

/// Rows of a vector store taken out as queries, in the layout its loops need.
class VectorQueries {
public:
    explicit VectorQueries(std::size_t n_queries) : size(n_queries) {}
    virtual ~VectorQueries() = default;
    std::size_t size;
};

/// The non-zero entries of one vector, columns increasing.
struct VectorEntries {
    std::vector<std::int32_t> columns;
    std::vector<double> values;
};

/// The canonical inner product of 2^x_shift * x and 2^y_shift * y. Slow; right where the
/// plain product would leave the float64 range.
[[nodiscard]] double scaled_product(const VectorEntries& x, int x_shift, const VectorEntries& y,
                                    int y_shift);

/// Vectors of one length, with the sums that kernels between vectors are computed from. All sums
/// follow the canonical order (vector_loops.hpp), so dense and sparse stores of the same numbers,
/// in float32 or float64, give the same bits.
class VectorStore {
public:
    virtual ~VectorStore() = default;

    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    [[nodiscard]] virtual std::size_t n_columns() const noexcept = 0;
    [[nodiscard]] virtual bool is_sparse() const noexcept = 0;
    /// At most this many products add up in one partial sum of one object.
    [[nodiscard]] virtual std::size_t longest_sum() const noexcept = 0;
    /// Whether no inner product rounds: whole numbers whose squares add up to at most 2^53.
    [[nodiscard]] virtual bool has_exact_products() const noexcept { return false; }

    /// Rows [begin, end) as queries for a store of the same kind.
    [[nodiscard]] virtual std::unique_ptr<VectorQueries> queries(std::size_t begin,
                                                                 std::size_t end) const = 0;

    /// Puts another row into queries of one row.
    virtual void refill(VectorQueries& queries, std::size_t row) const = 0;

    /// out[i * stride + j] = <query i, row of selected object j>.
    virtual void products(const VectorQueries& queries, Selection objects, const VectorLoops& loops,
                          double* out, std::size_t stride) const = 0;
    /// out[i * stride + j] = |query i - row of selected object j|^2, from the differences.
    virtual void squared_distances(const VectorQueries& queries, Selection objects,
                                   DifferenceScale scale, const VectorLoops& loops, double* out,
                                   std::size_t stride) const = 0;
    /// out[i * stride + j] = the sum of the smaller entries of query i and of the row of selected
    /// object j; neither has negative ones.
    virtual void minimums(const VectorQueries& queries, Selection objects, const VectorLoops& loops,
                          double* out, std::size_t stride) const = 0;

    /// <row, row>.
    [[nodiscard]] virtual double squared_norm(std::size_t row) const = 0;
    /// The sum of a row's entries.
    [[nodiscard]] virtual double sum(std::size_t row) const = 0;
    /// The non-zero entries of a row, for what need not be fast.
    [[nodiscard]] virtual VectorEntries entries(std::size_t row) const = 0;
    /// Rows [begin, end) as dense numbers, `stride` from one to the next; what lies between a row's
    /// end and the next is left alone.
    virtual void copy_rows(std::size_t begin, std::size_t end, double* out,
                           std::size_t stride) const = 0;
};

/// Row-major n x d array that the caller keeps alive, `row_stride` numbers from one row to the
/// next.
template <class T>
[[nodiscard]] std::shared_ptr<VectorStore> make_dense_store(const T* data, std::size_t n_rows,
                                                            std::size_t n_columns,
                                                            std::size_t row_stride);

/// Compressed sparse rows that the caller keeps alive; columns increase within a row. Throws
/// std::invalid_argument when offsets or columns are not those of a CSR matrix, or when products
/// are said to be exact (see has_exact_products) and are not.
template <class T>
[[nodiscard]] std::shared_ptr<VectorStore> make_sparse_store(
    const std::int64_t* offsets, const std::int32_t* columns, const T* values, std::size_t n_rows,
    std::size_t n_columns, std::size_t n_entries, bool has_exact_products = false);

}  // namespace fastmks
