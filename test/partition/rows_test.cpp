#include "partition/rows.hpp"

#include "arges/error.hpp"
#include "statistics_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace arges::test {
namespace {

using namespace partition;
using Owners = std::map<std::int64_t, int>;
using Holders = std::map<std::int64_t, std::vector<int>>;

Holders holders_of(const LayerRows& layer) {
    Holders result;
    for (std::size_t q = 0; q < layer.held.size(); ++q)
        for (auto row : layer.held[q]) result[row].push_back(static_cast<int>(q));
    return result;
}

/// SPLATT's p_greedy_mat_distribution (mpi_mat_distribute.c), job by job with linear scans. Rows that nobody holds are left out.
Owners splatt_claims(const LayerRows& layer) {
    const auto npes = static_cast<int>(layer.held.size());
    Owners owner;
    std::vector<std::int64_t> volume(layer.held.size(), 0), unclaimed;
    for (const auto& [row, holders] : holders_of(layer)) {
        if (holders.size() == 1) {
            owner[row] = holders[0];
            continue;
        }
        unclaimed.push_back(row);
        for (int q : holders) ++volume[static_cast<std::size_t>(q)];
    }
    const auto claim = [&](int rank, const std::vector<std::int64_t>& rows, std::int64_t amount) {
        std::int64_t claimed = 0;
        for (auto row : rows)
            if (claimed < amount && owner.emplace(row, rank).second) ++claimed;
        return claimed;
    };
    bool must = false;
    auto left = static_cast<std::int64_t>(unclaimed.size());
    for (int last = 0; left > 0;) {
        auto p0 = static_cast<std::size_t>((last + 1) % npes), p1 = static_cast<std::size_t>((last + 2) % npes);
        for (std::size_t p = 0; p < volume.size(); ++p)
            if (volume[p] < volume[p0]) {
                p1 = p0;
                p0 = p;
            }
        auto amount = std::min(volume[p1] - volume[p0], left);
        if (amount == 0) amount = std::max<std::int64_t>(left / npes, 1);
        last = static_cast<int>(p0);
        auto claimed = claim(last, layer.held[p0], amount);
        if (must && claimed < amount) claimed += claim(last, unclaimed, amount - claimed);
        volume[p0] += claimed;
        left -= claimed;
        must = claimed == 0;
    }
    return owner;
}

/// The rule of `holders` with linear scans.
Owners balanced_holders(const LayerRows& layer, double excess) {
    const auto holders = holders_of(layer);
    const auto rows = static_cast<double>(holders.size()), ranks = static_cast<double>(layer.held.size());
    std::vector<std::int64_t> load(layer.held.size(), 0);
    const auto least = [&](const std::vector<int>& among) {
        int best = among[0];
        for (int q : among)
            if (load[static_cast<std::size_t>(q)] < load[static_cast<std::size_t>(best)]) best = q;
        return best;
    };
    std::vector<int> everyone;
    for (std::size_t q = 0; q < layer.held.size(); ++q) everyone.push_back(static_cast<int>(q));
    Owners owner;
    std::vector<std::int64_t> spilled;
    for (std::size_t connectivity = 1; connectivity <= layer.held.size(); ++connectivity)
        for (const auto& [row, list] : holders) {
            if (list.size() != connectivity) continue;
            const int q = least(list);
            if (static_cast<double>(load[static_cast<std::size_t>(q)]) >= std::ceil((1 + excess) * rows / ranks)) {
                spilled.push_back(row);
                continue;
            }
            owner[row] = q;
            ++load[static_cast<std::size_t>(q)];
        }
    for (auto row : spilled) {
        owner[row] = least(everyone);
        ++load[static_cast<std::size_t>(owner[row])];
    }
    return owner;
}

LayerRows random_layer(std::mt19937_64& random) {
    LayerRows layer;
    layer.begin = below(random, 50);
    layer.end = layer.begin + below(random, 80);
    layer.held.resize(static_cast<std::size_t>(1 + below(random, 9)));
    const auto dense = below(random, 10);
    for (auto& held : layer.held) {
        const auto of_this = below(random, 3) == 0 ? 10 : dense;
        for (auto row = layer.begin; row < layer.end; ++row)
            if (below(random, 10) < of_this) held.push_back(row);
    }
    return layer;
}

Owners owners(const RowOwners& result) {
    Owners map;
    EXPECT_EQ(result.rows.size(), result.owner.size());
    EXPECT_TRUE(std::is_sorted(result.rows.begin(), result.rows.end()));
    for (std::size_t i = 0; i < result.rows.size(); ++i) map[result.rows[i]] = result.owner[i];
    return map;
}

TEST(Rows, EvenCutsAllRowsOfTheLayer) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 500; ++round) {
        const auto layer = random_layer(random);
        const auto ranks = static_cast<std::int64_t>(layer.held.size());
        Owners expected;
        for (const auto& held : holders_of(layer))
            for (std::int64_t q = 0; q < ranks; ++q) {
                const auto length = layer.end - layer.begin, at = held.first - layer.begin;
                if (q * length / ranks <= at && at < (q + 1) * length / ranks) expected[held.first] = static_cast<int>(q);
            }
        EXPECT_EQ(owners(assign_rows(layer, RowRule::even)), expected);
    }
}

TEST(Rows, ClaimIsSplatts) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 2000; ++round) {
        const auto layer = random_layer(random);
        EXPECT_EQ(owners(assign_rows(layer, RowRule::claim)), splatt_claims(layer)) << "round " << round;
    }
}

TEST(Rows, HoldersAreBalancedUnderACap) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 2000; ++round) {
        const auto layer = random_layer(random);
        const double excess = static_cast<double>(below(random, 4)) / 3;
        const auto result = owners(assign_rows(layer, RowRule::holders, excess));
        EXPECT_EQ(result, balanced_holders(layer, excess)) << "round " << round;
        std::vector<double> load(layer.held.size(), 0);
        for (const auto& [row, q] : result) ++load[static_cast<std::size_t>(q)];
        const auto cap = std::ceil((1 + excess) * static_cast<double>(result.size()) / static_cast<double>(load.size()));
        EXPECT_LE(*std::max_element(load.begin(), load.end()), cap);
    }
}

TEST(Rows, WithoutCapEveryOwnerHoldsItsRows) {
    std::mt19937_64 random(4);
    for (int round = 0; round < 200; ++round) {
        const auto layer = random_layer(random);
        const auto holders = holders_of(layer);
        const auto result = owners(assign_rows(layer, RowRule::holders, std::numeric_limits<double>::infinity()));
        EXPECT_EQ(result.size(), holders.size());
        for (const auto& [row, q] : result) {
            const auto& list = holders.at(row);
            EXPECT_NE(std::find(list.begin(), list.end(), q), list.end());
        }
    }
}

TEST(Rows, AHolderOfAllSpills) {
    // Rank 0 holds all of 8 rows, the others nothing: of 3 ranks, none takes more than 3 rows.
    const LayerRows layer{10, 18, {{10, 11, 12, 13, 14, 15, 16, 17}, {}, {}}};
    EXPECT_EQ(assign_rows(layer, RowRule::holders, 0).owner, (std::vector<int>{0, 0, 0, 1, 2, 1, 2, 1}));
    EXPECT_EQ(assign_rows(layer, RowRule::claim).owner, std::vector<int>(8, 0));
}

TEST(Rows, EmptyLayers) {
    for (auto rule : {RowRule::even, RowRule::claim, RowRule::holders}) {
        EXPECT_TRUE(assign_rows({5, 5, {{}, {}}}, rule).rows.empty());
        EXPECT_TRUE(assign_rows({5, 9, {{}, {}}}, rule).rows.empty());
        EXPECT_EQ(assign_rows({5, 9, {{7}}}, rule).owner, std::vector<int>{0});
    }
}

TEST(Rows, WrongLayersAreRefused) {
    EXPECT_THROW(assign_rows({0, 5, {}}, RowRule::even), InvalidArgument);
    EXPECT_THROW(assign_rows({0, 5, {{5}}}, RowRule::even), InvalidArgument);
    EXPECT_THROW(assign_rows({1, 5, {{0}}}, RowRule::claim), InvalidArgument);
    EXPECT_THROW(assign_rows({0, 5, {{2, 2}}}, RowRule::holders), InvalidArgument);
    EXPECT_THROW(assign_rows({0, 5, {{2}}}, RowRule::holders, -0.1), InvalidArgument);
    EXPECT_THROW(assign_rows({0, 5, {{2}}}, RowRule::holders, std::nan("")), InvalidArgument);
}

TEST(Rows, NamesAndBack) {
    for (auto rule : {RowRule::even, RowRule::claim, RowRule::holders}) EXPECT_EQ(parse_row_rule(to_string(rule)), rule);
    EXPECT_THROW(parse_row_rule("greedy"), InvalidArgument);
}

}  // namespace
}  // namespace arges::test
