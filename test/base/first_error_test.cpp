#include "base/first_error.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

namespace arges {
namespace {

TEST(FirstError, IsThrownBehindTheWork) {
    FirstError error;
    int done = 0;
    for (int i = 0; i < 4; ++i)
        error.run([&] {
            ++done;
            if (i == 1) throw InvalidArgument("one");
            if (i == 2) throw OutOfMemory("two");
        });
    EXPECT_EQ(done, 4);
    EXPECT_TRUE(error.any());
    EXPECT_THROW(error.rethrow(), InvalidArgument);
}

TEST(FirstError, IsNoneWhereNothingThrows) {
    FirstError error;
    error.run([] {});
    EXPECT_FALSE(error.any());
    EXPECT_NO_THROW(error.rethrow());
}

TEST(FirstError, LeavesThreadedRegions) {
    FirstError error;
    int done = 0;
#pragma omp parallel for num_threads(4) schedule(static, 1) reduction(+ : done)
    for (int i = 0; i < 8; ++i) {
        error.run([&] {
            if (i % 2 == 1) throw InvalidArgument("odd");
        });
        ++done;
    }
    EXPECT_EQ(done, 8);
    EXPECT_THROW(error.rethrow(), InvalidArgument);
}

}  // namespace
}  // namespace arges
