#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

/// A test framework in thirty lines: TEST registers a function, CHECK counts a failure and goes on.
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

struct Registration {
    Registration(const char* name, std::function<void()> run) { tests().push_back({name, std::move(run)}); }
};

inline void report(bool holds, const char* condition, const char* file, int line) {
    if (holds) return;
    ++failures();
    std::printf("%s:%d: %s does not hold\n", file, line, condition);
}

}  // namespace check

#define TEST(name)                                                  \
    static void name();                                             \
    static const check::Registration registration_##name{#name, name}; \
    static void name()

#define CHECK(...) check::report(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CHECK_THROWS(type, ...)                                          \
    do {                                                                 \
        bool thrown = false;                                             \
        try {                                                            \
            __VA_ARGS__;                                                 \
        } catch (const type&) {                                          \
            thrown = true;                                               \
        }                                                                \
        check::report(thrown, "throws " #type ": " #__VA_ARGS__, __FILE__, __LINE__); \
    } while (false)
