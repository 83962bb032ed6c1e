#include <exception>

#include "tests/support/check.hpp"

/// Runs the tests whose names contain the first argument, all of them without one.
int main(int argc, char** argv) {
    const std::string part = argc > 1 ? argv[1] : "";
    int passed = 0, failed = 0;
    for (const auto& test : check::tests()) {
        if (test.name.find(part) == std::string::npos) continue;
        const int before = check::failures();
        try {
            test.run();
        } catch (const std::exception& exception) {
            check::report(false, exception.what(), test.name.c_str(), 0);
        }
        const bool holds = check::failures() == before;
        std::printf("%s %s\n", holds ? "ok  " : "FAIL", test.name.c_str());
        ++(holds ? passed : failed);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
