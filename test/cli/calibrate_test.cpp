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
         {"flops_per_second", "bytes_per_second", "copied_bytes_per_second", "message_seconds", "listed_element_seconds", "cache_bytes"})
        EXPECT_GT(machine[key].get<double>(), 0) << key;
    EXPECT_EQ(machine["ranks"], World().size());
    EXPECT_EQ(machine["network_measured"].get<bool>(), World().size() > 1);
    if (World().rank() == 0) {
        EXPECT_TRUE(std::ifstream(removed.file).good());
    }
}

TEST(Calibrate, PrintsATable) {
    const Removed removed{file_name("table")};
    const MachineFile setting(removed.file);
    const auto outcome = run_program({"calibrate"});
    EXPECT_EQ(outcome.code, exit_success) << outcome.err;
    for (const char* text : {"Gflop/s", "between ranks", "stored in "}) EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
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
    check_wrong_lines({{{"calibrate", "file"}, exit_usage, "file"},
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
