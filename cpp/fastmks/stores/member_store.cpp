#include <algorithm>
#include <stdexcept>

#include "fastmks/stores/runs.hpp"
#include "fastmks/stores/set_store.hpp"

namespace fastmks {
namespace {

// A group of eight queries keeps one word per known member up to here; beyond, sets are merged.
constexpr std::size_t most_slots = std::size_t{1} << 22;
constexpr std::size_t group_size = 8;
constexpr std::int32_t most_members = std::int32_t{1} << 30;
// Byte i of a sum of this many words still holds the count of query i.
constexpr std::size_t most_added = 255;

struct Members {
    const std::int32_t* begin;
    const std::int32_t* end;
};

// Up to eight queries side by side: byte i of marks[m] is 1 where query i has member m, so that one
// scan of a set counts the members it shares with each of them.
struct MemberQueries final : SetQueries {
    using SetQueries::SetQueries;
    std::vector<std::vector<std::uint64_t>> groups;  // empty where there are too many members
    std::vector<Members> sets;

    void mark(std::size_t i, Members members) {
        sets[i] = members;
        if (groups.empty()) return;
        const std::uint64_t one = std::uint64_t{1} << (i % group_size * 8);
        auto& marks = groups[i / group_size];
        std::for_each(members.begin, members.end,
                      [&](std::int32_t m) { marks[static_cast<std::size_t>(m)] |= one; });
    }
};

std::size_t count_shared(Members x, Members y) {
    std::size_t shared = 0;
    while (x.begin != x.end && y.begin != y.end) {
        const std::int32_t a = *x.begin, b = *y.begin;
        shared += a == b;
        x.begin += a <= b;
        y.begin += b <= a;
    }
    return shared;
}

// shared[i] = members that query i of the group has in common with the set.
void count_shared(const std::uint64_t* marks, Members set, std::uint32_t (&shared)[group_size]) {
    std::fill(std::begin(shared), std::end(shared), 0u);
    while (set.begin != set.end) {
        const auto n =
            std::min<std::size_t>(most_added, static_cast<std::size_t>(set.end - set.begin));
        std::uint64_t counts = 0;
        for (std::size_t e = 0; e < n; ++e) counts += marks[set.begin[e]];
        for (std::size_t i = 0; i < group_size; ++i) shared[i] += (counts >> (8 * i)) & 0xff;
        set.begin += n;
    }
}

class MemberStore final : public SetStore {
public:
    MemberStore(const std::int64_t* offsets, const std::int32_t* members, const std::int32_t* sizes,
                std::size_t n_sets, std::size_t n_members, std::size_t n_known_members)
        : offsets_(offsets), members_(members), n_known_members_(n_known_members) {
        check_runs(offsets, n_sets, n_members, "members");
        for (std::size_t i = 0; i < n_sets; ++i) {
            if (sizes[i] < n_known(i) || sizes[i] >= most_members) {
                throw std::invalid_argument("sizes must count at least the listed members");
            }
            if (!is_increasing(set(i).begin, static_cast<std::size_t>(n_known(i)),
                               n_known_members)) {
                throw std::invalid_argument("members must increase within a set and be known");
            }
        }
        sizes_.assign(sizes, sizes + n_sets);
    }

    std::int32_t n_known(std::size_t i) const override {
        return static_cast<std::int32_t>(offsets_[i + 1] - offsets_[i]);
    }

    bool accepts(const SetStore& other) const noexcept override {
        const auto* sets = dynamic_cast<const MemberStore*>(&other);
        return sets && sets->n_known_members_ == n_known_members_;
    }

    void signature(std::size_t i, std::uint64_t (&out)[longest_signature]) const override {
        std::fill(std::begin(out), std::end(out), 0);
        std::for_each(set(i).begin, set(i).end, [&](std::int32_t member) {
            // Members that were first seen together have neighbouring numbers: spread them.
            const std::uint64_t spread = static_cast<std::uint64_t>(member) * 0x9E3779B97F4A7C15;
            static_assert(longest_signature == 8);
            out[spread >> 61] ^= std::uint64_t{1} << (spread >> 55 & 63);
        });
    }

    std::unique_ptr<SetQueries> queries(std::size_t begin, std::size_t end) const override {
        auto taken = std::make_unique<MemberQueries>(end - begin);
        taken->sets.resize(taken->size);
        if (n_known_members_ <= most_slots) {
            taken->groups.assign((taken->size + group_size - 1) / group_size,
                                 std::vector<std::uint64_t>(n_known_members_));
        }
        for (std::size_t i = begin; i < end; ++i) taken->mark(i - begin, set(i));
        return taken;
    }

    void refill(SetQueries& queries, std::size_t i) const override {
        auto& taken = static_cast<MemberQueries&>(queries);
        if (!taken.groups.empty()) {
            const Members before = taken.sets[0];
            std::for_each(before.begin, before.end, [&](std::int32_t m) {
                taken.groups[0][static_cast<std::size_t>(m)] = 0;
            });
        }
        taken.mark(0, set(i));
    }

    void intersections(const SetQueries& queries, Selection objects, const BitLoops&, double* out,
                       std::size_t stride) const override {
        const auto& taken = static_cast<const MemberQueries&>(queries);
        for (std::size_t j = 0; j < objects.size; ++j) {
            const Members members = set(objects[j]);
            if (taken.groups.empty()) {
                for (std::size_t i = 0; i < taken.size; ++i) {
                    out[i * stride + j] = static_cast<double>(count_shared(taken.sets[i], members));
                }
                continue;
            }
            for (std::size_t first = 0; first < taken.size; first += group_size) {
                std::uint32_t shared[group_size];
                count_shared(taken.groups[first / group_size].data(), members, shared);
                const std::size_t n = std::min(group_size, taken.size - first);
                for (std::size_t i = 0; i < n; ++i) out[(first + i) * stride + j] = shared[i];
            }
        }
    }

private:
    [[nodiscard]] Members set(std::size_t i) const noexcept {
        return {members_ + offsets_[i], members_ + offsets_[i + 1]};
    }

    const std::int64_t* offsets_;
    const std::int32_t* members_;
    std::size_t n_known_members_;
};

}  // namespace

std::shared_ptr<SetStore> make_member_store(const std::int64_t* offsets,
                                            const std::int32_t* members, const std::int32_t* sizes,
                                            std::size_t n_sets, std::size_t n_members,
                                            std::size_t n_known_members) {
    return std::make_shared<MemberStore>(offsets, members, sizes, n_sets, n_members,
                                         n_known_members);
}

}  // namespace fastmks
