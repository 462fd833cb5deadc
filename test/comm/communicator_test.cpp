#include "comm/communicator.hpp"
#include "comm/values.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

namespace arges::test {
namespace {

using Bytes = std::vector<std::byte>;

/// Bytes that say who sends them to whom.
Bytes letter(std::int64_t from, std::int64_t to, std::int64_t length) {
    Bytes bytes(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>((from * 31 + to * 7 + static_cast<std::int64_t>(i)) % 251);
    return bytes;
}

/// Some letters are empty.
std::int64_t length_of(std::int64_t from, std::int64_t to) { return (from * 5 + to * 3) % 4 * 100 + (from == to ? 1 : 0); }

class Comm : public testing::Test {
protected:
    Communicator comm_{MPI_COMM_WORLD};
    std::int64_t rank_ = comm_.rank(), size_ = comm_.size();
};

TEST_F(Comm, AllToAllDeliversEveryLetter) {
    for (const std::int64_t limit : {1000000, 64, 7}) {
        comm_.set_message_limit(limit);
        std::vector<Bytes> out;
        for (std::int64_t r = 0; r < size_; ++r) out.push_back(letter(rank_, r, length_of(rank_, r)));
        const auto in = comm_.all_to_all(out);
        ASSERT_EQ(static_cast<std::int64_t>(in.size()), size_);
        for (std::int64_t r = 0; r < size_; ++r) EXPECT_EQ(in[static_cast<std::size_t>(r)], letter(r, rank_, length_of(r, rank_)));
    }
}

/// Messages above the limit go in pieces; the bytes counted are the same.
TEST_F(Comm, ExchangeSplitsLongMessages) {
    const std::int64_t length = 1000;
    const auto next = (rank_ + 1) % size_, before = (rank_ + size_ - 1) % size_;
    for (const std::int64_t limit : {100000, 1000, 999, 256, 1}) {
        comm_.set_message_limit(limit);
        const auto sent = comm_.traffic().bytes_sent, messages = comm_.traffic().messages_sent;
        auto out = letter(rank_, next, length);
        Bytes in(out.size());
        if (size_ > 1) comm_.exchange({{next, out.data(), length}}, {{before, in.data(), length}});
        EXPECT_EQ(comm_.traffic().bytes_sent - sent, size_ > 1 ? length : 0);
        EXPECT_EQ(comm_.traffic().messages_sent - messages, size_ > 1 ? 1 : 0);
        if (size_ > 1) {
            EXPECT_EQ(in, letter(before, rank_, length));
        }
    }
}

TEST_F(Comm, SeveralExchangesMayBeUnderWay) {
    if (size_ == 1) return;
    const auto next = (rank_ + 1) % size_, before = (rank_ + size_ - 1) % size_;
    auto first = letter(rank_, next, 500), second = letter(next, rank_, 300);
    Bytes first_in(500), second_in(300);
    auto a = comm_.start({{next, first.data(), 500}}, {{before, first_in.data(), 500}});
    auto b = comm_.start({{next, second.data(), 300}}, {{before, second_in.data(), 300}});
    comm_.finish(a);
    comm_.finish(b);
    EXPECT_EQ(first_in, letter(before, rank_, 500));
    EXPECT_EQ(second_in, letter(rank_, before, 300));
}

TEST_F(Comm, GathersInTheOrderOfRanks) {
    const auto mine = letter(rank_, 0, rank_ % 3 * 50);
    Bytes expected;
    std::vector<std::int64_t> lengths;
    for (std::int64_t r = 0; r < size_; ++r) {
        const auto part = letter(r, 0, r % 3 * 50);
        expected.insert(expected.end(), part.begin(), part.end());
        lengths.push_back(r % 3 * 50);
    }
    for (const std::int64_t limit : {1000000, 16}) {
        comm_.set_message_limit(limit);
        std::vector<std::int64_t> counts;
        EXPECT_EQ(gathered(comm_, mine, &counts), expected);
        EXPECT_EQ(counts, lengths);
        for (std::int64_t root = 0; root < size_; ++root) EXPECT_EQ(comm_.gather(mine, root), root == rank_ ? expected : Bytes());
        auto message = letter(rank_, 1, 333);
        comm_.broadcast(message.data(), 333, size_ - 1);
        EXPECT_EQ(message, letter(size_ - 1, 1, 333));
    }
}

TEST_F(Comm, ReducesIntegersAndDoubles) {
    EXPECT_EQ(comm_.maximum(rank_ * rank_), (size_ - 1) * (size_ - 1));
    EXPECT_EQ(comm_.minimum(rank_ + 5), 5);
    EXPECT_EQ(comm_.sum(std::int64_t{1} << 40), size_ << 40);
    std::vector<double> values{1.0 + static_cast<double>(rank_), 1e16};
    comm_.sum(values.data(), 2);
    EXPECT_EQ(values[0], static_cast<double>(size_ * (size_ + 1) / 2));
    EXPECT_EQ(values[1], 1e16 * static_cast<double>(size_));
    comm_.barrier();
}

/// Rank r's values, of very different sizes.
std::vector<double> terms(std::int64_t rank, std::int64_t count) {
    std::mt19937_64 random(static_cast<std::uint64_t>(17 * rank + count));
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(std::ldexp(static_cast<double>(random() % 2000) - 1000, static_cast<int>(random() % 40) - 20));
    return values;
}

TEST_F(Comm, SumsOfDoublesAreTheSameOnEveryRankAndEachTime) {
    for (const std::int64_t count : {0, 1, 7, 300})
        for (const std::int64_t limit : {1000000, 100, 8}) {
            comm_.set_message_limit(limit);
            std::vector<long double> exact(static_cast<std::size_t>(count), 0), scale(exact);
            for (std::int64_t r = 0; r < size_; ++r) {
                const auto of_rank = terms(r, count);
                for (std::size_t i = 0; i < exact.size(); ++i) {
                    exact[i] += of_rank[i];
                    scale[i] += std::abs(of_rank[i]);
                }
            }
            auto first = terms(rank_, count);
            comm_.sum(first.data(), count);
            for (std::size_t i = 0; i < exact.size(); ++i)
                EXPECT_LE(std::abs(first[i] - exact[i]), 1e-15L * static_cast<long double>(size_) * scale[i]);
            for (int time = 0; time < 8; ++time) {
                auto again = terms(rank_, count);
                comm_.sum(again.data(), count);
                EXPECT_EQ(to_bytes(again), to_bytes(first));
            }
            auto of_last = first;
            comm_.broadcast(of_last, size_ - 1);
            EXPECT_EQ(to_bytes(of_last), to_bytes(first));
        }
}

/// The sum is no gathering of all ranks' values: a rank sends its own at most once for each doubling of the ranks, and one sum to a guest.
TEST_F(Comm, SumsOfDoublesCountWhatTheySend) {
    std::vector<double> values(100, 1);
    const auto before = comm_.traffic();
    comm_.sum(values.data(), 100);
    const auto messages = comm_.traffic().messages_sent - before.messages_sent;
    EXPECT_EQ(comm_.traffic().bytes_sent - before.bytes_sent, 800 * messages);
    std::int64_t doublings = 0;
    while (std::int64_t{2} << doublings <= size_) ++doublings;
    const auto paired = std::int64_t{1} << doublings;
    EXPECT_EQ(messages, rank_ >= paired ? 1 : doublings + (rank_ + paired < size_ ? 1 : 0));
}

TEST_F(Comm, SumsIntegers) {
    for (const std::int64_t count : {0, 1, 5, 1000})
        for (const std::int64_t limit : {1000000, 64, 3}) {
            comm_.set_message_limit(limit);
            std::vector<std::int64_t> values, expected;
            for (std::int64_t i = 0; i < count; ++i) {
                values.push_back((rank_ + 1) * (std::int64_t{1} << 55) - i * rank_);
                expected.push_back(size_ * (size_ + 1) / 2 * (std::int64_t{1} << 55) - i * (size_ * (size_ - 1) / 2));
            }
            const auto sent = comm_.traffic().bytes_sent;
            comm_.sum(values.data(), count);
            EXPECT_EQ(values, expected);
            EXPECT_EQ(comm_.traffic().bytes_sent, sent);
        }
}

TEST_F(Comm, BroadcastsTextAndValuesOfAnyLength) {
    struct Pair {
        std::int32_t a;
        char b;
    };
    for (const std::int64_t limit : {1000000, 5})
        for (std::int64_t root = 0; root < size_; ++root) {
            comm_.set_message_limit(limit);
            // Others have longer ones, shorter ones and none before.
            std::string text(static_cast<std::size_t>(rank_ * 7), 'r');
            std::vector<Pair> pairs(static_cast<std::size_t>((size_ - rank_) * 2));
            if (rank_ == root) {
                text = "from " + std::to_string(root);
                pairs = {{3, 'x'}, {static_cast<std::int32_t>(root), 'y'}, {5, 'z'}};
            }
            comm_.broadcast(text, root);
            comm_.broadcast(pairs, root);
            EXPECT_EQ(text, "from " + std::to_string(root));
            ASSERT_EQ(pairs.size(), 3U);
            EXPECT_EQ(pairs[1].a, root);
            EXPECT_EQ(pairs[2].b, 'z');
            if (rank_ == root) text.clear();
            comm_.broadcast(text, root);
            EXPECT_EQ(text, "");
        }
}

/// The kind of exception and its text, or nothing.
std::string outcome(const Communicator& comm, const std::function<void()>& work) {
    try {
        comm.agree(work);
        return "";
    } catch (const InvalidArgument& e) {
        return std::string("invalid ") + e.what();
    } catch (const OutOfMemory& e) {
        return std::string("memory ") + e.what();
    } catch (const Unsupported& e) {
        return std::string("unsupported ") + e.what();
    } catch (const MpiError& e) {
        return std::string("mpi ") + e.what();
    } catch (const Error& e) {
        return std::string("error ") + e.what();
    }
}

TEST_F(Comm, AgreesOnTheErrorOfTheLowestRank) {
    EXPECT_EQ(outcome(comm_, [] {}), "");
    for (std::int64_t guilty = 0; guilty < size_; ++guilty) {
        auto text = [&] { return "of rank " + std::to_string(rank_); };
        auto expected = [&](const std::string& kind) { return kind + " of rank " + std::to_string(guilty); };
        auto throws_from = [&](auto make) {
            return outcome(comm_, [&] {
                if (rank_ >= guilty) make();
            });
        };
        EXPECT_EQ(throws_from([&] { throw InvalidArgument(text()); }), expected("invalid"));
        EXPECT_EQ(throws_from([&] { throw OutOfMemory(text()); }), expected("memory"));
        EXPECT_EQ(throws_from([&] { throw Unsupported(text()); }), expected("unsupported"));
        EXPECT_EQ(throws_from([&] { throw MpiError(text()); }), expected("mpi"));
        EXPECT_EQ(throws_from([&] { throw std::runtime_error(text()); }), expected("error"));
        // Ranks fail in different ways: the lowest one counts.
        EXPECT_EQ(throws_from([&] {
                      if (rank_ == guilty) throw Unsupported(text());
                      throw InvalidArgument(text());
                  }),
                  expected("unsupported"));
        EXPECT_EQ(throws_from([] { throw std::bad_alloc(); }).substr(0, 20), "memory out of memory");
        EXPECT_EQ(outcome(comm_,
                          [&] {
                              if (rank_ == guilty) throw InvalidArgument(std::string(5000, 'x'));
                          })
                      .size(),
                  5008U);
        EXPECT_EQ(outcome(comm_,
                          [&] {
                              if (rank_ == guilty) throw InvalidArgument("");
                          }),
                  "invalid ");
    }
}

TEST_F(Comm, KnowsItsNodes) {
    EXPECT_GE(comm_.ranks_on_my_node(), 1);
    EXPECT_EQ(size_ % comm_.ranks_per_node(), 0);
    const auto nodes = comm_.nodes();
    ASSERT_EQ(static_cast<std::int64_t>(nodes.size()), size_);
    for (const auto first : nodes) EXPECT_EQ(nodes[static_cast<std::size_t>(first)], first);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), nodes[static_cast<std::size_t>(rank_)]), comm_.ranks_on_my_node());
    EXPECT_THROW(Communicator(MPI_COMM_NULL), InvalidArgument);
}

TEST_F(Comm, IsPutInAnotherOrder) {
    const auto backwards = reordered(comm_, size_ - 1 - rank_);
    EXPECT_EQ(backwards.rank(), size_ - 1 - rank_);
    EXPECT_EQ(backwards.size(), size_);
    EXPECT_EQ(backwards.sum(rank_), comm_.sum(rank_));
}

TEST_F(Comm, IsCutIntoBlocks) {
    const int number = static_cast<int>(rank_ / 2);
    const auto block = alike(comm_, number);
    EXPECT_EQ(block.size(), std::min<std::int64_t>(2, size_ - 2 * number));
    EXPECT_EQ(block.rank(), rank_ % 2);
    EXPECT_EQ(block.sum(rank_), block.size() == 2 ? 4 * number + 1 : rank_);
}

/// Nobody goes on before the last one has come.
TEST_F(Comm, RestsUntilAllHaveCome) {
    const auto begin = std::chrono::steady_clock::now();
    constexpr auto late = std::chrono::milliseconds(50);
    comm_.barrier();
    if (rank_ + 1 == size_) std::this_thread::sleep_for(late);
    comm_.rest();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, late / 2);
}

TEST_F(Comm, IsApartFromTheCommunicatorThatItCameFrom) {
    int result = MPI_IDENT;
    MPI_Comm_compare(comm_.raw(), MPI_COMM_WORLD, &result);
    EXPECT_EQ(result, MPI_CONGRUENT);
    const Communicator copy = comm_;
    EXPECT_EQ(copy.raw(), comm_.raw()) << "a copy is the same communicator";
    const Communicator alone(MPI_COMM_SELF);
    EXPECT_EQ(alone.size(), 1);
    EXPECT_EQ(alone.all_to_all({letter(1, 1, 9)})[0], letter(1, 1, 9));
    EXPECT_EQ(alone.traffic().bytes_sent, 0);
}

TEST(Bytes, AreValuesAndBack) {
    const std::vector<double> values{1.5, -2, 3};
    EXPECT_EQ(from_bytes<double>(to_bytes(values)), values);
    EXPECT_TRUE(from_bytes<double>({}).empty());
}

}  // namespace
}  // namespace arges::test
