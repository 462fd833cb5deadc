// Sums for the first rank, and what it shares with all.
#include "decompose/distribution/dense_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace arges::test {
namespace {

using namespace decompose;

constexpr std::int64_t counts[] = {0, 1, 2, 3, 7, 8, 64, 1001};

TEST(FirstRank, GetsSums) {
    const Communicator comm(MPI_COMM_WORLD);
    const auto ranks = comm.size(), rank = comm.rank();
    for (auto count : counts) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>((i + 1) * (rank + 3)));
        const auto before = comm.traffic().bytes_sent;
        sum_to_first(comm, values);
        EXPECT_EQ(comm.traffic().bytes_sent - before, sum_to_first_bytes(ranks, rank, count)) << count;
        if (rank > 0) continue;
        for (std::int64_t i = 0; i < count; ++i)
            EXPECT_EQ(values[static_cast<std::size_t>(i)], static_cast<double>((i + 1) * (ranks * (ranks - 1) / 2 + 3 * ranks)));
    }
}

TEST(FirstRank, SharesWhatItHas) {
    const Communicator comm(MPI_COMM_WORLD);
    for (auto count : counts) {
        std::vector<std::byte> wanted, bytes(static_cast<std::size_t>(count), std::byte{255});
        for (std::int64_t i = 0; i < count; ++i) wanted.push_back(static_cast<std::byte>(i * 7 % 251));
        if (comm.rank() == 0) bytes = wanted;
        const auto before = comm.traffic().bytes_sent;
        share_from_first(comm, bytes);
        EXPECT_EQ(comm.traffic().bytes_sent - before, share_from_first_bytes(comm.size(), comm.rank(), count)) << count;
        EXPECT_EQ(bytes, wanted) << count;
    }
}

/// On any number of ranks, without running there.
TEST(FirstRank, NoRankSendsMuch) {
    for (std::int64_t ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12, 64, 100, 511, 512}) {
        constexpr std::int64_t count = 3000;
        std::int64_t sums = 0, shares = 0;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            EXPECT_LE(sum_to_first_bytes(ranks, rank, count), 8 * count) << ranks;
            EXPECT_LE(share_from_first_bytes(ranks, rank, count), 3 * count) << ranks;
            sums += sum_to_first_bytes(ranks, rank, count);
            shares += share_from_first_bytes(ranks, rank, count);
        }
        EXPECT_GE(sums, 8 * count * (ranks - 1)) << "every value of every rank but one has to be sent";
        EXPECT_GE(shares, count * (ranks - 1)) << "every rank but one gets everything";
        EXPECT_LE(shares, count * (ranks - 1) * 2) << ranks;
    }
}

}  // namespace
}  // namespace arges::test
