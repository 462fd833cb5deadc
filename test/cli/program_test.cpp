#include "cli/program.hpp"

#include "base/options.hpp"
#include "cli/world_options.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace arges::cli {
namespace {

struct Outcome {
    int code = 0;
    std::string out, err;
};

Outcome run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "arges");
    std::ostringstream out, err;
    const int code = run_program(static_cast<int>(arguments.size()), arguments.data(), {out, err});
    return {code, out.str(), err.str()};
}

const char* const water = "examples/data/h2o_sto3g.fcidump";

TEST(Program, tells_version_and_help) {
    EXPECT_EQ(run({"--version"}).code, exit_success);
    EXPECT_EQ(run({"--version"}).out.substr(0, 6), "arges ");
    const Outcome help = run({"--help"});
    EXPECT_EQ(help.code, exit_success);
    EXPECT_NE(help.out.find("ccsd"), std::string::npos);
    EXPECT_NE(run({"ccsd", "--help"}).out.find("--max-iterations"), std::string::npos);
}

struct WrongLine {
    std::vector<const char*> arguments;
    int code;
    const char* message;
};

TEST(Program, answers_a_wrong_command_line_with_one_line) {
    const std::vector<WrongLine> lines{
        {{}, exit_usage, "subcommand"},
        {{"cccsd"}, exit_usage, "cccsd"},
        {{"--frob"}, exit_usage, "--frob"},
        {{"ccsd"}, exit_usage, "FILE"},
        {{"ccsd", water, "second"}, exit_usage, "second"},
        {{"ccsd", water, "--method", "ccsdt"}, exit_usage, "ccsdt"},
        {{"ccsd", water, "--max-iterations", "0"}, exit_usage, "--max-iterations"},
        {{"ccsd", water, "--max-iterations", "ten"}, exit_usage, "--max-iterations"},
        {{"ccsd", water, "--tolerance", "-1"}, exit_usage, "positive"},
        {{"ccsd", water, "--tolerance", "nan"}, exit_usage, "positive"},
        {{"ccsd", water, "--torus", "2 by 2"}, exit_usage, "--torus"},
        {{"ccsd", water, "--memory", "2Q"}, exit_usage, "2Q"},
        {{"ccsd", water, "--torus", "1000x1000"}, exit_error, "torus"},
        {{"ccsd", "no_such.fcidump"}, exit_error, "no_such.fcidump: there is no such file"},
        {{"ccsd", "examples"}, exit_error, "directory"},
        {{"ccsd", "Makefile"}, exit_error, "Makefile, line 1"},
        {{"ccsd", water, "--max-iterations", "2"},
         exit_error,
         "did not converge after 2 iterations"},
    };
    for (const auto& line : lines) {
        const Outcome outcome = run(line.arguments);
        EXPECT_EQ(outcome.code, line.code) << line.message;
        EXPECT_TRUE(outcome.err.starts_with("arges: error: ")) << outcome.err;
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
        EXPECT_NE(outcome.err.find(line.message), std::string::npos) << outcome.err;
    }
}

TEST(Program, prints_one_json_object_and_nothing_else) {
    const Outcome outcome = run({"ccsd", water, "--method", "ccsd(t)", "--json"});
    ASSERT_EQ(outcome.code, exit_success) << outcome.err;
    const auto object = nlohmann::json::parse(outcome.out);
    for (const char* key : {"scf", "mp2", "ccsd", "ccsd(t)", "iterations", "seconds_per_iteration",
                            "peak_memory_bytes", "forecast_memory_bytes", "ranks"})
        EXPECT_TRUE(object.contains(key)) << key;
    EXPECT_NEAR(object["ccsd(t)"].get<double>(), -0.07077996564911129, 1e-8);
    EXPECT_FALSE(nlohmann::json::parse(run({"ccsd", water, "--method", "mp2", "--json"}).out)
                     .contains("ccsd"));
}

TEST(Program, prints_a_table_of_iterations_and_energies) {
    const Outcome outcome = run({"ccsd", water});
    EXPECT_EQ(outcome.code, exit_success) << outcome.err;
    for (const char* text : {"iteration", "residual", "SCF total", "MP2 correlation",
                             "CCSD correlation", "-0.07068008"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
}

TEST(ParseBytes, reads_units_that_are_powers_of_1024) {
    EXPECT_EQ(parse_bytes("1500", "a size"), 1500);
    EXPECT_EQ(parse_bytes("2G", "a size"), std::int64_t(2) << 30);
    EXPECT_EQ(parse_bytes("1.5K", "a size"), 1536);
    for (const char* wrong : {"", "G", "2Gx", "-1", "0", "1e30T", "nan"})
        EXPECT_THROW(parse_bytes(wrong, "a size"), InvalidArgument);
    EXPECT_EQ(format_bytes(512), "512 bytes");
    EXPECT_EQ(format_bytes(3 << 19), "1.5 MB");
}

}  // namespace
}  // namespace arges::cli
