#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "fastmks/spaces/score_map.hpp"

namespace fastmks {

/// Another space, which records the objects evaluated. Every figure is the other's, so a search is
/// the same in both.
class TracedSpace final : public Space, public UpperBounds, public ScoreMap {
public:
    explicit TracedSpace(std::shared_ptr<const Space> space)
        : Space(space->facts()),
          ScoreMap(space->scores() ? ScoreFacts(*space->scores()) : ScoreFacts{}),
          space_(std::move(space)),
          seen_(new std::atomic<bool>[space_->size()]()) {}

    /// Whether a value of the object at a position was evaluated.
    [[nodiscard]] bool is_seen(std::size_t position) const noexcept { return seen_[position]; }
    /// The space that this one stands for.
    [[nodiscard]] const Space& space() const noexcept { return *space_; }

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
    const UpperBounds* bounds() const noexcept override {
        return space_->bounds() ? this : nullptr;
    }
    void bound_values(const QueryBatch& queries, Selection objects, double* out,
                      std::size_t stride) const override {
        space_->bounds()->bound_values(queries, objects, out, stride);
    }
    const ScoreMap* scores() const noexcept override { return space_->scores() ? this : nullptr; }
    double value_above(double score) const override { return traced().value_above(score); }
    double value_below(double score) const override { return traced().value_below(score); }
    double score_near(double value) const noexcept override { return traced().score_near(value); }
    double value_beyond(double distance, double largest) const override {
        return traced().value_beyond(distance, largest);
    }
    ScoreRange scores_below(double value, double largest) const override {
        return traced().scores_below(value, largest);
    }
    bool map_products(const Space& queries, std::size_t query, Selection objects,
                      double* values) const override {
        const bool is_done = traced().map_products(queries, query, objects, values);
        if (is_done) note(objects);
        return is_done;
    }

private:
    [[nodiscard]] const ScoreMap& traced() const noexcept { return *space_->scores(); }
    void note(Selection objects) const noexcept {
        for (std::size_t i = 0; i < objects.size; ++i) {
            seen_[objects[i]].store(true, std::memory_order_relaxed);
        }
    }

    std::shared_ptr<const Space> space_;
    std::unique_ptr<std::atomic<bool>[]> seen_;
};

/// The space that another stands for, which is itself unless it is traced.
[[nodiscard]] inline const Space& untraced(const Space& space) noexcept {
    const auto* const traced = dynamic_cast<const TracedSpace*>(&space);
    return traced ? untraced(traced->space()) : space;
}

}  // namespace fastmks
