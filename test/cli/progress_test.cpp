// What runs say while they go on, how long they may, what names they know, and how wide their tables are.
#include "cli/program.hpp"

#include "arges/world.hpp"
#include "cli/json_output.hpp"
#include "cli/waiting_threads.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace arges::test {
namespace {

/// What a run writes to standard error, by itself.
std::string said_by(const std::vector<const char*>& words, ProgramOutcome& outcome) {
    testing::internal::CaptureStderr();
    outcome = run_program(words);
    return testing::internal::GetCapturedStderr();
}

/// Iterations end with the time, and lines come after 2 and 4 seconds, on one rank.
TEST(Progress, ComesInLinesWhereThereIsNoTerminal) {
    const World world;
    const TemporaryFolder folder(world);
    const auto out = folder / "out";
    ProgramOutcome outcome;
    const auto said = said_by(
        {"cpd", yago, "--rank", "4", "--iterations", "1000000", "--tolerance", "0", "--seconds", "5", "--json", "--output", out.c_str()},
        outcome);
    const auto found = parsed(outcome);
    EXPECT_EQ(found["stop_reason"], "seconds");
    EXPECT_FALSE(found["converged"]);
    EXPECT_FALSE(TemporaryFolder::read(out + "/description.json").empty());
    std::istringstream lines(said);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_TRUE(line.starts_with("arges: ")) << line;
        EXPECT_NE(line.find(" s: "), std::string::npos) << line;
    }
    EXPECT_EQ(count > 0, world.rank() == 0) << said;
    EXPECT_LE(count, 4) << said;
}

TEST(Progress, ComesAsJson) {
    const World world;
    for (const std::vector<const char*>& command : {std::vector<const char*>{"cpd", yago, "--rank", "2"},
                                                    {"complete", yago, "--rank", "2"},
                                                    {"tucker", yago, "--ranks", "2,2,2,2"},
                                                    {"cc", "examples/data/h2o_sto3g.fcidump"}}) {
        SCOPED_TRACE(command[0]);
        auto words = command;
        words.insert(words.end(), {"--progress", "json"});
        if (command[0] != std::string("cc")) words.insert(words.end(), {"--iterations", "3", "--fit-tolerance", "0"});
        if (command[0] == std::string("cpd") || command[0] == std::string("complete")) words[words.size() - 2] = "--tolerance";
        ProgramOutcome outcome;
        std::istringstream lines(said_by(words, outcome));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        int iterations = 0;
        for (std::string line; std::getline(lines, line);) {
            const auto object = Json::parse(line);
            EXPECT_TRUE(object["seconds"].is_number());
            iterations += object.contains("iteration") ? 1 : 0;
        }
        EXPECT_EQ(iterations >= 3, world.rank() == 0);
        words[command.size() + 1] = "none";
        EXPECT_EQ(said_by(words, outcome), "");
        EXPECT_EQ(outcome.code, 0) << outcome.err;
    }
}

TEST(Progress, EndsInTime) {
    for (std::vector<const char*> words : {std::vector<const char*>{"complete", yago, "--rank", "2", "--tolerance", "0"},
                                           {"tucker", yago, "--ranks", "2,2,2,2", "--fit-tolerance", "0"}}) {
        words.insert(words.end(), {"--iterations", "1000000", "--seconds", "0.2"});
        const auto table = run_program(words);
        EXPECT_NE(table.out.find("the time of the iterations is over (--seconds)"), std::string::npos) << table.out << table.err;
        words.push_back("--json");
        EXPECT_EQ(parsed(run_program(words))["stop_reason"], "seconds");
    }
    const World world;
    const TemporaryFolder folder(world);
    const auto amplitudes = folder / "t.h5";
    const char* const water = "examples/data/h2o_sto3g.fcidump";
    const auto late = run_program({"cc", water, "--json", "--seconds", "1e-9", "--checkpoint", amplitudes.c_str()});
    EXPECT_EQ(late.code, 1);
    EXPECT_NE(late.err.find("did not converge after 1 iterations"), std::string::npos) << late.err;
    EXPECT_NE(late.err.find("when the time was over; go on from a checkpoint"), std::string::npos) << late.err;
    const auto rest = run_program({"cc", water, "--json", "--checkpoint", amplitudes.c_str(), "--restart", "--seconds", "100"});
    EXPECT_GT(parsed(rest)["iterations"], 2);
    check_wrong_lines({{{"cpd", yago, "--seconds", "0"}, 2, "--seconds"}, {{"cpd", yago, "--seconds", "soon"}, 2, "--seconds"}});
}

/// As Python has them.
TEST(Vocabulary, HasTheNamesOfThePackage) {
    const auto words = parsed(run_program({"cpd", yago, "--rank", "2", "--algorithm", "nonnegative", "--max-iterations", "2", "--json"}));
    EXPECT_EQ(words["algorithm"], "nn");
    EXPECT_EQ(words["iterations"], 2);
    const World world;
    const TemporaryFolder folder(world);
    const auto text = folder.write("a.tns", "1 1 1 1.5\n2 2 2 2.5\n");
    const auto refused = run_program({"tucker", text.c_str(), "--method", "st_hosvd", "--relative-error", "0.1"});
    EXPECT_NE(refused.err.find("by hooi and nonnegative only"), std::string::npos) << refused.err;
}

TEST(Tables, AreAtMostAHundredLettersWide) {
    const std::string name(20, 'n'), cell(30, 'c');
    const auto text = cli::table({{"name", "a", "b", "c", "d"}, {name, cell, cell, cell, "5"}}, {true, false, false, false, false});
    EXPECT_EQ(text, "name" + std::string(16, ' ') + std::string(31, ' ') + "a" + std::string(31, ' ') + "b\n" + name + "  " + cell + "  " +
                        cell + "\n\nname" + std::string(16, ' ') + std::string(31, ' ') + "c  d\n" + name + "  " + cell + "  5\n");
    const auto stats = run_program({"stats", "test/data/wn18rr-3d.tns.gz", "--parts", "4"});
    std::istringstream lines(stats.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(WaitingThreads, YieldUnlessSomebodySaysHow) {
    const char* const names[] = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"};
    std::vector<std::string> before;
    for (const char* name : names) {
        before.emplace_back(std::getenv(name) != nullptr ? std::getenv(name) : "");
        unsetenv(name);
    }
    EXPECT_EQ(cli::setting_for_waiting_threads(1), "");
    EXPECT_EQ(cli::setting_for_waiting_threads(2), "GOMP_SPINCOUNT=1000");
    for (const char* name : names) {
        setenv(name, "7", 1);
        EXPECT_EQ(cli::setting_for_waiting_threads(2), "");
        EXPECT_EQ(cli::waiting_threads_text(), std::string(name) + "=7");
        unsetenv(name);
    }
    for (std::size_t i = 0; i < before.size(); ++i)
        if (!before[i].empty()) setenv(names[i], before[i].c_str(), 1);
}

}  // namespace
}  // namespace arges::test
