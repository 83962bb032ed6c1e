#include "fastmks/stores/vocabulary.hpp"

#include <set>

#include "tests/support/testing.hpp"

namespace {

// Each inner vector is a task.
Vocabulary vocabulary(Key space, const std::vector<std::vector<Key>>& tasks, std::size_t threads) {
    std::size_t n_keys = 0;
    for (const auto& task : tasks) n_keys += task.size();
    const auto read = [&](std::size_t task, std::vector<Key>& keys) { keys = tasks[task]; };
    return Vocabulary({space, n_keys, tasks.size(), read}, {threads, ignore});
}

void check_names(const Vocabulary& vocabulary, const std::set<Key>& wanted, Key space) {
    CHECK(vocabulary.size() == wanted.size());
    const std::vector<Key> keys = vocabulary.keys();
    CHECK(std::set<Key>(keys.begin(), keys.end()) == wanted);
    for (std::size_t name = 0; name < keys.size(); ++name) {
        CHECK(vocabulary.find(keys[name]) == static_cast<std::int32_t>(name));
    }
    for (const Key key : wanted) {
        const Key others[] = {key + 1, key - 1, key ^ (Key{1} << 40)};
        for (const Key other : others) {
            if (!wanted.contains(other)) CHECK(vocabulary.find(other) == -1);
        }
    }
    CHECK(vocabulary.find(space) == -1);
    CHECK(vocabulary.find(no_key) == -1);
}

}  // namespace

TEST(every_key_has_a_name_of_its_own) {
    // Few possible keys are marked, many are sorted.
    for (const Key space : {Key{1}, Key{64}, Key{65}, Key{1} << 16, Key{1} << 17, Key{1} << 63}) {
        for (const std::size_t n :
             {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{3000}}) {
            const check::Context here(text("space", static_cast<std::size_t>(space)) +
                                      text(", keys", n));
            Draw draw(n);
            std::vector<std::vector<Key>> tasks(5);
            std::set<Key> wanted;
            for (std::size_t i = 0; i < n; ++i) {
                const Key key = (static_cast<Key>(draw.below(1u << 30)) << 33 ^
                                 static_cast<Key>(draw.below(1u << 30))) %
                                space;
                wanted.insert(key);
                tasks[i % 5].insert(tasks[i % 5].end(), {key, no_key, key});
            }
            const Vocabulary one = vocabulary(space, tasks, 1), two = vocabulary(space, tasks, 2);
            check_names(one, wanted, space);
            CHECK(one.keys() == two.keys());
        }
    }
}

TEST(a_vocabulary_of_nothing_knows_no_key) {
    CHECK(Vocabulary().size() == 0);
    CHECK(Vocabulary().find(0) == -1);
    CHECK(Vocabulary().keys().empty());
}
