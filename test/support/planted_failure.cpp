// A binary of its own: one of its tests fails on the last rank only, one is skipped there only, one leaks.
// scripts/run_tests.sh runs it first, and refuses to go on unless all show as failures.
#include <gtest/gtest.h>
#include <mpi.h>

namespace {

bool on_last_rank() {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return rank == size - 1;
}

}  // namespace

TEST(Planted, FailsOnTheLastRank) { EXPECT_FALSE(on_last_rank()); }

TEST(Planted, IsSkippedOnTheLastRank) {
    if (on_last_rank()) GTEST_SKIP() << "on the last rank only";
}

TEST(Planted, Leaks) {
    static volatile char* lost;
    lost = new char[1 << 10];
    EXPECT_NE(lost, nullptr);
    lost = nullptr;
}
