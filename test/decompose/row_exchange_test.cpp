// Movements of rows against sums and copies over all ranks' rows, which every rank knows.
#include "decompose/distribution/row_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace arges::test {
namespace {

using decompose::ModeRows;
using decompose::RowExchange;
using Numbers = std::vector<std::int64_t>;

/// Who has nonzeros in which rows, and who owns them; the same on all ranks. An owner need not hold its row.
struct RowSets {
    std::vector<Numbers> held;        // by rank, ascending
    std::vector<std::int64_t> owner;  // of every row; rows that nobody holds have none that counts

    RowSets(std::uint64_t seed, std::int64_t ranks) {
        std::mt19937_64 random(seed);
        const auto length = seed % 6 == 0 ? 0 : 1 + static_cast<std::int64_t>(random() % (seed % 3 == 0 ? 5 : 80));
        const auto density = 1 + random() % 6;
        held.resize(static_cast<std::size_t>(ranks));
        for (std::int64_t row = 0; row < length; ++row) {
            owner.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ranks)));
            for (auto& list : held)
                if (random() % 6 < density) list.push_back(row * 1000);  // numbers of rows need not follow each other
        }
    }
    std::int64_t owner_of(std::int64_t row) const { return owner[static_cast<std::size_t>(row / 1000)]; }
    bool is_held(std::size_t rank, std::int64_t row) const { return std::binary_search(held[rank].begin(), held[rank].end(), row); }
};

/// What a rank has of an element.
template <class T>
T value_of(std::int64_t rank, std::int64_t row, int column) {
    return static_cast<T>(10 * (rank + 1) + row + 70 * column) / T(97);  // a quotient is the same wherever it is computed
}

template <class T>
class RowMovement : public testing::Test {
protected:
    void SetUp() override { comm_.set_message_limit(512); }

    ModeRows match(const RowSets& sets) const {
        const auto& held = sets.held[static_cast<std::size_t>(comm_.rank())];
        std::vector<std::int64_t> owner;
        for (auto row : held) owner.push_back(sets.owner_of(row));
        return decompose::match_rows(comm_, held, owner);
    }

    Communicator comm_{MPI_COMM_WORLD};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RowMovement, Types);

TYPED_TEST(RowMovement, FindsWhoNeedsWhat) {
    const auto& comm = this->comm_;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const RowSets sets(seed, comm.size());
        const auto rows = this->match(sets);
        std::set<std::int64_t> owned, needed;
        for (std::size_t r = 0; r < sets.held.size(); ++r)
            for (auto row : sets.held[r]) {
                if (sets.owner_of(row) == comm.rank()) owned.insert(row);
                if (static_cast<std::int64_t>(r) == comm.rank() && sets.owner_of(row) != comm.rank()) needed.insert(row);
            }
        EXPECT_EQ(Numbers(rows.index.begin(), rows.index.begin() + rows.owned), Numbers(owned.begin(), owned.end()));
        EXPECT_EQ(std::set<std::int64_t>(rows.index.begin() + rows.owned, rows.index.end()), needed);
        EXPECT_EQ(rows.rows_needed(), static_cast<std::int64_t>(needed.size()));
        auto end = rows.owned;
        for (const auto& n : rows.needed) {
            EXPECT_EQ(n.begin, end);
            EXPECT_LT(n.begin, n.end);
            EXPECT_TRUE(std::is_sorted(rows.index.begin() + n.begin, rows.index.begin() + n.end));
            for (auto i = n.begin; i < n.end; ++i) EXPECT_EQ(sets.owner_of(rows.index[static_cast<std::size_t>(i)]), n.owner);
            end = n.end;
        }
        EXPECT_EQ(end, rows.count());
        EXPECT_EQ(comm.sum(rows.rows_shared()), comm.sum(rows.rows_needed()));
    }
}

TYPED_TEST(RowMovement, ExpandsAndFoldsAsSumsOverAllRanks) {
    using T = TypeParam;
    const auto& comm = this->comm_;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const int columns : {1, 3, 16}) {
            SCOPED_TRACE(std::to_string(seed) + ", " + std::to_string(columns) + " columns");
            const RowSets sets(seed, comm.size());
            const auto rows = this->match(sets);
            std::vector<T> values(static_cast<std::size_t>(rows.count() * columns), T(-5));
            const sparse::RowMatrix<T> matrix{values.data(), rows.count(), columns, columns};
            RowExchange<T> exchange(comm, rows, columns);

            for (std::int64_t i = 0; i < rows.owned; ++i)
                for (int c = 0; c < columns; ++c) matrix.row(i)[c] = value_of<T>(comm.rank(), rows.index[static_cast<std::size_t>(i)], c);
            const auto sent = comm.traffic().bytes_sent;
            exchange.start_expand(matrix);
            exchange.finish_expand();
            EXPECT_EQ(comm.traffic().bytes_sent - sent, rows.rows_shared() * columns * static_cast<std::int64_t>(sizeof(T)));
            for (std::int64_t i = 0; i < rows.count(); ++i)
                for (int c = 0; c < columns; ++c) {
                    const auto row = rows.index[static_cast<std::size_t>(i)];
                    ASSERT_EQ(matrix.row(i)[c], value_of<T>(sets.owner_of(row), row, c));
                }

            for (std::int64_t i = 0; i < rows.count(); ++i)
                for (int c = 0; c < columns; ++c) matrix.row(i)[c] = value_of<T>(comm.rank(), rows.index[static_cast<std::size_t>(i)], c);
            exchange.fold(matrix);
            for (std::int64_t i = 0; i < rows.owned; ++i)
                for (int c = 0; c < columns; ++c) {
                    const auto row = rows.index[static_cast<std::size_t>(i)];
                    auto expected = value_of<T>(comm.rank(), row, c);
                    for (std::size_t r = 0; r < sets.held.size(); ++r)
                        if (static_cast<std::int64_t>(r) != comm.rank() && sets.is_held(r, row))
                            expected += value_of<T>(static_cast<std::int64_t>(r), row, c);
                    ASSERT_EQ(matrix.row(i)[c], expected) << "added by ascending rank";
                }
        }
}

}  // namespace
}  // namespace arges::test
