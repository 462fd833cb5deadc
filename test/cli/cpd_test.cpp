// arges cpd and arges stats: results on any number of ranks, files, and wrong command lines.
#include "arges/world.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <nlohmann/json.hpp>

namespace arges::test {
namespace {

using Json = nlohmann::json;

const char* const yago = "test/data/yago-4d.tns.gz";

Json parsed(const ProgramOutcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out) : Json::object();
}

TEST(CpdProgram, PrintsOneObject) {
    const auto object = parsed(run_program({"cpd", yago, "--rank", "4", "--iterations", "5", "--tolerance", "0", "--json"}));
    EXPECT_NEAR(object["fit"].get<double>(), 0.04604365426096946, 1e-8);
    EXPECT_EQ(object["iterations"], 5);
    EXPECT_EQ(object["nonzeros"], 201089);
    EXPECT_EQ(object["lambda"].size(), 4U);
    for (const char* key : {"seconds_per_iteration", "distribution", "grid", "volume_rows_max", "nonzeros_max", "peak_memory_bytes", "converged",
                            "policy", "rows", "format", "memory_bytes_max", "read_seconds", "setup_seconds"})
        EXPECT_TRUE(object.contains(key)) << key;
}

TEST(CpdProgram, GivesTheSameFitInEveryWay) {
    const std::vector<const char*> common{"cpd", yago, "--rank", "3", "--iterations", "3", "--tolerance", "0", "--json"};
    const auto fit_with = [&](std::vector<const char*> more) {
        auto words = common;
        words.insert(words.end(), more.begin(), more.end());
        return parsed(run_program(words))["fit"].get<double>();
    };
    const double wanted = fit_with({});
    EXPECT_NEAR(fit_with({"--distribution", "coarse"}), wanted, 1e-9);
    EXPECT_NEAR(fit_with({"--distribution", "fine", "--rows", "even"}), wanted, 1e-9);
    EXPECT_NEAR(fit_with({"--grid", "greedy", "--policy", "set", "--rows", "claim"}), wanted, 1e-9);
    EXPECT_NEAR(fit_with({"--format", "linear"}), wanted, 1e-9);
    EXPECT_NEAR(fit_with({"--format", "coo"}), wanted, 1e-9);
    EXPECT_NEAR(fit_with({"--type", "float"}), wanted, 1e-7);
}

TEST(CpdProgram, SavesAndGoesOn) {
    const World world;
    const TemporaryFolder folder(world);
    const auto first = folder / "first", second = folder / "second";
    const auto run = [&](const char* iterations, std::vector<const char*> more) {
        std::vector<const char*> words{"cpd", yago, "--rank", "3", "--tolerance", "0", "--json", "--iterations", iterations};
        words.insert(words.end(), more.begin(), more.end());
        return parsed(run_program(words))["fit"].get<double>();
    };
    const double wanted = run("4", {});
    run("2", {"--output", first.c_str(), "--save-every", "1"});
    EXPECT_NEAR(run("2", {"--start", first.c_str(), "--seed", "7", "--output", second.c_str(), "--output-form", "text"}), wanted, 1e-9);
    EXPECT_GT(run("1", {"--start", second.c_str()}), wanted - 1e-9);
    const auto lambda = TemporaryFolder::read(second + "/lambda.txt");
    EXPECT_EQ(std::count(lambda.begin(), lambda.end(), '\n'), 3);
}

TEST(CpdProgram, ShowsItsIterations) {
    const World world;
    const auto outcome = run_program({"cpd", yago, "--rank", "2", "--iterations", "2", "--tolerance", "0"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text : {"201,089 nonzeros", "iteration", "mttkrp", "after 2 iterations", "distribution", "rows moved per iteration"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
}

TEST(CpdProgram, RefusesWrongLinesAndFiles) {
    const World world;
    const TemporaryFolder folder(world);
    const auto one = folder.write("one.tns", "1 1 1 1.5\n2 2 2 2.5\n"), zero = folder.write("zeros.tns", "1 1 1 0\n"),
               parts = folder.write("parts.txt", "0\n0\n0\n"), letters = folder.write("letters.txt", "0\nzero\n"),
               text = folder.write("text.tns", "this is no tensor\n"), empty = folder.write("empty.tns", ""), comments = folder.write("comments.tns", "# none\n"),
               short_line = folder.write("short.tns", "1 1 1 1\n2 2 2\n"), not_finite = folder.write("nan.tns", "1 1 1 nan\n"),
               based = folder.write("based.tns", "0 1 1 3\n"), file = folder.write("file", "x"), inside = file + "/sub", missing = folder / "none.tns";
    const auto yago_start = folder / "yago";
    run_program({"cpd", one.c_str(), "--rank", "1", "--iterations", "1", "--output", yago_start.c_str(), "--json"});
    const auto mixed = folder / "mixed";
    run_program({"cpd", one.c_str(), "--rank", "2", "--iterations", "1", "--output", mixed.c_str(), "--json"});
    folder.write("mixed/mode_1.npy", TemporaryFolder::read(yago_start + "/mode_1.npy"));
    check_wrong_lines({
        {{"cpd"}, 2, "FILE"},
        {{"cpd", one.c_str(), "--rank", "0"}, 2, "--rank"},
        {{"cpd", one.c_str(), "--rank", "two"}, 2, "--rank"},
        {{"cpd", one.c_str(), "--algorithm", "sgd"}, 2, "--algorithm"},
        {{"cpd", one.c_str(), "--iterations", "0"}, 2, "--iterations"},
        {{"cpd", one.c_str(), "--tolerance", "-1"}, 2, "--tolerance"},
        {{"cpd", one.c_str(), "--save-every", "3", "--json"}, 1, "--output"},
        {{"cpd", missing.c_str(), "--json"}, 1, "none.tns"},
        {{"cpd", text.c_str(), "--json"}, 1, "line 1"},
        {{"cpd", empty.c_str(), "--json"}, 1, "empty"},
        {{"cpd", comments.c_str(), "--json"}, 1, "comments.tns"},
        {{"cpd", short_line.c_str(), "--json"}, 1, "line 2"},
        {{"cpd", not_finite.c_str(), "--json"}, 1, "finite"},
        {{"cpd", based.c_str(), "--base", "one", "--json"}, 1, "index 0"},
        {{"cpd", zero.c_str(), "--json"}, 1, "zero"},
        {{"cpd", one.c_str(), "--distribution", "grainy"}, 2, "grainy"},
        {{"cpd", one.c_str(), "--grid", "5x5x5", "--json"}, 1, "5x5x5"},
        {{"cpd", one.c_str(), "--grid", "2x2", "--json"}, 1, "2x2"},
        {{"cpd", one.c_str(), "--policy", "ordered-0"}, 2, "ordered"},
        {{"cpd", one.c_str(), "--rows", "none"}, 2, "none"},
        {{"cpd", one.c_str(), "--format", "csr"}, 2, "csr"},
        {{"cpd", one.c_str(), "--distribution", "fine", "--partition", parts.c_str(), "--json"}, 1, "parts.txt"},
        {{"cpd", one.c_str(), "--distribution", "fine", "--partition", letters.c_str(), "--json"}, 1, "line 2"},
        {{"cpd", one.c_str(), "--partition", parts.c_str(), "--json"}, 1, "fine"},
        {{"cpd", yago, "--rank", "1", "--start", yago_start.c_str(), "--json"}, 1, "start"},
        {{"cpd", one.c_str(), "--start", missing.c_str(), "--json"}, 1, "none.tns"},
        {{"cpd", one.c_str(), "--rank", "2", "--start", mixed.c_str(), "--json"}, 1, "the folder mixes files of two decompositions"},
        {{"cpd", one.c_str(), "--rank", "1", "--iterations", "1", "--json", "--output", inside.c_str()}, 1, "sub"},
        {{"stats", missing.c_str()}, 1, "none.tns"},
        {{"stats", one.c_str(), "--parts", "0"}, 2, "--parts"},
        {{"stats", one.c_str(), "--rows", "all"}, 2, "--rows"},
    });
}

/// Golden figures: SPLATT's grid and layers on 4 ranks.
TEST(StatsProgram, CountsDistributions) {
    const auto object = parsed(run_program({"stats", "test/data/wn18rr-3d.tns.gz", "--parts", "4", "--rows", "claim", "--json"}));
    EXPECT_EQ(object["nonzeros"], 86835);
    EXPECT_EQ(object["modes"][2]["heaviest_nonzeros"], 34796);
    bool found = false;
    for (const auto& row : object["ranks"][0]["distributions"]) {
        if (row["distribution"] != "medium, greedy grid" || row["policy"] != "nnz") continue;
        found = true;
        EXPECT_EQ(row["grid"], "2x2x1");
        EXPECT_EQ(row["volume_rows_max"], 26646);
    }
    EXPECT_TRUE(found);
    const auto table = run_program({"stats", yago, "--parts", "2,3"});
    EXPECT_EQ(table.code, 0);
    EXPECT_NE(table.out.find("r_nnz"), std::string::npos);
    EXPECT_NE(table.out.find("6,480"), std::string::npos);
}

}  // namespace
}  // namespace arges::test
