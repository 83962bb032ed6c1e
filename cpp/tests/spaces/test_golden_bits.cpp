// The bits themselves. Every platform, compiler and instruction set must compute what is written
// here; a hash may change only together with the definition of the canonical value.

#include <cinttypes>

#include "fastmks/simd/loops.hpp"
#include "fastmks/spaces/algebra.hpp"
#include "tests/support/testing.hpp"

namespace {

// FNV-1a over the bytes of numbers, lowest byte first.
class Hash {
public:
    void add(double value) {
        const std::uint64_t number = bits(value);
        for (int byte = 0; byte < 8; ++byte) {
            state_ = (state_ ^ (number >> (8 * byte) & 0xff)) * 0x100000001b3u;
        }
    }
    void add(const std::vector<double>& values) {
        for (const double value : values) add(value);
    }
    std::uint64_t value() const { return state_; }

private:
    std::uint64_t state_ = 0xcbf29ce484222325u;
};

void check_hash(const std::string& name, const Hash& hash, std::uint64_t golden) {
    char got[32];
    std::snprintf(got, sizeof got, "0x%016" PRIx64 "u", hash.value());
    const check::Context here(name + " gives " + got);
    CHECK(hash.value() == golden);
}

std::vector<double> draw_values(std::size_t n, int largest, std::uint64_t seed) {
    Draw draw(seed);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(draw.wide(largest));
    return values;
}

// Hashes loop(queries, block, out, stride) for many shapes.
template <class T, class Loop>
void add_dense(Hash& hash, Loop loop) {
    for (std::size_t n_columns = 1; n_columns <= 67; n_columns += 3) {
        const auto rows = draw_values(9 * n_columns, 20, n_columns);
        const auto entries = draw_values(7 * n_columns, 20, 100 + n_columns);
        const std::vector<T> data(rows.begin(), rows.end());
        std::vector<const T*> pointers;
        for (std::size_t j = 0; j < 9; ++j) pointers.push_back(data.data() + j * n_columns);
        std::vector<double> queries(7 * padded(n_columns)), out(63);
        for (std::size_t at = 0; at < entries.size(); ++at) {
            queries[at / n_columns * padded(n_columns) + at % n_columns] = entries[at];
        }
        loop(DenseQueries{queries.data(), 7, n_columns},
             DenseBlock<T>{pointers.data(), 9, n_columns, data.data() + data.size()}, out.data(),
             std::size_t{9});
        hash.add(out);
    }
}

template <class T>
void add_distances(Hash& hash, const VectorLoops& loops) {
    for (const DifferenceScale scale : {DifferenceScale{}, {0x1p-900, 1.0}, {1.0, 0x1p500}}) {
        add_dense<T>(hash, [&](auto queries, auto block, double* out, std::size_t stride) {
            loops.rows<T>().squared_distances(queries, block, scale, out, stride);
        });
    }
}

// Queries of eight in every other column, rows in two of three.
template <class T, class Loop>
void add_sparse(Hash& hash, Loop loop) {
    std::vector<std::int32_t> slots, columns;
    for (std::int32_t c = 0; c < 500; ++c) {
        slots.push_back(c % 2 == 0 ? c / 2 : -1);
        if (c % 3 != 0) columns.push_back(c);
    }
    const auto table = draw_values(250 * 8, 20, 31), entries = draw_values(columns.size(), 20, 32);
    const std::vector<T> values(entries.begin(), entries.end());
    for (std::size_t n = 0; n <= columns.size(); n += 9) {
        std::vector<double> out(8);
        loop(SparseQueries{slots.data(), table.data(), 8},
             SparseRow<T>{columns.data(), values.data(), n}, out.data(), std::size_t{1});
        hash.add(out);
    }
}

template <class Loop>
void add_values(Hash& hash, std::vector<double> values, Loop loop) {
    loop(values.data(), values.size());
    hash.add(values);
}

struct GoldenLoop {
    const char* name;
    std::uint64_t hash;
    void (*add)(Hash&, const VectorLoops&);
};

const GoldenLoop golden_loops[] = {
    {"products_f64", 0x49839d25f95b898fu,
     [](Hash& hash, const VectorLoops& loops) { add_dense<double>(hash, loops.f64.products); }},
    {"products_f32", 0x435dc4671f3b4dedu,
     [](Hash& hash, const VectorLoops& loops) { add_dense<float>(hash, loops.f32.products); }},
    {"squared_distances_f64", 0x681a7a5c408444c9u, add_distances<double>},
    {"squared_distances_f32", 0xe8000960d94d321au, add_distances<float>},
    {"sparse_products_f64", 0x7004b25c22d0be08u,
     [](Hash& hash, const VectorLoops& loops) {
         add_sparse<double>(hash, loops.f64.sparse_products);
     }},
    {"sparse_products_f32", 0xa80d8ae7adac401eu,
     [](Hash& hash, const VectorLoops& loops) {
         add_sparse<float>(hash, loops.f32.sparse_products);
     }},
    {"affine", 0x4ba4b93ef5c5c112u,
     [](Hash& hash, const VectorLoops& loops) {
         add_values(hash, draw_values(2000, 20, 1),
                    [&](double* v, std::size_t n) { loops.affine(v, n, 1.1, -0.7); });
     }},
    {"power", 0x2ae5abf4c2feb9bau,
     [](Hash& hash, const VectorLoops& loops) {
         for (unsigned degree = 0; degree <= 40; ++degree) {
             add_values(hash, draw_values(200, 40, degree),
                        [&](double* v, std::size_t n) { loops.power(v, n, degree); });
         }
     }},
    {"exponential", 0xf548bcdd85a2f891u,
     [](Hash& hash, const VectorLoops& loops) {
         add_values(hash, draw_values(20000, 10, 2), loops.exponential);
     }},
    {"hyperbolic_tangent", 0x1f51d52040dc97cdu,
     [](Hash& hash, const VectorLoops& loops) {
         add_values(hash, draw_values(20000, 5, 3), loops.hyperbolic_tangent);
     }},
    {"square_root", 0xf3e983be1c2b230cu,
     [](Hash& hash, const VectorLoops& loops) {
         add_values(hash, draw_values(2000, 1000, 4), loops.square_root);  // NaN for half of them
     }},
    {"normalize", 0xacad356e4c6bc5cfu,
     [](Hash& hash, const VectorLoops& loops) {
         std::vector<double> mantissas = draw_values(2000, 0, 5), scales;
         for (double& mantissa : mantissas) mantissa = 2.5 + 1.5 * mantissa;
         for (int i = 0; i < 2000; ++i) scales.push_back(std::ldexp(1.0, i % 21 - 10));
         for (const double limit : {1.0, infinity}) {
             add_values(hash, draw_values(2000, 8, 6), [&](double* v, std::size_t n) {
                 loops.normalize(v, n, {1.7, 0.5}, mantissas.data(), scales.data(), limit);
             });
         }
     }},
    {"count_above", 0xc48f174c01973742u,
     [](Hash& hash, const VectorLoops& loops) {
         const auto values = draw_values(300, 3, 7);
         for (std::size_t n = 0; n <= 300; ++n) {
             hash.add(static_cast<double>(loops.count_above(values.data(), n, 0.1)));
         }
     }},
};

struct GoldenForm {
    const char* form;
    std::uint64_t hash;
};

constexpr GoldenForm golden_forms[] = {
    {"linear", 0xc3032cf4d8fcc135u},     {"polynomial", 0xba1ee25839d07a91u},
    {"tanh", 0xa71486ed32cd856du},       {"exponential", 0x72e76e4c5cfe984du},
    {"cosine", 0xf7892f8dc18a47d5u},     {"gaussian", 0x5f639b90b439ff49u},
    {"laplacian", 0xb1dabbe648247e75u},  {"epanechnikov", 0x640f72f6dbf5f72du},
    {"triangular", 0x5d896be278ad2f6du}, {"spherical", 0xbca0b437ebf65a35u}};

constexpr std::uint64_t golden_extremes = 0x1436ba29cfdbe549u;
constexpr std::uint64_t golden_algebra = 0x021abe02c60e7bd9u;

SpacePointer make_space(const Vectors& vectors, const VectorKernel& kernel, StoreKind kind,
                        Isa isa) {
    return std::make_shared<VectorSpace>(space_of(vectors, kernel, kind, isa));
}

// The values and self values of one kernel for vectors of several lengths.
Hash hash_of(const std::string& form, StoreKind kind, Isa isa) {
    Hash hash;
    for (const std::size_t n_columns : {1, 5, 24, 77}) {
        for (const VectorKernel& kernel :
             {VectorKernel{form, 3, 0.3, 0.6, 1.3}, VectorKernel{form, 10, 0.05, 0.0, 9.7}}) {
            const auto space =
                make_space(draw_vectors(20, n_columns, 1, n_columns), kernel, kind, isa);
            hash.add(all_values(*space, *space));
            for (std::size_t i = 0; i < 20; ++i) hash.add(space->self_value(i));
        }
    }
    return hash;
}

}  // namespace

TEST(loops_compute_the_golden_bits) {
    for (const Isa isa : available_isas()) {
        for (const GoldenLoop& golden : golden_loops) {
            Hash hash;
            golden.add(hash, loops_for(isa).vectors);
            check_hash(std::string(golden.name) + " on " + to_string(isa), hash, golden.hash);
        }
    }
}

TEST(forms_compute_the_golden_bits) {
    for (const Isa isa : available_isas()) {
        for (const StoreKind kind : store_kinds) {
            for (const GoldenForm& golden : golden_forms) {
                check_hash(
                    std::string(golden.form) + " on " + to_string(isa) + ", " + to_string(kind),
                    hash_of(golden.form, kind, isa), golden.hash);
            }
        }
    }
}

TEST(extreme_vectors_compute_the_golden_bits) {
    for (const Isa isa : available_isas()) {
        for (const StoreKind kind : {StoreKind::dense_f64, StoreKind::sparse_f64}) {
            const Vectors wide{30, 9, draw_values(270, 1000, 8)};
            Hash hash;
            const auto cosine = make_space(wide, distance_kernel("cosine", 1.0), kind, isa);
            hash.add(all_values(*cosine, *cosine));
            for (const std::string form : distance_forms) {
                for (const int exponent : {-1000, -250, 250, 1000}) {
                    Vectors vectors{10, 9, draw_values(90, 3, 9)};
                    for (double& value : vectors.data) value = std::ldexp(value, exponent);
                    const auto space = make_space(
                        vectors, distance_kernel(form, std::ldexp(5.5, exponent)), kind, isa);
                    hash.add(all_values(*space, *space));
                }
            }
            check_hash("extremes on " + to_string(isa) + ", " + to_string(kind), hash,
                       golden_extremes);
        }
    }
}

TEST(combinations_compute_the_golden_bits) {
    for (const Isa isa : available_isas()) {
        for (const StoreKind kind : store_kinds) {
            const auto vectors = draw_vectors(20, 24, 2, 10);
            const auto make = [&](const std::string& form) {
                return make_space(vectors, {form, 3, 0.3, 0.6, 4.1}, kind, isa);
            };
            const auto sum = make_sum({make("polynomial"), make("linear"), make("gaussian")});
            const auto product = make_product({make("laplacian"), make_scaled(sum, 0.1)});
            Hash hash;
            for (const auto& space :
                 {sum, product, make_normalized(product, true), make_normalized(sum, false)}) {
                hash.add(all_values(*space, *space));
                for (std::size_t i = 0; i < 20; ++i) hash.add(space->self_value(i));
            }
            check_hash("algebra on " + to_string(isa) + ", " + to_string(kind), hash,
                       golden_algebra);
        }
    }
}
