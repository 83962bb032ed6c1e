#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "fastmks/core/space.hpp"
#include "fastmks/spaces/normalizer.hpp"
#include "fastmks/spaces/vector_form.hpp"
#include "fastmks/stores/vector_store.hpp"

namespace fastmks {

/// Vectors under one kernel.
class VectorSpace final : public Space {
public:
    VectorSpace(std::shared_ptr<const VectorStore> store, VectorKernel kernel, Isa isa);

    std::size_t size() const noexcept override { return store_->size(); }
    Rounding rounding() const noexcept override;
    double largest_self_value() const noexcept override { return form_.largest_self_value; }
    double self_value(std::size_t position) const override;
    std::size_t self_evaluations(std::size_t) const noexcept override {
        return has_distances() || norms_ ? 0 : 1;
    }
    bool is_zero(std::size_t position) const override;
    bool accepts(const Space& queries) const noexcept override;
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override;
    void refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const override;
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override;
    ScoreKind score_kind() const noexcept override;
    bool is_product() const noexcept override { return is_score() && !norms_; }
    const VectorStore* score_vectors() const noexcept override { return store_.get(); }
    bool is_increasing() const noexcept override;
    double least_value() const noexcept override { return form_.least_value; }
    double score_middle() const noexcept override { return -kernel_.offset / kernel_.scale; }
    double value_above(double score) const override;
    double value_below(double score) const override;
    double score_near(double value) const noexcept override;
    double value_beyond(double distance, double largest) const override;
    ScoreRange scores_below(double value, double largest) const override;
    bool map_products(const Space& queries, std::size_t query, Selection objects,
                      double* values) const override;
    Isa isa() const noexcept override { return isa_; }

private:
    /// What cosine needs to know of each object beforehand.
    struct Norms {
        Normalizer normalizer;
        std::vector<int> shifts;  // not 0: multiply the row by 2^shift before taking products
        std::vector<std::size_t> shifted;
    };

    [[nodiscard]] bool has_distances() const noexcept { return form_.score == ScoreKind::distance; }
    // Whether the values are the scores themselves.
    [[nodiscard]] bool is_score() const noexcept { return !form_.map; }
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

    std::shared_ptr<const VectorStore> store_;
    VectorKernel kernel_;  // its bandwidth is that of differences as scaled
    const VectorForm& form_;
    DifferenceScale difference_scale_;
    Isa isa_;
    const VectorLoops& loops_;
    std::optional<Norms> norms_;
};

}  // namespace fastmks
