#include "arges/machine.hpp"
#include "support/program_run.hpp"

#include "arges/world.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <string>

namespace arges::test {
namespace {

using cli::exit_error;
using cli::exit_success;
using cli::exit_usage;

/// A name of its own for each rank: ranks of a test may share a folder.
std::string file_name(const std::string& what) {
    return ::testing::TempDir() + "arges_" + what + "_" + std::to_string(World().rank()) + ".conf";
}

/// The file that a name stands for goes with the object.
struct Removed {
    std::string file;
    ~Removed() { std::remove(file.c_str()); }
};

nlohmann::json json_of(std::vector<const char*> words) {
    const auto outcome = run_program(std::move(words));
    EXPECT_EQ(outcome.code, exit_success) << outcome.err;
    return nlohmann::json::parse(outcome.out);
}

TEST(Calibrate, MeasuresAndStoresConstants) {
    const Removed removed{file_name("calibrated")};
    const auto machine = json_of({"calibrate", "--output", removed.file.c_str(), "--json"});
    for (const char* key :
         {"flops_per_second", "bytes_per_second", "copied_bytes_per_second", "message_seconds", "listed_element_seconds", "cache_bytes",
          "nonzero_column_seconds", "row_column_seconds", "sparse_product_seconds", "sorted_nonzero_seconds", "multiplication_seconds",
          "vector_multiplication_seconds", "packed_element_seconds", "planning_seconds"})
        EXPECT_GT(machine[key].get<double>(), 0) << key;
    EXPECT_GE(machine["half_rate_edge"].get<double>(), 0);
    std::int64_t before = 0;
    for (const auto& rate : machine["products"]) {
        EXPECT_GT(rate["edge"].get<std::int64_t>(), before);
        EXPECT_GT(rate["flops_per_second"].get<double>(), 0);
        before = rate["edge"].get<std::int64_t>();
    }
    EXPECT_EQ(machine["products"].size(), 3U);
    EXPECT_EQ(machine["ranks"], World().size());
    EXPECT_EQ(machine["network_measured"].get<bool>(), World().size() > 1);
    EXPECT_FALSE(machine.contains("node_bytes_per_second")) << "all ranks are on one node";
    if (World().rank() != 0) return;
    const auto stored = read_machine_model(removed.file);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->planning_seconds, machine["planning_seconds"].get<double>());
    EXPECT_EQ(stored->half_rate_edge, machine["half_rate_edge"].get<double>());
    EXPECT_EQ(stored->nonzero_column_seconds, machine["nonzero_column_seconds"].get<double>());
}

/// Ranks of one node have one distance, ranks that each have their own too; scripts/check_scaling.sh has two nodes of two ranks.
TEST(Calibrate, KnowsHowManyRanksAreOnANode) {
    const World world;
    const Removed removed{file_name("nodes")};
    for (const std::int64_t per_node : {std::int64_t{1}, world.size()}) {
        const auto text = std::to_string(per_node);
        const auto machine =
            json_of({"calibrate", "--output", removed.file.c_str(), "--ranks-per-node", text.c_str(), "--json", "--overwrite"});
        EXPECT_EQ(machine["ranks_per_node"], per_node);
        EXPECT_FALSE(machine.contains("on_node_bytes_per_second"));
        if (world.rank() != 0) continue;
        const auto stored = read_machine_model(removed.file);
        ASSERT_TRUE(stored);
        EXPECT_EQ(stored->interconnect.ranks_per_node, per_node);
        EXPECT_EQ(stored->interconnect.on_node_bytes_per_second, 0);
    }
}

/// From two rates that follow the model, its constants; a rate that falls with the size is no reason to take small products for fast.
TEST(Calibrate, FindsTheRateOfLargeProducts) {
    MachineModel machine;
    const auto rate = [](std::int64_t edge, double peak, double half) {
        return ProductRate{edge, peak / (1 + half / static_cast<double>(edge))};
    };
    set_product_rate(machine, rate(32, 5e10, 40), rate(768, 5e10, 40));
    EXPECT_NEAR(machine.flops_per_second, 5e10, 1);
    EXPECT_NEAR(machine.half_rate_edge, 40, 1e-6);
    set_product_rate(machine, {32, 3e10}, {768, 2e10});
    EXPECT_EQ(machine.flops_per_second, 3e10);
    EXPECT_EQ(machine.half_rate_edge, 0);
}

TEST(Calibrate, PrintsATable) {
    const Removed removed{file_name("table")};
    const MachineFile setting(removed.file);
    const auto outcome = run_program({"calibrate"});
    EXPECT_EQ(outcome.code, exit_success) << outcome.err;
    for (const char* text : {"matrix products, edge 32", "Gflop/s", "between ranks", "MTTKRP", "choosing a plan", "stored in "})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
}

TEST(Calibrate, PlansUseWhatIsStored) {
    const Removed removed{file_name("slow")};
    const std::vector<const char*> words{"plan", "ij,jk->ik", "--sizes", "i=1000,j=1000,k=1000", "--json"};
    double before = 0;
    {
        const MachineFile none(file_name("missing"));
        before = json_of(words)["seconds"].get<double>();
    }
    std::ofstream(removed.file) << "flops_per_second = 2e8  # a hundredth of the default\n";
    const MachineFile setting(removed.file);
    EXPECT_GT(json_of(words)["seconds"].get<double>(), 20 * before);
}

TEST(Calibrate, AnswersWrongInputWithOneLine) {
    const auto more = std::to_string(World().size() + 1);
    check_wrong_lines({{{"calibrate", "file"}, exit_usage, "file"},
                       {{"calibrate", "--ranks-per-node", "0"}, exit_usage, "--ranks-per-node"},
                       {{"calibrate", "--ranks-per-node", more.c_str()}, exit_error, "must be a multiple"},
                       {{"calibrate", "--output", "Makefile/machine.conf"}, exit_error, "Makefile/machine.conf"}});
}

TEST(Calibrate, BrokenFilesAreNamed) {
    const Removed removed{file_name("broken")};
    std::ofstream(removed.file) << "flops_per_second = fast\n";
    const MachineFile setting(removed.file);
    check_wrong_lines({{{"plan", "ij,jk->ik", "--sizes", "i=1,j=1,k=1"}, exit_error, "flops_per_second is \"fast\""},
                       {{"cc", "examples/data/h2o_sto3g.fcidump"}, exit_error, "arges calibrate"}});
}

}  // namespace
}  // namespace arges::test
