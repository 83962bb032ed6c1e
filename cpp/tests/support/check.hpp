#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A small test framework: TEST registers a function, CHECK counts a failure and goes on.
namespace check {

struct Test {
    std::string name;
    std::function<void()> run;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

inline std::vector<std::string>& contexts() {
    static std::vector<std::string> all;
    return all;
}

/// Says which case a loop is at, for as long as it lives. On the thread of the test only.
struct Context {
    explicit Context(std::string text) { contexts().push_back(std::move(text)); }
    ~Context() { contexts().pop_back(); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
};

struct Registration {
    Registration(const char* name, std::function<void()> run) {
        tests().push_back({name, std::move(run)});
    }
};

inline void report(bool holds, const char* condition, const char* file, int line) {
    if (holds) return;
    ++failures();
    std::printf("%s:%d: %s does not hold", file, line, condition);
    for (const auto& context : contexts()) std::printf(" | %s", context.c_str());
    std::printf("\n");
}

/// The exception that run() throws, if it is of this type.
template <class Type, class Run>
std::optional<Type> caught(Run run) {
    try {
        static_cast<void>(run());
    } catch (const Type& thrown) {
        return thrown;
    }
    return std::nullopt;
}

}  // namespace check

#define TEST(name)                                                     \
    static void name();                                                \
    static const check::Registration registration_##name{#name, name}; \
    static void name()

#define CHECK(...) check::report(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CHECK_THROWS(type, ...)                                                       \
    do {                                                                              \
        bool thrown = false;                                                          \
        try {                                                                         \
            static_cast<void>(__VA_ARGS__);                                           \
        } catch (const type&) {                                                       \
            thrown = true;                                                            \
        }                                                                             \
        check::report(thrown, "throws " #type ": " #__VA_ARGS__, __FILE__, __LINE__); \
    } while (false)
