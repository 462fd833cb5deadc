// Distributions of nonzeros and rows: nothing is lost, every row with nonzeros has one owner, rows come to where they are needed.
#include "comm/values.hpp"
#include "decompose/distribution/distribute.hpp"

#include "decompose/distribution/slice_counts.hpp"
#include "partition/value_counts.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <set>

namespace arges::test {
namespace {

using decompose::Distributed;
using decompose::DistributionPlan;
using decompose::Grain;

class Distribution : public testing::Test {
protected:
    /// A random plan; the same on all ranks but for the parts of nonzeros.
    DistributionPlan random_plan(std::uint64_t seed, const sparse::Nonzeros<double>& mine) const {
        std::mt19937_64 random(seed);
        DistributionPlan plan;
        plan.grain = static_cast<Grain>(random() % 3);
        plan.row_rule = static_cast<partition::RowRule>(random() % 3);
        const auto grids = partition::all_grids(comm_.size(), mine.order());
        plan.grid = grids[random() % grids.size()];
        const partition::LayerRule rules[] = {{partition::LayerPolicy::nonzeros, 1},
                                              {partition::LayerPolicy::set, 1},
                                              {partition::LayerPolicy::ordered, 2},
                                              {partition::LayerPolicy::max_min, 1}};
        const auto& rule = rules[random() % 4];
        std::vector<partition::LayerCut> cuts;
        for (std::size_t m = 0; m < mine.lengths.size(); ++m)
            cuts.push_back(plan.grain == Grain::coarse ? partition::LayerCut{m, comm_.size(), rules[0]}
                                                       : partition::LayerCut{m, plan.grid[m], rule});
        plan.boundaries =
            partition::cut_modes(decompose::RankTeam(comm_), counted_tensor(decompose::RankTeam(comm_), decompose::view_of(mine)), cuts);
        std::mt19937_64 own(seed + static_cast<std::uint64_t>(comm_.rank()));
        for (std::int64_t x = 0; x < mine.count(); ++x)
            plan.parts.push_back(static_cast<std::int32_t>(own() % static_cast<std::uint64_t>(comm_.size())));
        return plan;
    }

    /// All ranks' nonzeros of a set, with the indices that they have in the whole tensor.
    std::multiset<std::vector<double>> collected(const Distributed<double>& d, std::size_t set) const {
        std::vector<double> flat;
        const auto& local = d.sets[set].nonzeros;
        for (std::int64_t x = 0; x < local.count(); ++x) {
            for (int m = 0; m < local.order(); ++m)
                flat.push_back(static_cast<double>(
                    d.rows[static_cast<std::size_t>(m)].index[local.indices[static_cast<std::size_t>(m)][static_cast<std::size_t>(x)]]));
            flat.push_back(local.values[static_cast<std::size_t>(x)]);
        }
        const auto all = gathered(comm_, flat);
        std::multiset<std::vector<double>> result;
        const auto width = static_cast<std::size_t>(local.order()) + 1;
        for (std::size_t i = 0; i < all.size(); i += width)
            result.insert({all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i + width)});
        return result;
    }

    Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(Distribution, KeepsEveryNonzeroAndGivesEveryRowOneOwner) {
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        const auto whole = random_sparse(seed);
        const auto mine = part_of(whole, comm_);
        const auto plan = random_plan(seed, mine);
        SCOPED_TRACE("seed " + std::to_string(seed) + " grain " + std::to_string(static_cast<int>(plan.grain)) + " grid " +
                     partition::to_string(plan.grid));
        const auto d = decompose::distribute(comm_, mine, plan);
        std::multiset<std::vector<double>> expected;
        for (std::int64_t x = 0; x < whole.count(); ++x) {
            std::vector<double> entry;
            for (const auto& indices : whole.indices) entry.push_back(static_cast<double>(indices[static_cast<std::size_t>(x)]));
            entry.push_back(whole.values[static_cast<std::size_t>(x)]);
            expected.insert(entry);
        }
        for (std::size_t s = 0; s < d.sets.size(); ++s) ASSERT_EQ(collected(d, s), expected);
        for (int m = 0; m < whole.order(); ++m) {
            const auto& rows = d.rows[static_cast<std::size_t>(m)];
            const std::vector<std::int64_t> owned(rows.index.begin(), rows.index.begin() + rows.owned);
            EXPECT_TRUE(std::is_sorted(owned.begin(), owned.end()));
            auto all = gathered(comm_, owned);
            std::sort(all.begin(), all.end());
            EXPECT_EQ(all, partition::distinct(whole.indices[static_cast<std::size_t>(m)])) << "mode " << m;
        }
        for (int m = 0; m < whole.order() && plan.grain == Grain::coarse; ++m)
            for (auto i : d.sets[static_cast<std::size_t>(m)].nonzeros.indices[static_cast<std::size_t>(m)])
                EXPECT_LT(i, d.rows[static_cast<std::size_t>(m)].owned) << "a rank has all of its slices' nonzeros";
        if (comm_.maximum(HasFailure() ? 1 : 0) != 0) return;
    }
}

TEST_F(Distribution, ExpandsAndFoldsRows) {
    constexpr int columns = 3;
    for (std::uint64_t seed = 100; seed < 150; ++seed) {
        const auto whole = random_sparse(seed);
        const auto mine = part_of(whole, comm_);
        const auto d = decompose::distribute(comm_, mine, random_plan(seed, mine));
        for (const auto& rows : d.rows) {
            decompose::RowExchange<double> exchange(comm_, rows, columns);
            std::vector<double> values(static_cast<std::size_t>(rows.count() * columns), -1);
            const sparse::RowMatrix<double> matrix{values.data(), rows.count(), columns, columns};
            auto value = [&](std::int64_t i, int c) { return static_cast<double>(10 * rows.index[static_cast<std::size_t>(i)] + c); };
            for (std::int64_t i = 0; i < rows.owned; ++i)
                for (int c = 0; c < columns; ++c) matrix.row(i)[c] = value(i, c);
            exchange.start_expand(matrix);
            exchange.finish_expand();
            for (std::int64_t i = 0; i < rows.count(); ++i)
                for (int c = 0; c < columns; ++c) ASSERT_EQ(matrix.row(i)[c], value(i, c));
            std::fill(values.begin(), values.end(), 1);
            exchange.fold(matrix);
            std::vector<double> holders(static_cast<std::size_t>(rows.owned), 1);
            for (const auto& shared : rows.shared)
                for (auto row : shared.rows) ++holders[row];
            for (std::int64_t i = 0; i < rows.owned; ++i) ASSERT_EQ(matrix.row(i)[0], holders[static_cast<std::size_t>(i)]);
            EXPECT_EQ(comm_.sum(rows.rows_shared()), comm_.sum(rows.rows_needed()));
        }
        if (comm_.maximum(HasFailure() ? 1 : 0) != 0) return;
    }
}

TEST_F(Distribution, CutsTheSameLayersOnAnyNumberOfRanks) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto whole = random_sparse(seed);
        const auto mine = part_of(whole, comm_);
        partition::IndexView view{whole.lengths, {whole.indices.begin(), whole.indices.end()}};
        const partition::SliceTable table(view);
        std::vector<partition::LayerCut> cuts;
        for (std::size_t m = 0; m < whole.lengths.size(); ++m)
            for (std::int64_t layers : {1, 2, 3, 7, 50})
                for (const char* rule : {"nnz", "set", "ordered-1", "ordered-2", "max-min"})
                    cuts.push_back({m, layers, partition::parse_layer_rule(rule)});
        const auto boundaries =
            partition::cut_modes(decompose::RankTeam(comm_), counted_tensor(decompose::RankTeam(comm_), decompose::view_of(mine)), cuts);
        ASSERT_EQ(boundaries.size(), cuts.size());
        for (std::size_t i = 0; i < cuts.size(); ++i)
            EXPECT_EQ(boundaries[i], partition::cut_mode(table.modes[cuts[i].mode], cuts[i].rule, cuts[i].layers))
                << "seed " << seed << ", cut " << i;
    }
}

}  // namespace
}  // namespace arges::test
