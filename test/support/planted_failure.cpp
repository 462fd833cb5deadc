// A binary of its own: its test fails on the last rank only. scripts/run_tests.sh runs it first,
// and refuses to go on unless that shows as a failed run.
#include <gtest/gtest.h>
#include <mpi.h>

TEST(Planted, FailsOnTheLastRank) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT_NE(rank, size - 1);
}
