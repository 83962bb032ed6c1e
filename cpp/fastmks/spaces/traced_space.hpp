#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "fastmks/core/space.hpp"

namespace fastmks {

/// Another space, which remembers whose values were asked for. Every figure is the other's, so a
/// search here does what it does there.
class TracedSpace final : public Space {
public:
    explicit TracedSpace(std::shared_ptr<const Space> space)
        : space_(std::move(space)), seen_(new std::atomic<bool>[space_->size()]()) {}

    /// Whether a value of the object at a position was evaluated.
    [[nodiscard]] bool is_seen(std::size_t position) const noexcept { return seen_[position]; }

    std::size_t size() const noexcept override { return space_->size(); }
    Rounding rounding() const noexcept override { return space_->rounding(); }
    double largest_self_value() const noexcept override { return space_->largest_self_value(); }
    double self_value(std::size_t position) const override { return space_->self_value(position); }
    std::size_t self_evaluations(std::size_t position) const noexcept override {
        return space_->self_evaluations(position);
    }
    bool is_zero(std::size_t position) const override { return space_->is_zero(position); }
    bool accepts(const Space& queries) const noexcept override { return space_->accepts(queries); }
    std::unique_ptr<QueryBatch> batch(std::size_t begin, std::size_t end) const override {
        return space_->batch(begin, end);
    }
    void refill(std::unique_ptr<QueryBatch>& batch, std::size_t position) const override {
        space_->refill(batch, position);
    }
    void evaluate(const QueryBatch& queries, Selection objects, double* out,
                  std::size_t stride) const override {
        note(objects);
        space_->evaluate(queries, objects, out, stride);
    }
    bool has_bounds() const noexcept override { return space_->has_bounds(); }
    void bounds(const QueryBatch& queries, Selection objects, double* out,
                std::size_t stride) const override {
        space_->bounds(queries, objects, out, stride);
    }
    ScoreKind score_kind() const noexcept override { return space_->score_kind(); }
    bool is_product() const noexcept override { return space_->is_product(); }
    const VectorStore* score_vectors() const noexcept override { return space_->score_vectors(); }
    double least_value() const noexcept override { return space_->least_value(); }
    bool is_increasing() const noexcept override { return space_->is_increasing(); }
    double score_middle() const noexcept override { return space_->score_middle(); }
    double value_above(double score) const override { return space_->value_above(score); }
    double value_below(double score) const override { return space_->value_below(score); }
    double score_near(double value) const noexcept override { return space_->score_near(value); }
    double value_beyond(double distance, double largest) const override {
        return space_->value_beyond(distance, largest);
    }
    ScoreRange scores_below(double value, double largest) const override {
        return space_->scores_below(value, largest);
    }
    bool map_products(const Space& queries, std::size_t query, Selection objects,
                      double* values) const override {
        const bool is_done = space_->map_products(queries, query, objects, values);
        if (is_done) note(objects);
        return is_done;
    }
    const Space& untraced() const noexcept override { return space_->untraced(); }
    bool is_parallel() const noexcept override { return space_->is_parallel(); }
    Isa isa() const noexcept override { return space_->isa(); }

private:
    void note(Selection objects) const noexcept {
        for (std::size_t i = 0; i < objects.size; ++i) {
            seen_[objects[i]].store(true, std::memory_order_relaxed);
        }
    }

    std::shared_ptr<const Space> space_;
    std::unique_ptr<std::atomic<bool>[]> seen_;
};

}  // namespace fastmks
