// Sampled sizes of products of two sparse factors against counts of all of them.
#include "execute/sparse_match.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

namespace arges::test {
namespace {

using Index2 = std::pair<std::int64_t, std::int64_t>;

/// Different index pairs; with `power` over 1 small indices have most of them.
std::set<Index2> random_pairs(std::int64_t rows, std::int64_t columns, std::size_t count, double power, std::mt19937_64& random) {
    std::set<Index2> result;
    const auto draw = [&](std::int64_t n) {
        const auto x = std::pow(std::uniform_real_distribution<double>(0, 1)(random), power);
        return std::min(n - 1, static_cast<std::int64_t>(x * static_cast<double>(n)));
    };
    for (std::size_t k = 0; k < 4 * count && result.size() < count; ++k) result.emplace(draw(rows), draw(columns));
    return result;
}

/// The part of a rank, unevenly.
IndexColumns part_of(const std::set<Index2>& pairs, const Communicator* comm) {
    IndexColumns columns(2);
    const auto size = comm == nullptr ? 1 : comm->size(), rank = comm == nullptr ? 0 : comm->rank();
    std::int64_t k = 0;
    for (const auto& [i, j] : pairs) {
        if (std::min(k++ % (size + 2), size - 1) != rank) continue;
        columns[0].push_back(i);
        columns[1].push_back(j);
    }
    return columns;
}

class SparseSample : public ::testing::Test {
protected:
    SparseSample() {
        comm_.emplace(MPI_COMM_WORLD);
        if (comm_->size() == 1) comm_.reset();
    }
    const Communicator* comm() const { return comm_ ? &*comm_ : nullptr; }
    std::optional<Communicator> comm_;
};

TEST_F(SparseSample, IsCloseToTheCountsOfAllNonzeros) {
    for (const double power : {1.0, 2.0, 4.0}) {
        SCOPED_TRACE(power);
        std::mt19937_64 random(7);
        const auto a = random_pairs(3000, 2000, 20000, power, random), b = random_pairs(2000, 5000, 30000, power, random);
        std::map<std::int64_t, std::vector<std::int64_t>> rows;
        for (const auto& [j, k] : b) rows[j].push_back(k);
        double products = 0;
        std::set<Index2> result;
        for (const auto& [i, j] : a)
            for (auto k : rows[j]) {
                products += 1;
                result.emplace(i, k);
            }
        const auto mine_a = part_of(a, comm()), mine_b = part_of(b, comm());
        const auto found = sample_product(comm(), {{mine_a[1]}, {mine_a[0]}, {}}, {{mine_b[0]}, {mine_b[1]}, {}});
        EXPECT_NEAR(found.products / products, 1, 0.15);
        ASSERT_TRUE(found.nonzeros.has_value());
        EXPECT_NEAR(*found.nonzeros / static_cast<double>(result.size()), 1, 0.2);
        EXPECT_TRUE(comm() == nullptr || comm()->all_equal(std::bit_cast<std::uint64_t>(found.products)));
    }
}

TEST_F(SparseSample, OfSharedLabelsThatAreLeftAndOfNothing) {
    std::mt19937_64 random(8);
    const auto a = random_pairs(300, 200, 9000, 1, random), b = random_pairs(300, 200, 9000, 1, random);
    double both = 0;
    for (const auto& x : a) both += b.count(x) > 0 ? 1 : 0;
    const auto mine_a = part_of(a, comm()), mine_b = part_of(b, comm());
    // The elementwise product: all labels are shared and left.
    const auto found =
        sample_product(comm(), {{mine_a[0], mine_a[1]}, {}, {mine_a[0], mine_a[1]}}, {{mine_b[0], mine_b[1]}, {}, {mine_b[0], mine_b[1]}});
    EXPECT_NEAR(found.products / both, 1, 0.1);
    // A sum over everything: one row, too long to be compared, or short.
    const auto sum = sample_product(comm(), {{mine_a[0], mine_a[1]}, {}, {}}, {{mine_b[0], mine_b[1]}, {}, {}});
    EXPECT_NEAR(sum.products / both, 1, 0.1);
    EXPECT_NEAR(sum.nonzeros.value_or(1), 1, 0.5);
    const IndexColumns none(2);
    EXPECT_EQ(sample_product(comm(), {{none[1]}, {none[0]}, {}}, {{mine_b[0]}, {mine_b[1]}, {}}).products, 0);
}

}  // namespace
}  // namespace arges::test
