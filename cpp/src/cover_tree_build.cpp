// Batch construction (appendix A of the paper, after Beygelzimer, Kakade and Langford), without
// recursion: the stack of unfinished nodes is a vector.

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cover_tree_draft.hpp"
#include "fastmks/cover_tree.hpp"
#include "fastmks/geometry.hpp"

namespace fastmks {
namespace {

constexpr std::size_t chunk_size = 512;  // of a block that is split among threads

// An object that may come to lie below some node, and its distance from that node's point: 0 where
// it cannot be told from 0.
struct Candidate {
    std::uint32_t object;
    double distance;
};

// A part of the stack of candidates.
struct Segment {
    std::size_t begin;
    std::size_t size;
};

// A node whose descendants are being found. All of `near` will come below it, and of `far` those
// that its children reach. A self-child shares its parent's candidates: the parent's near ones are
// its near and far ones.
struct Frame {
    std::uint32_t node;  // in the draft
    Segment near;
    Segment far;
    double reach = 0.0;          // no two children are closer than this
    std::uint32_t child = none;  // the one being built
};

class Builder {
public:
    Builder(const Space& space, double base, std::size_t threads, const Watch& watch)
        : space_(space),
          geometry_(space.rounding()),
          base_(base),
          threads_(threads),
          watch_(watch),
          self_(space.size()),
          norm_above_(space.size()),
          is_taken_(space.size(), 0),
          draft_{{},
                 std::vector<std::uint32_t>(space.size(), none),
                 std::vector<double>(space.size()),
                 self_} {}

    CoverTree build() {
        read_self_values();
        start_root();
        while (!frames_.empty()) {
            watch_(n_taken_);
            if (frames_.back().child != none) {
                finish_child();
            } else if (frames_.back().near.size > 0) {
                start_child();
            } else {
                close();
            }
        }
        candidates_ = {};
        CoverTree tree = lay_out(std::move(draft_), geometry_);
        tree.base = base_;
        tree.build_evaluations = n_evaluations_;
        return tree;
    }

private:
    void read_self_values() {
        for (std::size_t i = 0; i < space_.size(); ++i) {
            self_[i] = space_.self_value(i);
            if (!std::isfinite(self_[i])) throw ValueFault(i, i, self_[i]);
            if (self_[i] < 0.0) throw NotMercerFault(i, itself, self_[i], 0.0);
            norm_above_[i] = geometry_.norm_above(self_[i]);
            if (i % 4096 == 0) watch_(0);
        }
    }

    void start_root() {
        objects_.resize(space_.size() - 1);
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            objects_[i] = static_cast<std::int64_t>(i + 1);
        }
        evaluate(0);
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            candidates_.push_back({static_cast<std::uint32_t>(i + 1), distance(0, i)});
        }
        draft_.nodes.push_back({0});
        take(0);
        open({0, {0, candidates_.size()}, {candidates_.size(), 0}});
    }

    // Begins the work on a node, with its self-child when it has one.
    void open(Frame frame) {
        for (;;) {
            const auto near = candidates_.begin() + static_cast<std::ptrdiff_t>(frame.near.begin);
            const auto near_end = near + static_cast<std::ptrdiff_t>(frame.near.size);
            double furthest = 0.0;
            for (auto it = near; it != near_end; ++it) furthest = std::max(furthest, it->distance);
            if (!(furthest > 0.0)) {
                for (auto it = near; it != near_end; ++it) add_leaf(frame, *it);
                frame.near.size = 0;
                frames_.push_back(frame);
                return;
            }
            const std::int32_t level = covering_level(furthest);
            draft_.nodes[frame.node].level = level;
            frame.reach = std::pow(base_, level - 1);
            const auto far = std::partition(near, near_end, [&](const Candidate& candidate) {
                return candidate.distance <= frame.reach;
            });
            const auto n_near = static_cast<std::size_t>(far - near);
            if (n_near > 0) frame.child = add_child(frame, draft_.nodes[frame.node].point);
            frames_.push_back(frame);
            if (n_near == 0) return;
            frame = {frame.child,
                     {frame.near.begin, n_near},
                     {frame.near.begin + n_near, frame.near.size - n_near}};
        }
    }

    // The least level with furthest <= base^level.
    [[nodiscard]] std::int32_t covering_level(double furthest) const {
        auto level = static_cast<std::int32_t>(std::ceil(std::log(furthest) / std::log(base_)));
        while (std::pow(base_, level) < furthest) ++level;
        while (std::pow(base_, level - 1) >= furthest) --level;
        return level;
    }

    // Makes the last near candidate a child of the frame on top.
    void start_child() {
        Frame& frame = frames_.back();
        const Candidate chosen = candidates_[frame.near.begin + --frame.near.size];
        take(chosen.object);
        const double reach = frame.reach;
        const double far_reach = reach * base_;
        // What lies further from the chosen one than far_reach by the triangle inequality need not
        // be evaluated.
        objects_.clear();
        from_parent_.clear();
        const auto gather = [&](Segment segment) {
            for (std::size_t i = segment.begin; i < segment.begin + segment.size; ++i) {
                const Candidate& candidate = candidates_[i];
                if (std::abs(candidate.distance - chosen.distance) > far_reach) continue;
                objects_.push_back(candidate.object);
                from_parent_.push_back(candidate.distance);
            }
        };
        gather(frame.near);
        gather(frame.far);
        evaluate(chosen.object);
        const std::size_t begin = candidates_.size();
        std::size_t n_near = 0;
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            const double away = distance(chosen.object, i);
            if (away > chosen.distance + from_parent_[i]) check_triangle(frame, chosen, i, away);
            if (away > far_reach) continue;
            candidates_.push_back({static_cast<std::uint32_t>(objects_[i]), away});
            if (away <= reach) std::swap(candidates_[begin + n_near++], candidates_.back());
        }
        if (n_near == 0) {
            candidates_.resize(begin);
            add_leaf(frame, chosen);
            return;
        }
        frame.child = add_child(frame, chosen.object);
        draft_.nodes[frame.child].parent_distance = absorb(frame, chosen);
        open({frame.child, {begin, n_near}, {begin + n_near, candidates_.size() - begin - n_near}});
    }

    // The child on which the frame on top was waiting is complete.
    void finish_child() {
        Frame& frame = frames_.back();
        DraftNode& node = draft_.nodes[frame.node];
        DraftNode& child = draft_.nodes[frame.child];
        frame.child = none;
        if (child.point == node.point) {
            child.parent_radius = child.radius;
            node.radius = std::max(node.radius, child.radius);
            frame.near = finished_.far;
            return;
        }
        candidates_.resize(finished_.near.begin);
        double furthest = child.parent_distance;
        const auto keep_rest = [&](Segment& segment) {
            std::size_t kept = segment.begin;
            for (std::size_t i = segment.begin; i < segment.begin + segment.size; ++i) {
                if (is_taken_[candidates_[i].object]) {
                    furthest = std::max(furthest, absorb(frame, candidates_[i]));
                } else {
                    candidates_[kept++] = candidates_[i];
                }
            }
            segment.size = kept - segment.begin;
        };
        keep_rest(frame.near);
        keep_rest(frame.far);
        child.parent_radius = furthest;
    }

    void close() {
        finished_ = frames_.back();
        frames_.pop_back();
    }

    std::uint32_t add_child(const Frame& frame, std::uint32_t point) {
        const auto child = static_cast<std::uint32_t>(draft_.nodes.size());
        draft_.nodes.push_back({point});
        DraftNode& node = draft_.nodes[frame.node];
        (node.last_child == none ? node.first_child : draft_.nodes[node.last_child].next_sibling) =
            child;
        node.last_child = child;
        return child;
    }

    void add_leaf(const Frame& frame, const Candidate& leaf) {
        if (!is_taken_[leaf.object]) take(leaf.object);
        draft_.leaf_distance[leaf.object] = absorb(frame, leaf);
        draft_.next_leaf[leaf.object] = draft_.nodes[frame.node].first_leaf;
        draft_.nodes[frame.node].first_leaf = leaf.object;
    }

    void take(std::uint32_t object) {
        is_taken_[object] = 1;
        ++n_taken_;
    }

    // Counts an object among those below a node; returns at least its distance from the point.
    double absorb(const Frame& frame, const Candidate& candidate) {
        DraftNode& node = draft_.nodes[frame.node];
        const double self_p = self_[node.point];
        const double self_x = self_[candidate.object];
        const double slack = geometry_.square_slack(self_p, self_x);
        const double square = candidate.distance * candidate.distance + slack;
        const double above = std::sqrt(square) * Geometry::up;
        node.radius = std::max(node.radius, above);
        return above;
    }

    // values_[i] = K(point, objects_[i])
    void evaluate(std::uint32_t point) {
        const std::size_t n = objects_.size();
        values_.resize(n);
        if (n == 0) return;
        const auto batch = space_.batch(point, point + 1);
        const auto run = [&](std::size_t begin, std::size_t end) {
            space_.values(*batch, Selection::list(objects_.data() + begin, end - begin),
                          values_.data() + begin);
        };
        if (n < 2 * chunk_size || threads_ == 1) {
            run(0, n);
        } else {
            const Watch watch = [this](std::size_t) { watch_(n_taken_); };
            const std::size_t n_chunks = (n + chunk_size - 1) / chunk_size;
            parallel_for(n_chunks, threads_, watch, [&](std::size_t chunk, Worker& worker) {
                run(chunk * chunk_size, std::min(n, (chunk + 1) * chunk_size));
                worker.advance(chunk_size);
            });
        }
        n_evaluations_ += n;
    }

    // From a point to objects_[i].
    [[nodiscard]] double distance(std::uint32_t point, std::size_t i) const {
        const auto object = static_cast<std::size_t>(objects_[i]);
        const double limit = geometry_.largest_value(norm_above_[point], norm_above_[object]);
        if (std::abs(values_[i]) > limit) throw NotMercerFault(point, object, values_[i], limit);
        return std::sqrt(geometry_.square(self_[point], self_[object], values_[i]));
    }

    // d(chosen, x) is greater than d(p, chosen) + d(p, x): more than rounding can explain?
    void check_triangle(const Frame& frame, const Candidate& chosen, std::size_t i,
                        double away) const {
        const std::uint32_t point = draft_.nodes[frame.node].point;
        const auto object = static_cast<std::size_t>(objects_[i]);
        const double slack = geometry_.square_slack(self_[point], self_[object]) +
                             geometry_.square_slack(self_[point], self_[chosen.object]) +
                             geometry_.square_slack(self_[chosen.object], self_[object]);
        if (away > (chosen.distance + from_parent_[i] + 4.0 * std::sqrt(slack)) * Geometry::up) {
            throw TriangleFault(point, chosen.object, object, chosen.distance, away,
                                from_parent_[i]);
        }
    }

    const Space& space_;
    Geometry geometry_;
    double base_;
    std::size_t threads_;
    const Watch& watch_;
    std::vector<double> self_;
    std::vector<double> norm_above_;
    std::vector<char> is_taken_;
    std::size_t n_taken_ = 0;
    std::size_t n_evaluations_ = 0;
    Draft draft_;
    std::vector<Frame> frames_;
    Frame finished_{none, {0, 0}, {0, 0}};  // the frame last closed
    std::vector<Candidate> candidates_;
    // Scratch of one block: what is evaluated, its distances from the parent's point, the values.
    std::vector<std::int64_t> objects_;
    std::vector<double> from_parent_;
    std::vector<double> values_;
};

}  // namespace

CoverTree build_cover_tree(const Space& space, double base, std::size_t threads,
                           const Watch& watch) {
    if (!(base >= smallest_base) || !std::isfinite(base)) {
        throw std::invalid_argument("base must be finite and at least smallest_base");
    }
    if (space.size() == 0 || space.size() >= none) {
        throw std::invalid_argument("a tree holds 1 to 2^32 - 2 objects");
    }
    return Builder(space, base, threads, watch).build();
}

}  // namespace fastmks
