#include "arges/machine.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace arges::test {
namespace {

/// A folder of its own that is removed at the end.
class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / ("arges_machine_" + std::to_string(std::random_device()()))) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

MachineModel some_machine() {
    MachineModel machine;
    machine.flops_per_second = 1.25e11 / 3;
    machine.message_seconds = 1e-6;
    machine.half_rate_edge = 31.25;
    machine.planning_seconds = 2e-4;
    machine.nonzero_column_seconds = 1.5e-9;
    machine.row_column_seconds = 7e-9;
    machine.sparse_product_seconds = 2.5e-9;
    machine.sorted_nonzero_seconds = 3e-8;
    machine.vector_multiplication_seconds = 3e-10;
    machine.interconnect.on_node_bytes_per_second = 6e9;
    machine.interconnect.on_node_message_seconds = 3e-7;
    machine.interconnect.node_bytes_per_second = 1.2e10;
    return machine;
}

TEST(MachineModel, IsReadAsItWasWritten) {
    EXPECT_EQ(parse_machine_model(to_text(some_machine()), "a file"), some_machine());
    const Folder folder;
    const auto file = folder.file("new/folder/machine.conf");
    EXPECT_FALSE(read_machine_model(file));
    for (const auto& machine : {some_machine(), MachineModel()}) {
        write_machine_model(file, machine);
        EXPECT_EQ(read_machine_model(file), machine);
    }
    EXPECT_FALSE(std::filesystem::exists(file + ".new"));
}

TEST(MachineModel, KnowsTheInterconnect) {
    const auto machine = parse_machine_model("torus = 16x4\nlink_bytes_per_second = 2e9 1.5e9\nlink_seconds = 1e-6\nranks_per_node = 4\n"
                                             "node_bytes_per_second = 1e10\n",
                                             "a file");
    const auto& interconnect = machine.interconnect;
    EXPECT_EQ(interconnect.torus, Torus({16, 4}));
    EXPECT_EQ(interconnect.link_bytes_per_second, (std::vector<double>{2e9, 1.5e9}));
    EXPECT_EQ(interconnect.link_seconds, 1e-6);
    EXPECT_EQ(interconnect.ranks_per_node, 4);
    EXPECT_EQ(interconnect.node_bytes_per_second, 1e10);
    EXPECT_EQ(parse_machine_model(to_text(machine), "a file"), machine);
}

TEST(MachineModel, KnowsLevels) {
    const auto machine =
        parse_machine_model("levels = 8x4x2\nlevel_bytes_per_second = 0 1e11 0\nlevel_pair_bytes_per_second = 0 0 5e10\n", "a file");
    EXPECT_EQ(machine.interconnect.levels, Torus({8, 4, 2}));
    EXPECT_EQ(machine.interconnect.level_bytes_per_second, (std::vector<double>{0, 1e11, 0}));
    EXPECT_EQ(machine.interconnect.level_pair_bytes_per_second, (std::vector<double>{0, 0, 5e10}));
    EXPECT_EQ(parse_machine_model(to_text(machine), "a file"), machine);
}

/// What stands for "not known" may be written.
TEST(MachineModel, TakesZeroWhereItIsTheDefault) {
    std::string text;
    for (const char* name : {"link_seconds", "ranks_per_node", "node_bytes_per_second", "on_node_bytes_per_second",
                             "on_node_message_seconds", "half_rate_edge", "planning_seconds"})
        text += std::string(name) + " = 0\n";
    EXPECT_EQ(parse_machine_model(text, "a file"), MachineModel());
}

/// Products that were timed the way the model says give its constants back, and the rate of a third size.
TEST(MachineModel, KnowsHowFastProductsOfAnySizeAre) {
    MachineModel machine;
    EXPECT_EQ(machine.product_seconds(1e9, 3e6, 2), 2e9 / machine.flops_per_second) << "nothing is known of small ones";
    machine.half_rate_edge = 60;
    for (const double edge : {4.0, 60.0, 900.0}) {
        const double products = edge * edge * edge, rate = machine.flops_per_second / (1 + 60 / edge);
        EXPECT_NEAR(2 * products / machine.product_seconds(products, 3 * edge * edge, 2), rate, 1e-9 * rate);
        EXPECT_NEAR(8 * products / machine.product_seconds(products, 3 * edge * edge, 8), rate, 1e-9 * rate);
    }
    const double square = machine.product_seconds(1e6, 3e4, 2), flat = machine.product_seconds(1e6, 2 * 500 * 4 + 500 * 500, 2);
    EXPECT_GT(flat, square) << "as many multiplications, of a short summed index";
}

TEST(MachineModel, HasOtherConstantsWithinANode) {
    auto machine = some_machine();
    machine.interconnect.ranks_per_node = 4;
    for (const std::int64_t ranks : {1, 2, 4}) {
        const auto near = among_ranks(machine, ranks, 1);
        EXPECT_EQ(near.bytes_per_second, 6e9);
        EXPECT_EQ(near.message_seconds, 3e-7);
    }
    EXPECT_EQ(among_ranks(machine, 8, 8), machine) << "the file says how many are on a node";
    machine.interconnect.ranks_per_node = 0;
    EXPECT_EQ(among_ranks(machine, 8, 8).bytes_per_second, 6e9) << "as detected";
    EXPECT_EQ(among_ranks(machine, 8, 1), machine);
    EXPECT_EQ(among_ranks(MachineModel(), 8, 8), MachineModel()) << "nothing is known of distances";
}

TEST(MachineModel, TakesCommentsAndPartsOfTheConstants) {
    const auto machine = parse_machine_model("# mine\n\n  bytes_per_second=1e9 # slow\r\n\tcache_bytes = 1048576\n", "a file");
    EXPECT_EQ(machine.bytes_per_second, 1e9);
    EXPECT_EQ(machine.cache_bytes, 1048576);
    EXPECT_EQ(machine.flops_per_second, MachineModel().flops_per_second);
    EXPECT_EQ(parse_machine_model("", "a file"), MachineModel());
    EXPECT_EQ(default_machine(), MachineModel());
    const auto four = default_machine(4);
    EXPECT_EQ(four.flops_per_second, 4 * MachineModel().flops_per_second);
    EXPECT_EQ(parse_machine_model("message_seconds = 1\n", "a file", four).flops_per_second, four.flops_per_second);
}

TEST(MachineModel, SaysWhatIsWrongWithAFile) {
    const std::vector<std::array<std::string, 2>> wrong{{"flops_per_second 1e9", "name = value"},
                                                        {"flops = 1e9", "no constant \"flops\""},
                                                        {"\ncache_bytes = 0", "line 2"},
                                                        {"cache_bytes = -1", "positive"},
                                                        {"cache_bytes = nan", "positive"},
                                                        {"cache_bytes = inf", "positive"},
                                                        {"cache_bytes = 1e9999", "positive"},
                                                        {"cache_bytes = 1M", "positive"},
                                                        {"cache_bytes =", "positive"},
                                                        {"cache_bytes = 1\ncache_bytes = 1", "twice"},
                                                        {"torus = 4by4", "4by4"},
                                                        {"torus =", "not valid"},
                                                        {"link_bytes_per_second = 1 fast", "positive"},
                                                        {"link_bytes_per_second =", "positive"},
                                                        {"link_seconds = -1", "positive"},
                                                        {"half_rate_edge = -3", "positive"},
                                                        {"planning_seconds = none", "positive"},
                                                        {"on_node_bytes_per_second = -0.5", "positive"},
                                                        {"link_bytes_per_second = 0", "positive"},
                                                        {"bytes_per_second = 0", "positive"},
                                                        {"ranks_per_node = -1", "whole"},
                                                        {"on_node_message_seconds = 1us", "positive"},
                                                        {"ranks_per_node = 2.5", "whole"},
                                                        {"ranks_per_node = 1e30", "whole"},
                                                        {"ranks_per_node = 99999999999999999999", "whole"},
                                                        {"torus = 4x4\nlink_bytes_per_second = 1 2 3", "one for each dimension"},
                                                        {"levels = 4-4", "4-4"},
                                                        {"level_bytes_per_second = 1", "no levels"},
                                                        {"levels = 4x4\nlevel_bytes_per_second = 1 -1", "positive"},
                                                        {"levels = 4x4\nlevel_pair_bytes_per_second = 1 2 3", "one for each"},
                                                        {"levels = 4x4\ntorus = 16", "both"}};
    for (const auto& [text, part] : wrong) {
        try {
            parse_machine_model(text, "some.conf");
            ADD_FAILURE() << text;
        } catch (const InvalidArgument& error) {
            const std::string message = error.what();
            for (const auto& expected : {part, std::string("some.conf"), std::string("arges calibrate")})
                EXPECT_NE(message.find(expected), std::string::npos) << message;
            EXPECT_EQ(message.find('\n'), std::string::npos);
        }
    }
}

TEST(MachineModel, RefusesFilesThatCannotBeUsed) {
    const Folder folder;
    EXPECT_THROW(read_machine_model(folder.file("")), InvalidArgument);
    EXPECT_THROW(write_machine_model(folder.file(""), {}), InvalidArgument);
    EXPECT_THROW(write_machine_model("", {}), InvalidArgument);
    std::ofstream(folder.file("plain")) << "text";
    EXPECT_THROW(write_machine_model(folder.file("plain/machine.conf"), {}), InvalidArgument);
}

TEST(MachineModel, DevicesAreReadAndWritten) {
    auto machine = some_machine();
    machine.device = DeviceRates{.flops_per_second = 3e13, .link_bytes_per_second = 5e10};
    EXPECT_EQ(parse_machine_model(to_text(machine), "a file"), machine);
    EXPECT_FALSE(parse_machine_model("flops_per_second = 1e9\n", "a file").device);
    EXPECT_EQ(parse_machine_model("device_call_seconds = 2e-5\n", "a file").device, (DeviceRates{.call_seconds = 2e-5}));
    EXPECT_THROW(parse_machine_model("device_flops_per_second = 0\n", "a file"), InvalidArgument);
    EXPECT_FALSE(machine_with_device("h99", machine));
    const auto h100 = machine_with_device("h100", some_machine());
    ASSERT_TRUE(h100 && h100->device);
    EXPECT_EQ(h100->flops_per_second, some_machine().flops_per_second);
    const auto there = on_device(*h100);
    EXPECT_EQ(there.flops_per_second, h100->device->flops_per_second);
    EXPECT_LT(there.bytes_per_second, some_machine().bytes_per_second);  // messages pass through the host's memory
}

}  // namespace
}  // namespace arges::test
