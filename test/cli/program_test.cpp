#include "cli/program.hpp"

#include "base/options.hpp"
#include "cli/world_options.hpp"

#include "arges/error.hpp"
#include "io/temporary_folder.hpp"

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
    EXPECT_NE(help.out.find("coupled cluster"), std::string::npos);
    EXPECT_NE(run({"cc", "--help"}).out.find("--max-iterations"), std::string::npos);
}

/// Without its last line, the core energy, a file looks whole.
TEST(Program, takes_the_core_energy_that_a_file_has_not) {
    const World world;
    const test::TemporaryFolder folder(world);
    const std::string text = test::TemporaryFolder::read(water);
    const std::size_t last = text.rfind('\n', text.size() - 2) + 1, begin = text.find_first_not_of(' ', last);
    const std::string cut = folder.write("cut.fcidump", text.substr(0, last)), again = folder / "again.fcidump",
                      option = "--core-energy=" + text.substr(begin, text.find(' ', begin) - begin);
    const Outcome refused = run({"cc", cut.c_str(), "--method", "mp2", "--json"});
    EXPECT_EQ(refused.code, exit_error);
    EXPECT_NE(refused.err.find("the core energy is missing"), std::string::npos) << refused.err;
    const auto scf = [&](std::vector<const char*> words) { return nlohmann::json::parse(run(std::move(words)).out)["scf"].get<double>(); };
    EXPECT_EQ(scf({"cc", cut.c_str(), "--method", "mp2", "--json", option.c_str()}), scf({"cc", water, "--method", "mp2", "--json"}));
    EXPECT_EQ(run({"convert", cut.c_str(), again.c_str()}).code, exit_error);
    EXPECT_EQ(run({"convert", cut.c_str(), again.c_str(), option.c_str()}).code, exit_success);
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
        {{"conver", "a", "b"}, exit_usage, "; did you mean convert? (see"},
        {{"cdp", "a"}, exit_usage, "; did you mean cpd? (see"},
        {{"cc", water, "--tollerance", "1e-9"}, exit_usage, "; did you mean --tolerance? (see"},
        {{"cc", water, "--max-iteration=3"}, exit_usage, "; did you mean --max-iterations? (see"},
        {{"cpd", water, "--algorithm", "asl"}, exit_usage, "--algorithm: asl not in {als,nn,opt,sgd}; did you mean als? (see"},
        {{"tucker", water, "--method", "hosvdd"}, exit_usage, "; did you mean hosvd? (see"},
        {{"complete", water, "--progress", "jsno"}, exit_usage, "; did you mean json? (see"},
        {{"cc", water, "--frozencore", "1"}, exit_usage, "; did you mean --frozen-core? (see"},
        {{"--frob"}, exit_usage, "--frob"},
        {{"cc"}, exit_usage, "FILE"},
        {{"cc", water, "second"}, exit_usage, "second"},
        {{"cc", water, "--method", "cscd"}, exit_usage, "'cscd'; use mp2, ccsd, ccsd(t)"},
        {{"cc", water, "--method", "ccsd[t]"}, exit_usage, "ccsd[t]"},
        {{"cc", water, "--diis", "-1"}, exit_usage, "--diis"},
        {{"cc", water, "--frozen-core", "one"}, exit_usage, "'one' must be a number of orbitals, or auto"},
        {{"cc", water, "--frozen-core", "-1"}, exit_usage, "'-1' must be a number of orbitals"},
        {{"cc", water, "--frozen-core", "6"}, exit_error, "at most 5 are occupied in both spins"},
        {{"cc", water, "--frozen-virtuals", "-1"}, exit_usage, "--frozen-virtuals"},
        {{"cc", water, "--restart"}, exit_usage, "--checkpoint"},
        {{"cc", water, "--checkpoint-every", "3"}, exit_usage, "--checkpoint"},
        {{"cc", water, "--checkpoint", "a.h5", "--checkpoint-every", "0"}, exit_usage, "--checkpoint-every"},
        {{"cc", water, "--checkpoint", "no_such_folder/a.h5"}, exit_error, "no_such_folder"},
        {{"cc", water, "--checkpoint", water, "--restart"}, exit_error, "h2o_sto3g"},
        {{"cc", water, "--max-iterations", "0"}, exit_usage, "--max-iterations"},
        {{"cc", water, "--max-iterations", "ten"}, exit_usage, "--max-iterations"},
        {{"cc", water, "--tolerance", "-1"}, exit_usage, "positive"},
        {{"cc", water, "--tolerance", "nan"}, exit_usage, "positive"},
        {{"cc", water, "--torus", "2 by 2"}, exit_usage, "--torus"},
        {{"cc", water, "--memory", "2Q"}, exit_usage, "2Q"},
        {{"cc", water, "--group-mapping", "cyclic"}, exit_usage, "use packed, blocks or best"},
        {{"cc", water, "--torus", "1000x1000"}, exit_error, "torus"},
        {{"cc", "no_such.fcidump"}, exit_error, "no_such.fcidump: there is no such file"},
        {{"cc", "examples"}, exit_error, "directory"},
        {{"cc", "Makefile"}, exit_error, "Makefile, line 1"},
        {{"cc", water, "--max-iterations", "2"}, exit_error, "did not converge after 2 iterations"},
    };
    for (const auto& line : lines) {
        const Outcome outcome = run(line.arguments);
        EXPECT_EQ(outcome.code, line.code) << line.message;
        EXPECT_TRUE(outcome.err.starts_with("arges: error: ")) << outcome.err;
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
        EXPECT_NE(outcome.err.find(line.message), std::string::npos) << outcome.err;
    }
}

TEST(Program, takes_groups_in_any_mapping) {
    for (const char* mapping : {"packed", "blocks", "best"}) {
        const Outcome outcome = run({"cc", water, "--group-mapping", mapping, "--json"});
        ASSERT_EQ(outcome.code, exit_success) << outcome.err;
        EXPECT_NEAR(nlohmann::json::parse(outcome.out)["ccsd"].get<double>(), -0.0706800883767624, 1e-8) << mapping;
    }
}

TEST(Program, prints_one_json_object_and_nothing_else) {
    const Outcome outcome = run({"cc", water, "--method", "ccsd(t)", "--json"});
    ASSERT_EQ(outcome.code, exit_success) << outcome.err;
    const auto object = nlohmann::json::parse(outcome.out);
    for (const char* key :
         {"scf", "mp2", "ccsd", "ccsd(t)", "iterations", "seconds_per_iteration", "peak_memory_bytes", "forecast_memory_bytes", "ranks"})
        EXPECT_TRUE(object.contains(key)) << key;
    EXPECT_NEAR(object["ccsd(t)"].get<double>(), -0.07077996564911129, 1e-8);
    EXPECT_FALSE(nlohmann::json::parse(run({"cc", water, "--method", "mp2", "--json"}).out).contains("ccsd"));
    for (const auto& [method, energy] :
         {std::pair{"rccsd", -0.0706800883767624}, {"rccsd(t)", -0.07077996564911129}, {"ccsdt", -0.070812807700799}}) {
        const auto other = nlohmann::json::parse(run({"cc", water, "--method", method, "--json"}).out);
        EXPECT_NEAR(other[method].get<double>(), energy, 1e-8) << method;
    }
}

// Only what a plan can know, and for other numbers of ranks than there are.
TEST(Program, plans_coupled_cluster_without_computing) {
    const Outcome text = run({"cc", water, "--method", "ccsd(t)", "--dry"});
    ASSERT_EQ(text.code, exit_success) << text.err;
    for (const char* part : {"memory forecast", "estimate", "reading", "preparation", "iteration", "(T)"})
        EXPECT_NE(text.out.find(part), std::string::npos) << part;
    EXPECT_EQ(text.out.find("total"), std::string::npos) << text.out;
    const auto plan = [](const char* ranks) {
        return nlohmann::json::parse(run({"cc", water, "--method", "rccsd(t)", "--dry", "--ranks", ranks, "--json"}).out);
    };
    const auto one = plan("1"), many = plan("64");
    EXPECT_EQ(one["ranks"], 1);
    EXPECT_EQ(many["ranks"], 64);
    for (const char* result : {"scf", "rccsd", "iterations", "peak_memory_bytes"}) EXPECT_FALSE(one.contains(result)) << result;
    for (const char* part : {"reading", "preparation", "iteration", "(T)"}) {
        EXPECT_GT(one["forecast_seconds"][part].get<double>(), 0) << part;
    }
    EXPECT_GT(one["forecast_seconds"]["reading"].get<double>(), many["forecast_seconds"]["reading"].get<double>());
    EXPECT_EQ(run({"cc", water, "--ranks", "4"}).code, exit_usage);
}

// The torus is that of the planned ranks, whatever was started.
TEST(Program, plans_coupled_cluster_on_a_torus) {
    const auto plan = [](std::vector<const char*> more) {
        std::vector<const char*> words{"cc", water, "--method", "rccsd", "--dry", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, exit_success) << outcome.err;
        return nlohmann::json::parse(outcome.out);
    };
    const auto cube = plan({"--ranks", "512", "--torus", "8x8x8"}), implied = plan({"--torus", "8x8x8"}),
               nodes = plan({"--ranks", "512", "--ranks-per-node", "4"});
    EXPECT_EQ(cube["ranks"], 512);
    EXPECT_EQ(cube["torus"], "8x8x8");
    EXPECT_EQ(implied["torus"], cube["torus"]);
    EXPECT_EQ(implied["forecast_seconds"], cube["forecast_seconds"]);
    EXPECT_EQ(nodes["torus"], "4x128");
    const Outcome wrong = run({"cc", water, "--dry", "--ranks", "100", "--torus", "8x8x8"});
    EXPECT_EQ(wrong.code, exit_error);
    EXPECT_NE(wrong.err.find("holds 512 ranks, but there are 100"), std::string::npos) << wrong.err;
}

TEST(Program, prints_a_table_of_iterations_and_energies) {
    const Outcome outcome = run({"cc", water});
    EXPECT_EQ(outcome.code, exit_success) << outcome.err;
    for (const char* text : {"iteration", "residual", "SCF total", "MP2 correlation", "CCSD correlation", "-0.07068008"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
}

TEST(ParseBytes, reads_units_that_are_powers_of_1024) {
    EXPECT_EQ(parse_bytes("1500", "a size"), 1500);
    EXPECT_EQ(parse_bytes("2G", "a size"), std::int64_t(2) << 30);
    EXPECT_EQ(parse_bytes("1.5K", "a size"), 1536);
    for (const char* wrong : {"", "G", "2Gx", "-1", "0", "1e30T", "nan"}) EXPECT_THROW(parse_bytes(wrong, "a size"), InvalidArgument);
    EXPECT_EQ(format_bytes(512), "512 bytes");
    EXPECT_EQ(format_bytes(3 << 19), "1.5 MB");
}

}  // namespace
}  // namespace arges::cli
