// Partition files: parts of nonzeros and of slices as other partitioners write them.
#include "decompose/distribution/given_parts.hpp"

#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/saved_partition.hpp"
#include "decompose/tensor_of.hpp"
#include "io/temporary_folder.hpp"
#include "partition/statistics.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <utility>

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
    refused("coarse-hypergraph", part_file("nameless", slices), "it may be for fine or coarse, not for coarse-hypergraph");
    refused("auto", part_file("nameless", slices), "it may be for fine or coarse, not for auto");
}

/// What is saved comes back, whatever the distribution, and a decomposition by it has the same bits.
TEST_F(GivenParts, SavedPartitionsGiveTheSameRun) {
    for (std::uint64_t seed : {2U, 3U, 5U, 8U, 9U}) {
        const auto whole = random_sparse(seed);
        const auto tensor = tensor_of<double>(world_, whole);
        for (const std::string kind : {"auto", "medium", "coarse", "coarse-allgather", "coarse-hypergraph", "fine", "fine-hypergraph"}) {
            const auto label = kind + ", seed " + std::to_string(seed);
            CpOptions options;
            options.rank = 2;
            options.max_iterations = 3;
            options.distribution = kind;
            options.save_partition = folder_ / kind;
            const auto first = cp_decompose(tensor, options);
            options.partition_file = std::exchange(options.save_partition, folder_ / "again");
            if (seed % 2 == 0) options.distribution = "auto";
            const auto second = cp_decompose(tensor, options);
            EXPECT_EQ(TemporaryFolder::read(folder_ / kind), TemporaryFolder::read(folder_ / "again")) << label;
            EXPECT_EQ(first.distribution, second.distribution) << label;
            EXPECT_EQ(first.grid + first.policy, second.grid + second.policy) << label;
            EXPECT_EQ(first.fits, second.fits) << label;
            EXPECT_EQ(first.volume_rows_total, second.volume_rows_total) << label;
            for (int m = 0; m < tensor.order(); ++m) {
                EXPECT_EQ(first.model.rows(m), second.model.rows(m)) << label;
                EXPECT_EQ(first.model.factor(m), second.model.factor(m)) << label;
            }
        }
    }
}

TEST_F(GivenParts, CompletionsKeepPartitions) {
    const auto tensor = tensor_of<double>(world_, random_sparse(8));
    CompletionOptions options;
    options.rank = 2;
    options.max_iterations = 3;
    options.holdout = 0.2;
    options.save_partition = folder_ / "kept";
    const auto first = complete(tensor, options);
    options.partition_file = std::exchange(options.save_partition, "");
    EXPECT_EQ(complete(tensor, options).rmses, first.rmses);
    options.holdout = 0;
    EXPECT_THROW(complete(tensor, options), InvalidArgument) << "saved for other elements";

    CpOptions everywhere;
    everywhere.rank = 2;
    everywhere.distribution = "coarse-allgather";
    everywhere.save_partition = options.partition_file;
    cp_decompose(tensor, everywhere);
    EXPECT_THROW(complete(tensor, options), InvalidArgument) << "of a distribution that it has not";
}

TEST_F(GivenParts, WrongSavedPartitionsAreRefusedOnAllRanks) {
    const auto mine = part_of(random_sparse(3), comm_);
    const auto path = folder_ / "kept";
    DistributionRequest request;
    decompose::save_partition(comm_, mine, decompose::choose_distribution(comm_, mine, request), path);
    const auto text = TemporaryFolder::read(path);
    const auto refused = [&](const sparse::Nonzeros<double>& nonzeros, const std::string& file, const std::string& words) {
        request.partition_file = file;
        try {
            decompose::choose_distribution(comm_, nonzeros, request);
            ADD_FAILURE() << "accepted: " << words;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    const auto with = [&](const std::string& words, const std::string& instead) {
        auto changed = text;
        changed.replace(changed.find(words), words.size(), instead);
        return folder_.write("changed", changed);
    };
    refused(part_of(random_sparse(4), comm_), path, "is needed; give the one that was saved for this tensor on so many ranks");
    refused(mine, with("for " + std::to_string(world_.size()), "for 77"), "for 77 ranks, but an arges partition of ");
    refused(mine, with("% medium", "% median"), "damaged");
    refused(mine, with("\n% 0 ", "\n% 1 "), "damaged");
    refused(mine, with("\n% 0 ", "\n% 0 z "), "damaged");
    refused(mine, with("% medium", "% fine"), "damaged");
    refused(mine, with("% medium", "% coarse-hypergraph"), "damaged");
    refused(mine, folder_.write("short", text.substr(0, text.find('\n') + 1)), "damaged");
    refused(mine, folder_.write("long", text + "0\n"), "damaged");
    request.distribution = "fine";
    refused(mine, path, "has the distribution medium; leave out distribution, grid and policy");
    request.distribution = "medium";
    request.policy = "nnz";
    refused(mine, path, "leave out distribution, grid and policy");
}

}  // namespace
}  // namespace arges::test
