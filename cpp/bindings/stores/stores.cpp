

#include "bindings/core/arrays.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks::bindings {
namespace {

template <class T>
std::int64_t first_not_finite(const Array<T, 1>& values) {
    const T* data = values.data();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(data[i])) return static_cast<std::int64_t>(i);
    }
    return -1;
}

template <class T>
std::shared_ptr<VectorStore> dense_store(const Rows<T>& rows) {
    return make_dense_store(rows.data(), rows.shape(0), rows.shape(1), checked_stride(rows));
}

template <class T>
std::shared_ptr<VectorStore> sparse_store(const Array<std::int64_t, 1>& offsets,
                                          const Array<std::int32_t, 1>& columns,
                                          const Array<T, 1>& values, std::size_t n_columns,
                                          bool has_exact_products) {
    if (offsets.size() == 0 || columns.size() != values.size()) {
        throw std::invalid_argument("offsets, columns and values do not belong together");
    }
    return make_sparse_store(offsets.data(), columns.data(), values.data(), offsets.size() - 1,
                             n_columns, values.size(), has_exact_products);
}

// No conversions: a converted copy would not be what keep_alive keeps alive.
template <class T>
void register_for(nb::module_& m) {
    m.def("first_not_finite", &first_not_finite<T>, "values"_a.noconvert(),
          "Position of the first NaN or infinity, or -1.", Unlocked());
    m.def("dense_store", &dense_store<T>, "rows"_a.noconvert(), nb::keep_alive<0, 1>());
    m.def("sparse_store", &sparse_store<T>, "offsets"_a.noconvert(), "columns"_a.noconvert(),
          "values"_a.noconvert(), "n_columns"_a, "has_exact_products"_a = false,
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}

}  // namespace

void register_stores(nb::module_& m) {
    nb::class_<VectorStore>(m, "VectorStore", "Vectors, over arrays that are not copied.");
    register_for<float>(m);
    register_for<double>(m);
}

}  // namespace fastmks::bindings
