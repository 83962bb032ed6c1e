#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "fastmks/spaces/normalizer.hpp"
#include "fastmks/spaces/score_map.hpp"
#include "fastmks/spaces/store_space.hpp"
#include "fastmks/spaces/vector_form.hpp"

namespace fastmks {

/// Vectors under one kernel.
class VectorSpace final : public StoreSpace<VectorSpace, VectorStore>, public ScoreMap {
public:
    VectorSpace(std::shared_ptr<const VectorStore> store, VectorKernel kernel, Isa isa);

    double self_value(std::size_t position) const override;
    std::size_t self_evaluations(std::size_t) const noexcept override {
        return has_distances() || norms_ ? 0 : 1;
    }
    bool is_zero(std::size_t position) const override;
    bool accepts(const Space& queries) const noexcept override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;

    const ScoreMap* scores() const noexcept override;
    double value_above(double score) const override;
    double value_below(double score) const override;
    double score_near(double value) const noexcept override;
    double value_beyond(double distance, double largest) const override;
    ScoreRange scores_below(double value, double largest) const override;
    bool map_products(const Space& queries, std::size_t query, Selection objects,
                      double* values) const override;

private:
    /// The data of each object that cosine needs.
    struct Norms {
        Normalizer normalizer;
        std::vector<int> shifts;  // not 0: multiply the row by 2^shift before taking products
        std::vector<std::size_t> shifted;
    };

    [[nodiscard]] bool has_distances() const noexcept { return kind == ScoreKind::distance; }
    [[nodiscard]] double power(double v) const;
    [[nodiscard]] double power_reach(double largest) const noexcept;
    [[nodiscard]] double power_error(double largest) const;
    [[nodiscard]] double value_at(double score) const;
    [[nodiscard]] double value_error(double value) const noexcept;
    [[nodiscard]] ScoreRange powers_below(double value, double largest) const;
    void map(double* values, std::size_t n) const;
    void normalize(const VectorSpace& queries, std::size_t first_query, std::size_t n_queries,
                   Selection objects, double* out, std::size_t stride) const;
    [[nodiscard]] double shifted_product(const VectorSpace& queries, std::size_t query,
                                         std::size_t object) const;

    VectorKernel kernel_;  // its bandwidth is that of differences as scaled
    const VectorForm& form_;
    DifferenceScale difference_scale_;
    const VectorLoops& loops_;
    std::optional<Norms> norms_;
};

}  // namespace fastmks
