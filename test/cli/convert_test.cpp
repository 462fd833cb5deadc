#include "cli/json_output.hpp"
#include "support/program_run.hpp"

#include "io/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace arges::test {
namespace {

TEST(Convert, goes_from_text_to_binary_and_back) {
    const World world;
    const TemporaryFolder folder(world);
    const auto text = folder.write("x.tns", "# three\n1 1 4 1.5\n2 3 4 -2\n1 1 4 0.5\n"), binary = folder / "x.atns",
               again = folder / "y.tns";
    const auto first = run_program({"convert", text.c_str(), binary.c_str(), "--json"});
    ASSERT_EQ(first.code, cli::exit_success) << first.err;
    const auto object = nlohmann::json::parse(first.out);
    EXPECT_EQ(object["form"], "text");
    EXPECT_EQ(object["lines"], 4);
    EXPECT_EQ(object["index_base"], 1);
    EXPECT_EQ(object["duplicates"], 1);
    EXPECT_EQ(object["nonzeros"], 2);
    EXPECT_EQ(object["lengths"], (std::vector<int>{2, 3, 4}));
    EXPECT_EQ(object["nonempty_slices"], (std::vector<int>{2, 2, 1}));
    const auto second = run_program({"convert", binary.c_str(), again.c_str(), "--output-base", "zero"});
    ASSERT_EQ(second.code, cli::exit_success) << second.err;
    EXPECT_NE(second.out.find("nonempty slices"), std::string::npos);
    EXPECT_EQ(TemporaryFolder::read(again), "0 0 3 2\n1 2 3 -2\n");
}

TEST(Convert, removes_empty_slices_and_writes_maps) {
    const World world;
    const TemporaryFolder folder(world);
    const auto text = folder.write("x.tns", "1 50 1\n900 7 2\n"), compact = folder / "c.tns";
    const auto outcome = run_program({"convert", text.c_str(), compact.c_str(), "--compact"});
    ASSERT_EQ(outcome.code, cli::exit_success) << outcome.err;
    EXPECT_EQ(TemporaryFolder::read(compact), "1 2 1\n2 1 2\n");
    EXPECT_EQ(TemporaryFolder::read(folder / "mode_1.map"), "1\n900\n");
    EXPECT_EQ(TemporaryFolder::read(folder / "mode_2.map"), "7\n50\n");
}

TEST(Convert, goes_from_integrals_in_text_to_trexio_and_back) {
    const World world;
    const TemporaryFolder folder(world);
    const std::string text = "examples/data/h2o_sto3g.fcidump", binary = folder / "water.h5", again = folder / "water.fcidump";
    const auto first = run_program({"convert", text.c_str(), binary.c_str(), "--json"});
    ASSERT_EQ(first.code, cli::exit_success) << first.err;
    const auto object = nlohmann::json::parse(first.out);
    EXPECT_EQ(object["form"], "FCIDUMP");
    EXPECT_EQ(object["orbitals"], 7);
    EXPECT_EQ(object["electrons"], 10);
    EXPECT_EQ(object["round_off_repeats"], 106);
    const auto second = run_program({"convert", binary.c_str(), again.c_str()});
    ASSERT_EQ(second.code, cli::exit_success) << second.err;
    EXPECT_NE(second.out.find("water.h5, TREXIO"), std::string::npos) << second.out;
    EXPECT_NE(second.out.find("5 alpha, 5 beta"), std::string::npos) << second.out;
    for (const auto& file : {text, binary, again}) {
        const auto energies = run_program({"cc", file.c_str(), "--method", "mp2", "--json"});
        ASSERT_EQ(energies.code, cli::exit_success) << energies.err;
        EXPECT_NEAR(nlohmann::json::parse(energies.out)["mp2"].get<double>(), -0.049149636120, 1e-12) << file;
    }
}

/// Hypergraphs in hMETIS form, and partitions of them, which cpd takes.
TEST(Convert, writes_hypergraphs_for_other_partitioners) {
    const World world;
    const TemporaryFolder folder(world);
    const auto text = folder.write("x.tns", "1 1 4 1.5\n2 3 4 -2\n2 1 4 1\n"), graph = folder / "x.hgr", parts = folder / "x.part";
    const auto written = [&](std::vector<const char*> more) {
        std::vector<const char*> words{"convert", text.c_str(), graph.c_str(), "--json", "--overwrite"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.code, cli::exit_success) << outcome.err;
        const auto object = nlohmann::json::parse(outcome.out);
        EXPECT_EQ(object["nets"], 5);
        EXPECT_EQ(object["bytes_written"], TemporaryFolder::read(graph).size());
        return TemporaryFolder::read(graph);
    };
    EXPECT_EQ(written({}), "5 3\n1\n2 3\n1 3\n2\n1 2 3\n");
    EXPECT_EQ(written({"--model", "coarse"}), "5 5 10 3\n1 3 5\n2 3 4 5\n1 2 3 5\n2 4 5\n1 2 3 4 5\n"
                                              "1 0 0\n2 0 0\n0 2 0\n0 1 0\n0 0 3\n");
    EXPECT_EQ(written({"--model", "coarse-opt"}), "5 5 10\n1 3 5\n2 3 4 5\n1 2 3 5\n2 4 5\n1 2 3 4 5\n1\n2\n2\n1\n3\n");
    const auto table = run_program({"convert", text.c_str(), graph.c_str(), "--model", "coarse", "--overwrite"});
    EXPECT_NE(table.out.find("5 nonempty slices, ascending, mode after mode"), std::string::npos) << table.out;

    const auto fit_with = [&](std::vector<const char*> more) {
        std::vector<const char*> words{"cpd", text.c_str(), "--rank", "1", "--iterations", "3", "--tolerance", "0", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.code, cli::exit_success) << outcome.err;
        return nlohmann::json::parse(outcome.out)["fit"].get<double>();
    };
    const auto last = std::to_string(world.size() - 1) + "\n";
    folder.write("x.part", "0\n" + last + "0\n" + last + "0\n");
    EXPECT_NEAR(fit_with({"--distribution", "coarse", "--partition", parts.c_str()}), fit_with({}), 1e-9);
    folder.write("x.part", last + "0\n" + last);
    EXPECT_NEAR(fit_with({"--distribution", "fine", "--partition", parts.c_str()}), fit_with({}), 1e-9);
}

TEST(Convert, answers_a_wrong_command_with_one_line) {
    const World world;
    const TemporaryFolder folder(world);
    const auto twice = folder.write("x.tns", "1 1 4\n1 1 5\n"), out = folder / "x.atns", integrals = folder / "x.h5",
               graph = folder / "x.hgr";
    check_wrong_lines({
        {{"convert"}, cli::exit_usage, "IN"},
        {{"convert", yago}, cli::exit_usage, "OUT"},
        {{"convert", yago, "x.bin"}, cli::exit_usage, "end it with .tns or .tns.gz (text), .atns"},
        {{"convert", yago, out.c_str(), "--base", "two"}, cli::exit_usage, "two"},
        {{"convert", yago, out.c_str(), "--duplicates", "never"}, cli::exit_usage, "never"},
        {{"convert", yago, out.c_str(), "--lengths", "3x"}, cli::exit_usage, "'3x' must be lengths"},
        {{"convert", yago, out.c_str(), "--lengths", "3x4"}, cli::exit_error, "5 columns, but 2 lengths are demanded"},
        {{"convert", yago, out.c_str(), "--maps", "/tmp"}, cli::exit_usage, "--compact"},
        {{"convert", "none.tns", out.c_str()}, cli::exit_error, "none.tns: there is no such file"},
        {{"convert", twice.c_str(), out.c_str(), "--duplicates", "refuse"}, cli::exit_error, "line 2: a second value for element (1, 1)"},
        {{"convert", twice.c_str(), "/none/x.atns"}, cli::exit_error, "/none/x.atns: cannot be made"},
        {{"convert", yago, "x.bin"}, cli::exit_usage, "for integrals .fcidump (text) or .h5 (TREXIO)"},
        {{"convert", twice.c_str(), integrals.c_str()}, cli::exit_error, "an FCIDUMP file begins with &FCI"},
        {{"convert", "examples/data/h2o_sto3g.fcidump", integrals.c_str(), "--compact"}, cli::exit_usage, "and this is for sparse tensors"},
        {{"convert", yago, graph.c_str(), "--model", "medium"}, cli::exit_usage, "medium"},
        {{"convert", yago, graph.c_str(), "--compact"}, cli::exit_usage, "is a file of a hypergraph by its name"},
        {{"convert", yago, out.c_str(), "--model", "coarse"}, cli::exit_usage, "this is for hypergraphs (.hgr)"},
        {{"convert", twice.c_str(), "/none/x.hgr"}, cli::exit_error, "/none/x.hgr: cannot be made"},
        {{"convert", yago, graph.c_str(), "--memory", "60M"}, cli::exit_error, "raise --memory"},
        {{"convert", "examples/data/h2o_sto3g.fcidump", "/none/x.h5"}, cli::exit_error, "/none/x.h5: cannot be made"},
    });
    EXPECT_FALSE(std::filesystem::exists(out));
    EXPECT_FALSE(std::filesystem::exists(integrals));
    EXPECT_FALSE(std::filesystem::exists(graph));
}

}  // namespace
}  // namespace arges::test
