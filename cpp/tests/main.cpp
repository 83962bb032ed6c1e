#include "check.hpp"

int main() {
    int failed = 0;
    for (const auto& test : check::tests()) {
        const int before = check::failures();
        test.run();
        const bool passed = check::failures() == before;
        std::printf("%s %s\n", passed ? "ok  " : "FAIL", test.name.c_str());
        failed += passed ? 0 : 1;
    }
    std::printf("%zu passed, %d failed\n", check::tests().size() - static_cast<std::size_t>(failed), failed);
    return failed == 0 ? 0 : 1;
}
