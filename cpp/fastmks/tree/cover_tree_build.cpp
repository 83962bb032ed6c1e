// Batch construction (appendix A of the paper, after Beygelzimer, Kakade and Langford), without
// recursion: the stack of unfinished nodes is a vector.

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "fastmks/core/faults.hpp"
#include "fastmks/core/geometry.hpp"
#include "fastmks/simd/loops.hpp"
#include "fastmks/tree/cover_tree.hpp"
#include "fastmks/tree/cover_tree_draft.hpp"

namespace fastmks {
namespace {

constexpr std::size_t chunk_size = 512;   // of a block that is split among threads
constexpr std::size_t watch_every = 256;  // evaluations

// An object that may come to lie below some node, and its distance from that node's point: 0 where
// it cannot be told from 0.
struct Candidate {
    double distance;
    double self_value;
    std::uint32_t object;
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
    std::uint32_t child = none;  // the one being built
};

// Powers of the base from some level downwards, the first of them computed once.
class Powers {
public:
    explicit Powers(double base) : base_(base) {}

    /// The least level with distance <= base^level.
    [[nodiscard]] std::int32_t covering_level(double distance) const {
        auto level = static_cast<std::int32_t>(std::ceil(std::log(distance) / std::log(base_)));
        while (std::pow(base_, level) < distance) ++level;
        while (std::pow(base_, level - 1) >= distance) --level;
        return level;
    }

    /// The covering level where it is at most `highest`: faster where it is close to that.
    [[nodiscard]] std::int32_t covering_level(double distance, std::int32_t highest) {
        constexpr std::int32_t far = 16;
        if ((*this)(highest - far) >= distance) return covering_level(distance);
        std::int32_t level = highest;
        while ((*this)(level - 1) >= distance) --level;
        return level;
    }

    /// base^level, for levels up to that of the first call.
    double operator()(std::int32_t level) {
        if (values_.empty()) top_ = level;
        const auto at = static_cast<std::size_t>(top_ - level);
        if (at >= most_kept) return std::pow(base_, level);
        while (values_.size() <= at) {
            values_.push_back(std::pow(base_, top_ - static_cast<std::int32_t>(values_.size())));
        }
        return values_[at];
    }

private:
    static constexpr std::size_t most_kept = 4096;  // a base close to 1 has very many levels
    double base_;
    std::int32_t top_ = 0;
    std::vector<double> values_;
};

class Builder {
public:
    Builder(const Space& space, double base, std::size_t threads, const Watch& watch)
        : space_(space),
          geometry_(space.rounding()),
          base_(base),
          powers_(base),
          loops_(loops_for(space.isa()).vectors),
          threads_(threads),
          watch_(watch),
          self_(space.size()),
          is_taken_(space.size(), 0),
          draft_{{},
                 std::vector<std::uint32_t>(space.size(), none),
                 std::vector<double>(space.size()),
                 self_} {
        draft_.nodes.reserve(space.size());
    }

    CoverTree build() {
        read_self_values();
        start_root();
        while (!frames_.empty()) {
            if (n_unwatched_ >= watch_every) {
                n_unwatched_ = 0;
                watch_(n_taken_);
            }
            if (frames_.back().child != none) {
                finish_child();
            } else if (frames_.back().near.size > 0) {
                start_child();
            } else {
                close();
            }
        }
        candidates_ = {};
        add_unbounded();
        CoverTree tree = lay_out(draft_, geometry_);
        tree.base = base_;
        tree.build_evaluations = n_evaluations_;
        tree.build_self_evaluations = n_self_evaluations_;
        return tree;
    }

private:
    void read_self_values() {
        for (std::size_t i = 0; i < space_.size(); ++i) {
            n_self_evaluations_ += space_.self_evaluations(i);
            self_[i] = space_.self_value(i);
            if (self_[i] < 0.0) throw NotMercerFault{i, itself, self_[i], 0.0};
            if (!is_bounded(self_[i])) self_[i] = HUGE_VAL;
            if (i % watch_every == 0) watch_(0);
        }
    }

    // Whether distances from an object can be computed. Nothing is known of one whose K(x, x) is
    // too large for that: it is a leaf of the root, infinitely far away, and never evaluated here.
    static bool is_bounded(double self_value) { return self_value <= Geometry::largest_self_value; }

    // The root's point is the first object with distances, or else the first object.
    void start_root() {
        const auto n = static_cast<std::uint32_t>(space_.size());
        const auto first = std::find_if(self_.begin(), self_.end(), is_bounded);
        const auto root =
            first == self_.end() ? 0u : static_cast<std::uint32_t>(first - self_.begin());
        resize_scratch(n);
        std::size_t n_others = 0;
        for (std::uint32_t i = root + 1; i < n; ++i) {
            objects_[n_others] = i;
            selves_[n_others] = self_[i];
            n_others += is_bounded(self_[i]);
        }
        evaluate(root, n_others);
        measure(root, n_others);
        keep_within(n_others, -1.0, HUGE_VAL);
        draft_.nodes.push_back({root});
        take(root);
        open({0, {0, top_}, {top_, 0}}, std::numeric_limits<std::int32_t>::max());
    }

    void add_unbounded() {
        for (std::uint32_t i = 0; i < space_.size(); ++i) {
            if (is_bounded(self_[i]) || is_taken_[i]) continue;
            add_leaf({0, {}, {}}, {HUGE_VAL, self_[i], i});
        }
    }

    // Begins the work on a node whose level is at most `highest`, with its self-child when it has
    // one, and so on.
    void open(Frame frame, std::int32_t highest) {
        for (;;) {
            Candidate* const near = candidates_.data() + frame.near.begin;
            Candidate* const near_end = near + frame.near.size;
            double furthest = 0.0;
            for (const Candidate* it = near; it != near_end; ++it) {
                furthest = std::max(furthest, it->distance);
            }
            if (!(furthest > 0.0)) {
                for (const Candidate* it = near; it != near_end; ++it) add_leaf(frame, *it);
                frame.near.size = 0;
                frames_.push_back(frame);
                return;
            }
            const bool is_root = highest == std::numeric_limits<std::int32_t>::max();
            const std::int32_t level = is_root ? powers_.covering_level(furthest)
                                               : powers_.covering_level(furthest, highest);
            draft_.nodes[frame.node].level = level;
            if (is_root) static_cast<void>(powers_(level));
            const std::size_t n_near = put_near_first(near, near_end, powers_(level - 1));
            if (n_near > 0) frame.child = add_child(frame, draft_.nodes[frame.node].point);
            frames_.push_back(frame);
            if (n_near == 0) return;
            frame = {frame.child,
                     {frame.near.begin, n_near},
                     {frame.near.begin + n_near, frame.near.size - n_near}};
            highest = level - 1;
        }
    }

    // Puts the candidates within `reach` before the others, without branches; returns how many.
    static std::size_t put_near_first(Candidate* first, Candidate* end, double reach) {
        Candidate* far = first;
        for (Candidate* it = first; it != end; ++it) {
            const Candidate candidate = *it;
            *it = *far;
            *far = candidate;
            far += candidate.distance <= reach ? 1 : 0;
        }
        return static_cast<std::size_t>(far - first);
    }

    // Adds the last near candidate as a child of the frame on top.
    void start_child() {
        Frame& frame = frames_.back();
        const Candidate chosen = candidates_[frame.near.begin + --frame.near.size];
        take(chosen.object);
        const std::int32_t level = draft_.nodes[frame.node].level;
        const double reach = powers_(level - 1);
        const double far_reach = powers_(level);
        const std::size_t n = gather(frame, chosen.distance, far_reach);
        evaluate(chosen.object, n);
        measure(chosen.object, n);
        check_triangles(frame, chosen, n);
        if (loops_.count_above(distances_.data(), n, reach) == n) {
            add_leaf(frame, chosen);
            return;
        }
        const std::size_t begin = top_;
        const std::size_t n_near = keep_within(n, -1.0, reach);
        keep_within(n, reach, far_reach);
        frame.child = add_child(frame, chosen.object);
        draft_.nodes[frame.child].parent_distance = absorb(frame, chosen);
        open({frame.child, {begin, n_near}, {begin + n_near, top_ - begin - n_near}}, level - 1);
    }

    // Puts those of the first n measured objects whose distance is in (above, most] on top of the
    // stack of candidates, without branches; returns how many.
    std::size_t keep_within(std::size_t n, double above, double most) {
        if (candidates_.size() < top_ + n) candidates_.resize(2 * (top_ + n));
        Candidate* const first = candidates_.data() + top_;
        Candidate* out = first;
        const std::int64_t* const objects = objects_.data();
        const double* const selves = selves_.data();
        const double* const distances = distances_.data();
        for (std::size_t i = 0; i < n; ++i) {
            *out = {distances[i], selves[i], static_cast<std::uint32_t>(objects[i])};
            out += static_cast<int>(distances[i] > above) & static_cast<int>(distances[i] <= most);
        }
        const auto n_kept = static_cast<std::size_t>(out - first);
        top_ += n_kept;
        return n_kept;
    }

    // Copies the candidates of a frame that may lie within `reach` of one at this distance from its
    // point, by the triangle inequality: the others need not be evaluated. Returns how many.
    std::size_t gather(const Frame& frame, double distance, double reach) {
        resize_scratch(frame.near.size + frame.far.size);
        std::int64_t* const objects = objects_.data();
        double* const selves = selves_.data();
        double* const from_parent = from_parent_.data();
        std::size_t n = 0;
        for (const Segment segment : {frame.near, frame.far}) {
            const Candidate* const from = candidates_.data() + segment.begin;
            for (std::size_t i = 0; i < segment.size; ++i) {
                const Candidate candidate = from[i];
                objects[n] = candidate.object;
                selves[n] = candidate.self_value;
                from_parent[n] = candidate.distance;
                n += std::abs(candidate.distance - distance) <= reach ? 1 : 0;
            }
        }
        return n;
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
            if (frame.near.size == 0) {  // an only child: one node stands for both
                node.level = child.level;
                node.first_child = child.first_child;
                node.last_child = child.last_child;
                node.first_leaf = child.first_leaf;
                ++draft_.n_dropped;
            }
            return;
        }
        top_ = finished_.near.begin;
        double furthest = child.parent_distance;
        const auto keep_rest = [&](Segment& segment) {
            Candidate* const first = candidates_.data() + segment.begin;
            Candidate* kept = first;
            for (const Candidate* it = first; it != first + segment.size; ++it) {
                if (is_taken_[it->object]) {
                    furthest = std::max(furthest, absorb(frame, *it));
                } else {
                    *kept++ = *it;
                }
            }
            segment.size = static_cast<std::size_t>(kept - first);
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

    // Counts an object among those below a node; returns at least the square of its distance.
    double absorb(const Frame& frame, const Candidate& candidate) {
        DraftNode& node = draft_.nodes[frame.node];
        const double square =
            geometry_.square_above(self_[node.point], candidate.self_value, candidate.distance);
        node.radius = std::max(node.radius, square);
        return square;
    }

    void resize_scratch(std::size_t n) {
        if (objects_.size() >= n) return;
        objects_.resize(n);
        selves_.resize(n);
        from_parent_.resize(n);
        values_.resize(n);
        distances_.resize(n);
    }

    // values_[i] = K(point, objects_[i]) for i < n
    void evaluate(std::uint32_t point, std::size_t n) {
        if (n == 0) return;
        space_.refill(batch_, point);
        const auto run = [&](std::size_t begin, std::size_t end) {
            space_.values(*batch_, Selection::list(objects_.data() + begin, end - begin),
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
        n_unwatched_ += n;
    }

    // distances_[i] = |point - objects_[i]| as computed, 0 where it cannot be told from 0, for i <
    // n
    void measure(std::uint32_t point, std::size_t n) {
        const double self = self_[point];
        const HilbertRounding rounding{geometry_.largest_square_share(), Geometry::tiny,
                                       geometry_.slack_share(), geometry_.slack_lost()};
        if (loops_.hilbert_distances(values_.data(), selves_.data(), n, self, rounding,
                                     distances_.data())) {
            return;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double limit = geometry_.largest_value(geometry_.norm_above(self),
                                                         geometry_.norm_above(selves_[i]));
            if (std::abs(values_[i]) > limit) {
                throw NotMercerFault{point, static_cast<std::size_t>(objects_[i]), values_[i],
                                     limit};
            }
        }
    }

    // No d(chosen, x) may exceed d(p, chosen) + d(p, x) by more than rounding can explain.
    void check_triangles(const Frame& frame, const Candidate& chosen, std::size_t n) const {
        const double* const distances = distances_.data();
        const double* const from_parent = from_parent_.data();
        int n_outside = 0;
        for (std::size_t i = 0; i < n; ++i) {
            n_outside += distances[i] > chosen.distance + from_parent[i] ? 1 : 0;
        }
        const std::uint32_t point = draft_.nodes[frame.node].point;
        for (std::size_t i = 0; n_outside > 0 && i < n; ++i) {
            const double slack = geometry_.square_slack(self_[point], selves_[i]) +
                                 geometry_.square_slack(self_[point], chosen.self_value) +
                                 geometry_.square_slack(chosen.self_value, selves_[i]);
            const double around = chosen.distance + from_parent[i] + 4.0 * std::sqrt(slack);
            if (distances[i] > around * Geometry::up) {
                throw TriangleFault{
                    point,           chosen.object, static_cast<std::size_t>(objects_[i]),
                    chosen.distance, distances[i],  from_parent[i]};
            }
        }
    }

    const Space& space_;
    Geometry geometry_;
    double base_;
    Powers powers_;
    const VectorLoops& loops_;
    std::size_t threads_;
    const Watch& watch_;
    std::vector<double> self_;
    std::vector<char> is_taken_;
    std::size_t n_taken_ = 0;
    std::size_t n_evaluations_ = 0;
    std::size_t n_self_evaluations_ = 0;
    std::size_t n_unwatched_ = 0;  // evaluations since the last call of watch_
    Draft draft_;
    std::vector<Frame> frames_;
    Frame finished_{none, {0, 0}, {0, 0}};  // the frame last closed
    std::vector<Candidate> candidates_;     // a stack, of which the first top_ are in use
    std::size_t top_ = 0;
    // Scratch of one block: what is evaluated, its self values, its distances from the parent's
    // point, the values, and what follows from them.
    std::unique_ptr<QueryBatch> batch_;
    std::vector<std::int64_t> objects_;
    std::vector<double> selves_;
    std::vector<double> from_parent_;
    std::vector<double> values_;
    std::vector<double> distances_;
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
