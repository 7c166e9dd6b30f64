// The main of every test. A program into which no test was linked would succeed, and prove
// nothing: it fails.
#include <cstdio>

#include "gtest/gtest.h"

int main(int argc, char **argv) {
    ::testing::InitGoogleTest(&argc, argv);
    // Ranks are threads: a death test must not fork in the middle of them.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (::testing::UnitTest::GetInstance()->total_test_count() == 0) {
        std::fprintf(stderr, "%s: no test is linked into this program\n", argv[0]);
        return 1;
    }
    return RUN_ALL_TESTS();
}
