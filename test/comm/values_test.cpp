// Values that ranks gather, exchange and hear from the first one.
#include "comm/values.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arges {
namespace {

struct Pair {
    std::int64_t a = 0;
    double b = 0;
};

TEST(Values, OfTheFirstRankAreOnEveryRank) {
    const Communicator comm(MPI_COMM_WORLD);
    const auto rank = comm.rank();
    EXPECT_EQ(from_first_rank(comm, [&] { return rank + 7; }), 7);
    EXPECT_EQ(from_first_rank(comm, [&] { return "rank " + std::to_string(rank); }), "rank 0");
    EXPECT_EQ(from_first_rank(comm, [&] { return std::vector<double>(5, static_cast<double>(rank)); }), std::vector<double>(5, 0));
    EXPECT_EQ(from_first_rank(comm, [] { return std::vector<std::int64_t>(); }), std::vector<std::int64_t>());
    EXPECT_EQ(from_first_rank(comm, [&] { return Pair{rank, 2.5}; }).b, 2.5);
}

TEST(Values, FindersOfOtherRanksAreNotCalled) {
    const Communicator comm(MPI_COMM_WORLD);
    int calls = 0;
    from_first_rank(comm, [&] { return ++calls; });
    EXPECT_EQ(calls, comm.rank() == 0 ? 1 : 0);
}

TEST(Values, WhatTheFirstRankThrowsEveryRankThrows) {
    const Communicator comm(MPI_COMM_WORLD);
    try {
        from_first_rank(comm, [&]() -> std::string { throw InvalidArgument("no such file, says rank " + std::to_string(comm.rank())); });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& e) {
        EXPECT_STREQ(e.what(), "no such file, says rank 0");
    }
}

TEST(Values, AreGatheredByRankWithTheirNumbers) {
    const Communicator comm(MPI_COMM_WORLD);
    const std::vector<Pair> mine(static_cast<std::size_t>(comm.rank() % 3), {comm.rank(), 0.5});
    std::vector<std::int64_t> counts;
    const auto all = gathered(comm, mine, &counts), on_last = gathered_on(comm, comm.size() - 1, mine);
    ASSERT_EQ(static_cast<std::int64_t>(counts.size()), comm.size());
    std::size_t at = 0;
    for (std::int64_t r = 0; r < comm.size(); ++r) {
        EXPECT_EQ(counts[static_cast<std::size_t>(r)], r % 3);
        for (std::int64_t i = 0; i < r % 3; ++i) EXPECT_EQ(all.at(at++).a, r);
    }
    EXPECT_EQ(all.size(), at);
    EXPECT_EQ(on_last.size(), comm.rank() == comm.size() - 1 ? at : 0);
}

TEST(Values, AreExchanged) {
    const Communicator comm(MPI_COMM_WORLD);
    std::vector<std::vector<std::int64_t>> to_rank;
    for (std::int64_t r = 0; r < comm.size(); ++r) to_rank.emplace_back(static_cast<std::size_t>(r + comm.rank()), 100 * comm.rank() + r);
    const auto received = exchanged(comm, to_rank);
    for (std::int64_t r = 0; r < comm.size(); ++r)
        EXPECT_EQ(received.at(static_cast<std::size_t>(r)),
                  std::vector<std::int64_t>(static_cast<std::size_t>(r + comm.rank()), 100 * r + comm.rank()));
}

}  // namespace
}  // namespace arges
