// Sizes beyond 2^31 and 2^63: what is too large is said to be, and never wraps.
#include "base/buffer.hpp"
#include "base/math.hpp"
#include "base/workspace.hpp"

#include <gtest/gtest.h>

namespace arges {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(LargeNumbers, EndAtTheLargest) {
    EXPECT_EQ(saturated_product(1L << 31, 1L << 31), 1L << 62);
    EXPECT_EQ(saturated_product(1L << 31, 1L << 32), largest);
    EXPECT_EQ(saturated_product(0, largest), 0);
    EXPECT_EQ(saturated_sum(largest - 1, 1), largest);
    EXPECT_EQ(saturated_sum(largest, largest), largest);
    EXPECT_EQ(saturated(1e30), largest);
    EXPECT_EQ(saturated(0x1p63), largest);
    EXPECT_EQ(saturated(1e18), 1'000'000'000'000'000'000);
}

TEST(LargeNumbers, AreSentInParts) {
    EXPECT_EQ(part_begin(7, 1, 2), 3);
    const std::int64_t count = largest, parts = (1L << 40) + 7;
    EXPECT_EQ(part_begin(count, 0, parts), 0);
    EXPECT_EQ(part_begin(count, parts, parts), count);
    for (std::int64_t part = parts - 3; part < parts; ++part) {
        const auto size = part_begin(count, part + 1, parts) - part_begin(count, part, parts);
        EXPECT_GE(size, count / parts);
        EXPECT_LE(size, count / parts + 1);
    }
}

TEST(LargeNumbers, AreNoArrays) {
    EXPECT_THROW(Buffer<double>(1L << 61), OutOfMemory);  // 2^64 bytes
    EXPECT_THROW(Buffer<double>(1L << 60), OutOfMemory);
    EXPECT_THROW(Buffer<float>(-1), OutOfMemory);
    Buffer<double> buffer;
    EXPECT_THROW(buffer.reserve(1L << 61), OutOfMemory);
    Workspace workspace;
    EXPECT_THROW(workspace.take<double>(1L << 61), OutOfMemory);
}

TEST(LargeNumbers, AreNoIntegersOfBlas) {
    EXPECT_EQ(to_int((1L << 31) - 1), std::numeric_limits<int>::max());
    EXPECT_THROW(to_int(1L << 31), Unsupported);
    EXPECT_THROW(to_int(-(1L << 31) - 1), Unsupported);
    try {
        to_int(5'000'000'000, "a leading dimension");
    } catch (const Unsupported& e) {
        EXPECT_STREQ(e.what(), "a leading dimension of 5000000000: BLAS, LAPACK and MPI count to 2^31 - 1 only; use more ranks or "
                               "smaller dimensions");
    }
}

TEST(WorkspaceScope, GivesBackWhatWasTakenAlsoWhereAnExceptionEndsIt) {
    Workspace workspace;
    workspace.reserve(1024);
    auto* const first = workspace.take<char>(64);
    char* second = nullptr;
    try {
        const Workspace::Scope scope(workspace);
        second = workspace.take<char>(64);
        workspace.take<char>(4096);  // beyond what is reserved
        throw InvalidArgument("text");
    } catch (const InvalidArgument&) {
    }
    EXPECT_EQ(second, first + 64);
    EXPECT_EQ(workspace.take<char>(64), second);
}

}  // namespace
}  // namespace arges
