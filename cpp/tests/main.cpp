#include <exception>

#include "tests/support/check.hpp"

int main() {
    int failed = 0;
    for (const auto& test : check::tests()) {
        const int before = check::failures();
        try {
            test.run();
        } catch (const std::exception& exception) {
            check::report(false, exception.what(), test.name.c_str(), 0);
        }
        const bool passed = check::failures() == before;
        std::printf("%s %s\n", passed ? "ok  " : "FAIL", test.name.c_str());
        failed += passed ? 0 : 1;
    }
    const std::size_t passed = check::tests().size() - static_cast<std::size_t>(failed);
    std::printf("%zu passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
