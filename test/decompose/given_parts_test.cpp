// Partition files: parts of nonzeros and of slices as other partitioners write them.
#include "decompose/distribution/given_parts.hpp"

#include "arges/error.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "io/temporary_folder.hpp"
#include "partition/statistics.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

using decompose::DistributionRequest;

class GivenParts : public testing::Test {
protected:
    /// One line for each of so many vertices, with parts that a formula gives, over all ranks.
    std::string part_file(const std::string& name, std::int64_t count) const {
        std::string text;
        for (std::int64_t v = 0; v < count; ++v) text += std::to_string(part(v)) + "\n";
        return folder_.write(name, text);
    }
    std::int32_t part(std::int64_t v) const { return static_cast<std::int32_t>((v * 7 + v / 5) % world_.size()); }

    static std::int64_t moved(const Communicator& comm, const sparse::Nonzeros<double>& mine, const DistributionRequest& request) {
        const auto plan = decompose::choose_distribution(comm, mine, request).plan;
        const auto distributed = decompose::distribute(comm, mine, plan);
        std::int64_t rows = 0;
        for (const auto& mode : distributed.rows) rows += (distributed.folds ? 2 : 1) * (mode.rows_shared() + mode.rows_needed());
        return comm.maximum(rows);
    }

    World world_;
    Communicator comm_{world_.communicator()};
    TemporaryFolder folder_{world_};
};

/// Slices and their owners are those of the file, mode after mode, and a run moves what such a partition costs.
TEST_F(GivenParts, SlicesGoWhereTheFileSays) {
    for (std::uint64_t seed : {2U, 3U, 5U, 8U, 10U}) {
        const auto whole = random_sparse(seed);
        const auto mine = part_of(whole, comm_);
        const partition::IndexView view{whole.lengths, {whole.indices.begin(), whole.indices.end()}};
        const partition::SliceTable table(view);
        partition::CoarseGrain coarse{world_.size(), {}};
        std::int64_t count = 0;
        for (const auto& mode : table.modes) {
            auto& owner = coarse.owner.emplace_back();
            for (std::int64_t s = 0; s < mode.count(); ++s) owner.push_back(part(count++));
        }
        DistributionRequest request;
        request.distribution = "coarse";
        request.partition_file = part_file("slices", count);
        const auto owners = decompose::choose_distribution(comm_, mine, request).plan.owners;
        ASSERT_EQ(owners.size(), table.modes.size());
        for (std::size_t m = 0; m < owners.size(); ++m) {
            EXPECT_EQ(owners[m].slices, table.modes[m].slices) << "seed " << seed << " mode " << m;
            EXPECT_EQ(owners[m].owner, coarse.owner[m]) << "seed " << seed << " mode " << m;
        }
        EXPECT_EQ(moved(comm_, mine, request), partition::max_mean(partition::total_volume(count_distribution(table, coarse))).max);
    }
}

TEST_F(GivenParts, NonzerosGoWhereTheFileSays) {
    const auto whole = random_sparse(5);
    const auto mine = part_of(whole, comm_);
    std::int64_t before = 0;  // nonzeros of the ranks before, which part_of() deals one by one
    for (std::int64_t r = 0; r < comm_.rank(); ++r) before += (whole.count() - r + comm_.size() - 1) / comm_.size();
    const auto parts = decompose::nonzeros_from_file(comm_, mine, part_file("nonzeros", whole.count()));
    ASSERT_EQ(static_cast<std::int64_t>(parts.size()), mine.count());
    for (std::size_t x = 0; x < parts.size(); ++x) EXPECT_EQ(parts[x], part(before + static_cast<std::int64_t>(x)));
}

/// Every rank gets the one error.
TEST_F(GivenParts, WrongFilesAreRefusedOnAllRanks) {
    const auto whole = random_sparse(3);
    const auto mine = part_of(whole, comm_);
    const partition::SliceTable table({whole.lengths, {whole.indices.begin(), whole.indices.end()}});
    std::int64_t slices = 0;
    for (const auto& mode : table.modes) slices += mode.count();
    const auto refused = [&](const std::string& distribution, const std::string& file, const std::string& words) {
        DistributionRequest request;
        request.distribution = distribution;
        request.partition_file = file;
        try {
            decompose::choose_distribution(comm_, mine, request);
            ADD_FAILURE() << "accepted: " << words;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    refused("coarse", folder_ / "none", "none cannot be read; give the name of a partition file");
    refused("coarse", part_file("short", slices - 1), "the partition is of " + std::to_string(slices - 1) + " nonempty slices");
    refused("coarse", part_file("long", slices + 1), "more than " + std::to_string(slices) + " nonempty slices of all modes");
    refused("coarse", folder_.write("high", std::to_string(world_.size()) + "\n"), "line 1: the part is " + std::to_string(world_.size()));
    refused("fine", part_file("few", whole.count() - 1), "the partition is of " + std::to_string(whole.count() - 1) + " nonzeros only");
    refused("coarse-hypergraph", folder_ / "none", "for the distributions fine and coarse, not for coarse-hypergraph");
    refused("auto", folder_ / "none", "for the distributions fine and coarse, not for auto");
}

}  // namespace
}  // namespace arges::test
