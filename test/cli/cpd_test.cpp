// arges cpd and arges stats: results on any number of ranks, files, and wrong command lines.
#include "arges/tensor_io.hpp"
#include "arges/world.hpp"
#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"
#include "support/terminal.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace arges::test {
namespace {

TEST(CpdProgram, PrintsOneObject) {
    const auto object = parsed(run_program({"cpd", yago, "--rank", "4", "--iterations", "5", "--tolerance", "0", "--json"}));
    EXPECT_NEAR(object["fit"].get<double>(), 0.04604365426096946, 1e-8);
    EXPECT_EQ(object["iterations"], 5);
    EXPECT_EQ(object["nonzeros"], 201089);
    EXPECT_EQ(object["lambda"].size(), 4U);
    for (const char* key : {"seconds_per_iteration", "distribution", "grid", "volume_rows_max", "nonzeros_max", "peak_memory_bytes",
                            "converged", "policy", "rows", "format", "memory_bytes_max", "read_seconds", "setup_seconds", "mttkrp_seconds",
                            "solve_seconds", "norm_seconds", "gram_seconds", "communication_seconds"})
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

/// Elements of a mask are known, zeros too; weights of one kind change the loss only.
TEST(CpdProgram, HasWeights) {
    const World world;
    const TemporaryFolder folder(world);
    const auto x = folder.write("x.tns", "1 1 1 2\n2 2 2 3\n3 1 2 1\n1 2 1 4\n"),
               mask = folder.write("mask.tns", "1 1 1 1\n2 2 2 1\n3 1 2 1\n1 2 1 1\n3 2 1 1\n"),
               weights = folder.write("weights.tns", "1 1 1 3\n2 2 2 3\n3 1 2 3\n1 2 1 3\n3 2 1 3\n2 1 1 0\n"),
               negative = folder.write("negative.tns", "1 1 1 -1\n2 2 2 1\n"), large = folder.write("large.tns", "7 1 1 1\n");
    const auto with = [&](const std::string& option, const std::string& file) {
        return run_program(
            {"cpd", x.c_str(), "--rank", "1", "--iterations", "5", "--tolerance", "0", "--json", option.c_str(), file.c_str()});
    };
    const auto masked = parsed(with("--mask", mask)), weighted = parsed(with("--weights", weights));
    EXPECT_EQ(masked["known_elements"], 5);
    EXPECT_EQ(weighted["known_elements"], 5);
    EXPECT_NEAR(weighted["fit"].get<double>(), masked["fit"].get<double>(), 1e-9);
    EXPECT_NEAR(weighted["loss_sum"].get<double>(), 3 * masked["loss_sum"].get<double>(), 1e-9);
    EXPECT_NE(with("--weights", negative).err.find("1 are others"), std::string::npos);
    EXPECT_NE(with("--weights", large).err.find("index '7' in mode 1 is over the length 3"), std::string::npos);
    EXPECT_NE(with("--weights", folder / "none.tns").err.find("none.tns"), std::string::npos);
    // The others have the same option.
    const auto tucker = [&](const char* option, const std::string& file) {
        return parsed(run_program({"tucker", x.c_str(), "--ranks", "1,1,1", "--iterations", "3", option, file.c_str(), "--json"}));
    };
    const auto one = tucker("--mask", mask), three = tucker("--weights", weights);
    EXPECT_EQ(one["elements_not_stored"], "missing");
    EXPECT_EQ(three["weights"], weights);
    EXPECT_NEAR(three["error"].get<double>(), one["error"].get<double>(), 1e-12);
    const auto completion = [&](const std::string& file) {
        return run_program({"complete", x.c_str(), "--rank", "1", "--iterations", "3", "--weights", file.c_str(), "--json"});
    };
    EXPECT_EQ(parsed(completion(weights))["elements"], 4);  // of what is stored only
    EXPECT_NE(completion(negative).err.find("1 are others"), std::string::npos);
    const auto shown = run_program({"complete", x.c_str(), "--rank", "1", "--iterations", "3", "--mask", mask.c_str()});
    EXPECT_NE(shown.out.find("weights of " + mask + "; elements without a weight are unknown"), std::string::npos)
        << shown.out << shown.err;
}

/// Of dense files, too, in which NaN is unknown whatever its weight.
TEST(CpdProgram, HasWeightsOfDenseFiles) {
    const World world;
    const TemporaryFolder folder(world);
    Tensor<double> X(world, {6, 5, 4}, "X"), W(world, {6, 5, 4}, "W");
    X.fill([](Index i) { return i[0] == 2 && i[1] == 1 ? std::nan("") : 1 + static_cast<double>(i[0] * i[1] + i[2] % 3); });
    W.fill([](Index i) { return i[2] == 3 && i[0] < 2 ? 0 : 1 + static_cast<double>(i[0] % 2); });
    const auto x = folder / "x.npy", w = folder / "w.npy";
    write_npy(X, x);
    write_npy(W, w);
    const std::vector<std::vector<const char*>> programs{{"cpd", x.c_str(), "--rank", "2", "--starts", "1"},
                                                         {"tucker", x.c_str(), "--ranks", "2,2,2"},
                                                         {"complete", x.c_str(), "--rank", "2"}};
    for (auto words : programs) {
        words.insert(words.end(), {"--weights", w.c_str(), "--iterations", "2", "--json"});
        const auto found = parsed(run_program(words));
        EXPECT_EQ(found["weights"], w) << words[0];
        if (words[0] != std::string("tucker")) {
            EXPECT_EQ(found[words[0] == std::string("cpd") ? "known_elements" : "elements"], 106) << words[0];
        }
    }
}

/// The algorithm follows from the loss; what is printed says which elements count.
TEST(CpdProgram, HasLosses) {
    const std::vector<const char*> common{"cpd", yago, "--rank", "2", "--iterations", "3", "--starts", "1"};
    const auto with = [&](std::vector<const char*> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return run_program(more);
    };
    const auto object = [&](std::vector<const char*> more) {
        more.push_back("--json");
        return parsed(with(std::move(more)));
    };
    const auto poisson = object({"--loss", "poisson", "--algorithm", "opt"});
    EXPECT_EQ(poisson["loss"], "poisson");
    EXPECT_TRUE(poisson["loss_sum"].is_number());
    EXPECT_EQ(poisson["elements_not_stored"], "zeros");
    const auto odds = object({"--loss", "bernoulli-odds"});
    EXPECT_EQ(odds["algorithm"], "sgd");
    EXPECT_GT(odds["known_elements"].get<double>(), 1e9);
    const auto missing = object({"--missing"});
    EXPECT_EQ(missing["algorithm"], "als");
    EXPECT_EQ(missing["known_elements"], 201089);
    EXPECT_EQ(missing["elements_not_stored"], "missing");
    EXPECT_NEAR(missing["fit"].get<double>(), 1 - std::sqrt(missing["loss_sum"].get<double>() / 201089), 1e-9);  // all values are 1
    const auto text = with({"--missing", "--loss", "huber=0.5"}).out;
    EXPECT_NE(text.find("elements that are not stored are unknown\nloss huber=0.5, by opt\n"), std::string::npos) << text;
    EXPECT_NE(text.find("sum over 201,089 known elements"), std::string::npos) << text;
    for (const auto& [words, message] : std::vector<std::pair<std::vector<const char*>, const char*>>{
             {{"--loss", "poison"}, "there is no loss 'poison'"},
             {{"--loss", "huber"}, "must be written as huber=DELTA"},
             {{"--loss", "gamma", "--algorithm", "als"}, "is for opt and sgd"},
             {{"--loss", "gamma", "--algorithm", "opt"}, "no sum in closed form"}}) {
        const auto run = with(words);
        EXPECT_NE(run.code, 0);
        EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
    }
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

/// Seconds as indices: the factor has the rows of the seconds that occur, and says which. It is small, and a start.
TEST(CpdProgram, SavesFactorsOfMostlyEmptyModesWithTheirRows) {
    const World world;
    const TemporaryFolder folder(world);
    const auto times = folder.write("times.tns", "1 1 1700000000 2\n2 2 1700086400 3\n1 2 1700000123 1\n"), out = folder / "out";
    for (const char* form : {"npy", "text"}) {
        const std::string ending = form == std::string("npy") ? ".npy" : ".txt";
        const auto saved = run_program({"cpd", times.c_str(), "--rank", "2", "--iterations", "3", "--tolerance", "0", "--output",
                                        out.c_str(), "--output-form", form, "--overwrite"});
        EXPECT_EQ(saved.code, 0) << saved.err;
        EXPECT_NE(saved.out.find("mode_3 has 3 rows, those of 1,700,086,400 that are not empty; mode_3_rows has their numbers, from 0"),
                  std::string::npos)
            << saved.out;
        EXPECT_LT(std::filesystem::file_size(out + "/mode_3" + ending), 200U);
        EXPECT_TRUE(std::filesystem::exists(out + "/mode_3_rows" + ending));
        if (ending == ".txt") {
            EXPECT_EQ(TemporaryFolder::read(out + "/mode_3_rows.txt"), "1699999999\n1700000122\n1700086399\n");
        }
        const auto on = parsed(
            run_program({"cpd", times.c_str(), "--rank", "2", "--iterations", "3", "--tolerance", "0", "--start", out.c_str(), "--json"}));
        const auto six = parsed(run_program({"cpd", times.c_str(), "--rank", "2", "--iterations", "6", "--tolerance", "0", "--json"}));
        EXPECT_NEAR(on["fit"].get<double>(), six["fit"].get<double>(), 1e-9);
    }
    const auto object =
        parsed(run_program({"cpd", times.c_str(), "--rank", "2", "--iterations", "1", "--output", out.c_str(), "--json", "--overwrite"}));
    EXPECT_EQ(object["modes_without_empty_rows"], Json::parse("[3]"));
}

TEST(CpdProgram, ShowsItsIterations) {
    const World world;
    const auto outcome = run_program({"cpd", yago, "--rank", "2", "--iterations", "2", "--tolerance", "0"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text : {"201,089 nonzeros", "iteration", "mttkrp   solve    norm    gram    comm", "after 2 iterations",
                             "distribution", "rows moved per iteration"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
}

TEST(CpdProgram, KeepsTheBestOfSeveralStarts) {
    const World world;
    const std::vector<const char*> common{"cpd", yago, "--rank", "2", "--iterations", "3"};
    const auto run = [&](std::vector<const char*> more) {
        auto words = common;
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    };
    const auto object = parsed(run({"--starts", "3", "--json"}));
    ASSERT_EQ(object["starts"].size(), 3U);
    EXPECT_EQ(object["stability"].size(), 2U);
    double best = -1;
    for (const auto& start : object["starts"]) best = std::max(best, start["fit"].get<double>());
    EXPECT_EQ(object["fit"], best);
    const auto seed = std::to_string(object["seed"].get<int>());
    const auto alone = parsed(run({"--seed", seed.c_str(), "--json"}));
    EXPECT_EQ(alone["starts"].size(), 1U);
    EXPECT_NEAR(alone["fit"].get<double>(), best, 1e-12);
    const auto outcome = run({"--starts", "2"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text : {"start  seed", "of 2 starts are within", "the best"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
    const auto in_groups = parsed(run({"--starts", "3", "--groups", "auto", "--json"}));
    EXPECT_EQ(in_groups["groups"], std::min<std::int64_t>(3, world.size()));
    EXPECT_NEAR(in_groups["fit"].get<double>(), best, 1e-9);
    if (world.size() == 1) return;
    const auto two = run({"--starts", "2", "--groups", "2"});
    EXPECT_NE(two.out.find("2 groups of ranks made them side by side"), std::string::npos) << two.out << two.err;
}

TEST(CpdProgram, ComparesRanks) {
    const World world;
    const TemporaryFolder folder(world);
    std::string text;
    for (int i = 1; i <= 6; ++i)
        for (int j = 1; j <= 5; ++j)
            for (int k = 1; k <= 4; ++k)
                text += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(k) + " " +
                        std::to_string(i * j * (k % 2 + 1) + 3 * (7 - i) * (j % 3 + 1) * k) + "\n";
    const auto file = folder.write("two.tns", text);
    const auto object =
        parsed(run_program({"cpd", file.c_str(), "--ranks", "1:3", "--iterations", "200", "--tolerance", "1e-8", "--json"}));
    ASSERT_EQ(object["ranks"].size(), 3U);
    EXPECT_EQ(object["ranks"][0]["rank"], 1);
    EXPECT_NEAR(object["ranks"][0]["core_consistency"].get<double>(), 100, 1e-6);
    EXPECT_GT(object["ranks"][1]["fit"].get<double>(), 0.999);
    EXPECT_GT(object["ranks"][1]["core_consistency"].get<double>(), 99);
    EXPECT_GE(object["recommended"].get<int>(), 2);
    const auto outcome = run_program({"cpd", file.c_str(), "--ranks", "1:2", "--starts", "2"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* words : {"near best", "plot of the fit", "####", "core"})
        EXPECT_NE(outcome.out.find(words), std::string::npos) << words;
}

TEST(CpdProgram, RefusesWrongLinesAndFiles) {
    const World world;
    const TemporaryFolder folder(world);
    const auto one = folder.write("one.tns", "1 1 1 1.5\n2 2 2 2.5\n"), zero = folder.write("zeros.tns", "1 1 1 0\n"),
               parts = folder.write("parts.txt", "0\n0\n0\n"), letters = folder.write("letters.txt", "0\nzero\n"),
               text = folder.write("text.tns", "this is no tensor\n"), empty = folder.write("empty.tns", ""),
               comments = folder.write("comments.tns", "# none\n"), short_line = folder.write("short.tns", "1 1 1 1\n2 2 2\n"),
               not_finite = folder.write("nan.tns", "1 1 1 nan\n"), based = folder.write("based.tns", "0 1 1 3\n"),
               file = folder.write("file", "x"), inside = file + "/sub", missing = folder / "none.tns";
    const auto yago_start = folder / "yago";
    run_program({"cpd", one.c_str(), "--rank", "1", "--iterations", "1", "--output", yago_start.c_str(), "--json"});
    const auto mixed = folder / "mixed";
    run_program({"cpd", one.c_str(), "--rank", "2", "--iterations", "1", "--output", mixed.c_str(), "--json"});
    folder.write("mixed/mode_1.npy", TemporaryFolder::read(yago_start + "/mode_1.npy"));
    check_wrong_lines({
        {{"cpd"}, 2, "FILE"},
        {{"cpd", one.c_str(), "--rank", "0"}, 2, "--rank"},
        {{"cpd", one.c_str(), "--rank", "two"}, 2, "--rank"},
        {{"cpd", one.c_str(), "--algorithm", "adam"}, 2, "--algorithm"},
        {{"cpd", one.c_str(), "--iterations", "0"}, 2, "--iterations"},
        {{"cpd", one.c_str(), "--tolerance", "-1"}, 2, "--tolerance"},
        {{"cpd", one.c_str(), "--starts", "0"}, 2, "'0' must be auto or a number from 1 to 1000"},
        {{"cpd", one.c_str(), "--constraint", "nonnegative"}, 2, "'nonnegative' must be a mode, from 1, or all, and a constraint"},
        {{"cpd", one.c_str(), "--constraint", "0:nonnegative"}, 2, "a mode, from 1"},
        {{"cpd", one.c_str(), "--constraint", "1:nonegative"}, 2, "did you mean nonnegative?"},
        {{"cpd", one.c_str(), "--constraint", "1:smooth"}, 2, "use smooth=0.1, for example"},
        {{"cpd", one.c_str(), "--constraint", "1:unimodal=2"}, 2, "the constraint unimodal has no weight"},
        {{"cpd", one.c_str(), "--constraint", "4:nonnegative", "--json"}, 1, "the tensor has 3 modes; use one from 1 to 3"},
        {{"cpd", one.c_str(), "--constraint", "all:unimodal", "--algorithm", "nn", "--json"}, 1, "leave the other algorithm out"},
        {{"cpd", one.c_str(), "--rank", "3", "--constraint", "2:orthogonal", "--json"}, 1, "3 orthogonal columns need as many rows"},
        {{"cpd", one.c_str(), "--ranks", "3:2"}, 2, "'3:2' must be two ranks, as 2:10"},
        {{"cpd", one.c_str(), "--ranks", "1:2", "--rank", "2"}, 2, "--rank"},
        {{"cpd", one.c_str(), "--starts", "many"}, 2, "--starts"},
        {{"cpd", one.c_str(), "--groups", "0"}, 2, "--groups: '0' must be auto or a number from 1 to 1000"},
        {{"cpd", one.c_str(), "--groups", "900", "--json"}, 1, "900 groups of ranks are more than the"},
        {{"cpd", one.c_str(), "--groups", "2", "--start", "folder"}, 2, "--start"},
        {{"cpd", one.c_str(), "--starts", "2", "--start", "folder"}, 2, "--start"},
        {{"cpd", one.c_str(), "--save-every", "3", "--json"}, 2, "--output"},
        {{"cpd", one.c_str(), "--output-form", "text"}, 2, "--output"},
        {{"cpd", one.c_str(), "--pairwise-perturbation"}, 2, "sparse tensor"},
        {{"cpd", one.c_str(), "--perturbation-threshold", "0.2"}, 2, "--pairwise-perturbation"},
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
        {{"cpd", one.c_str(), "--save-partition", parts.c_str(), "--json"}, 1, "--overwrite"},
        {{"cpd", one.c_str(), "--save-partition", one.c_str(), "--json"}, 1, "this is an input"},
        {{"cpd", one.c_str(), "--distribution", "coarse", "--partition", parts.c_str(), "--json"}, 1, "6 nonempty slices"},
        {{"cpd", yago, "--rank", "1", "--start", yago_start.c_str(), "--json"}, 1, "start"},
        {{"cpd", one.c_str(), "--start", missing.c_str(), "--json"}, 1, "none.tns"},
        {{"cpd", one.c_str(), "--rank", "2", "--start", mixed.c_str(), "--json"}, 1, "the folder mixes files of two decompositions"},
        {{"cpd", one.c_str(), "--rank", "1", "--iterations", "1", "--json", "--output", inside.c_str()}, 1, "sub"},
        {{"stats", missing.c_str()}, 1, "none.tns"},
        {{"stats", one.c_str(), "--parts", "0"}, 2, "--parts"},
        {{"stats", one.c_str(), "--rows", "all"}, 2, "--rows"},
    });
}

TEST(CpdProgram, MeetsConstraints) {
    const World world;
    const TemporaryFolder folder(world);
    const auto out = folder / "out";
    const std::vector<const char*> words{"cpd",          yago,        "--rank",       "3",
                                         "--iterations", "4",         "--constraint", "all:nonnegative",
                                         "--constraint", "2:l1=0.01", "--constraint", "4:column_simplex",
                                         "--seed",       "1"};
    auto with_json = words;
    with_json.insert(with_json.end(), {"--json", "--output", out.c_str(), "--output-form", "text"});
    const auto object = parsed(run_program(with_json));
    EXPECT_EQ(object["constraints"], Json::parse(R"(["nonnegative", "l1=0.01", "nonnegative", "column-simplex"])"));
    EXPECT_EQ(object["algorithm"], "als");
    const auto rows = "\n" + TemporaryFolder::read(out + "/mode_1.txt");
    for (const char* negative : {" -", "\n-"}) EXPECT_EQ(rows.find(negative), std::string::npos);
    const auto table = run_program(words);
    EXPECT_NE(table.out.find("constraints: nonnegative, l1=0.01, nonnegative, column-simplex\n"), std::string::npos) << table.out;
    EXPECT_EQ(parsed(run_program({"cpd", yago, "--rank", "2", "--iterations", "1", "--json"}))["constraints"], Json::parse("[]"));
    auto with_missing = words;
    with_missing.insert(with_missing.end(), {"--missing", "--json"});
    const auto known = parsed(run_program(with_missing));
    EXPECT_GT(known["fit"], object["fit"]);
    EXPECT_EQ(known["constraints"], object["constraints"]);
}

/// Why iterations ended, and all fits, in both forms of output; --json shows nothing but the object.
TEST(CpdProgram, SaysWhyIterationsEnded) {
    const auto object = parsed(run_program({"cpd", yago, "--rank", "2", "--tolerance", "1e-2", "--json"}));
    EXPECT_EQ(object["stop_reason"], "tolerance");
    EXPECT_TRUE(object["converged"]);
    const auto fits = object["fits"].get<std::vector<double>>();
    ASSERT_EQ(static_cast<int>(fits.size()), object["iterations"]);
    EXPECT_EQ(fits.back(), object["fit"].get<double>());
    EXPECT_LE(std::abs(fits.back() - fits[fits.size() - 2]), 1e-2 * fits.back());
    const auto few = parsed(run_program({"cpd", yago, "--rank", "2", "--iterations", "2", "--tolerance", "0", "--json"}));
    EXPECT_EQ(few["stop_reason"], "iterations");
    EXPECT_FALSE(few["converged"]);
    const auto table = run_program({"cpd", yago, "--rank", "2", "--tolerance", "1e-2"});
    EXPECT_NE(table.out.find("stopped because              the fit will hardly change: by less than 0.01 of itself and of 1 - fit"),
              std::string::npos)
        << table.out;
}

/// Negative values with factors that have none: a warning, and a model of zeros is not said to have converged.
/// With --json a terminal shows steps and iterations, on one line that is cleared at the end. Nothing else shows anything.
TEST(CpdProgram, ShowsProgressWithJsonOnATerminalOnly) {
    const World world;
    for (const bool is_json : {true, false}) {
        std::vector<const char*> words{"cpd", yago, "--rank", "2", "--iterations", "3", "--tolerance", "0"};
        if (is_json) words.push_back("--json");
        ProgramOutcome outcome;
        const auto shown = shown_on_terminal([&] { outcome = run_program(words); });
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_TRUE(outcome.err.empty()) << outcome.err;
        if (is_json) {
            EXPECT_EQ(parsed(outcome)["iterations"], 3);
        }
        for (const char* text : {"reading test/data/yago-4d.tns.gz", "distributing nonzeros"})
            EXPECT_EQ(shown.find(text) != std::string::npos, world.rank() == 0) << shown;
        for (const char* text : {"iteration 1, fit 0.", "iteration 3, fit 0."})
            EXPECT_EQ(shown.find(text) != std::string::npos, is_json && world.rank() == 0) << shown;
        EXPECT_EQ(shown.ends_with("\r\033[K"), world.rank() == 0) << shown;
        testing::internal::CaptureStderr();
        outcome = run_program(words);
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        EXPECT_TRUE(outcome.err.empty()) << outcome.err;
    }
}

TEST(CpdProgram, WarnsOfNegativeValues) {
    const World world;
    const TemporaryFolder folder(world);
    const auto all = folder.write("all.tns", "1 1 1 -1\n2 2 2 -3\n"), some = folder.write("some.tns", "1 1 1 -1\n2 2 2 3\n");
    const auto zero = run_program({"cpd", all.c_str(), "--rank", "1", "--algorithm", "nn", "--json"});
    const auto object = parsed(zero);
    EXPECT_FALSE(object["converged"]);
    EXPECT_EQ(object["stop_reason"], "zero model");
    EXPECT_EQ(object["warnings"].size(), 2U);
    EXPECT_NE(zero.err.find("arges: warning: 2 of 2 values are negative"), std::string::npos) << zero.err;
    EXPECT_NE(zero.err.find("arges: warning: all components are zero"), std::string::npos) << zero.err;
    const auto part = run_program({"cpd", some.c_str(), "--rank", "1", "--algorithm", "nn", "--json"});
    EXPECT_EQ(parsed(part)["warnings"].size(), 1U);
    EXPECT_NE(part.err.find("arges: warning: 1 of 2 values are negative"), std::string::npos) << part.err;
    const auto als = run_program({"cpd", some.c_str(), "--rank", "1", "--json"});
    EXPECT_TRUE(parsed(als)["warnings"].empty());
    EXPECT_TRUE(als.err.empty()) << als.err;
}

/// Times in seconds as indices, and a file without values: both can be read, and are told.
TEST(CpdProgram, TellsWhatLooksWrongInAFile) {
    const World world;
    const TemporaryFolder folder(world);
    const auto times = folder.write("times.tns", "1 1 1700000000 2\n2 2 1700086400 3\n"),
               indices = folder.write("indices.tns", "1 1 12\n1 2 13\n2 3 8\n2 1 15\n"), commas = folder.write("commas.tns", "1,2,3.5\n"),
               table = folder.write("table.csv", "1,2,3.5\n");
    for (std::vector<const char*> words : {std::vector<const char*>{"cpd", "--rank", "1"}, {"stats"}, {"tucker", "--ranks", "1,1,1"}}) {
        words.insert(words.begin() + 1, times.c_str());
        words.push_back("--json");
        const auto outcome = run_program(words);
        ASSERT_EQ(parsed(outcome)["warnings"].size(), 1U) << outcome.err;
        EXPECT_NE(
            outcome.err.find("arges: warning: mode 3 has 1,700,086,400 slices, of which only 2 are not empty; if its indices are times"),
            std::string::npos)
            << outcome.err;
    }
    EXPECT_NE(run_program({"stats", indices.c_str()})
                  .err.find("all values are whole numbers, spread from 0 to 15: if the last column is an index"),
              std::string::npos);
    EXPECT_TRUE(run_program({"stats", yago}).err.empty());
    const auto cure = "this is a table; make a tensor of it: arges convert " + table + " ";
    check_wrong_lines({{{"stats", commas.c_str()}, 1, "replace commas: tr ',' ' '"}, {{"stats", table.c_str()}, 1, cure.c_str()}});
}

TEST(CpdProgram, SaysWhatElementsThatAreNotStoredAre) {
    for (const char* command : {"cpd", "stats"}) {
        EXPECT_NE(run_program({command, yago, "--rank", "1"}).out.find("elements that are not stored count as zeros"), std::string::npos)
            << command;
        EXPECT_EQ(parsed(run_program({command, yago, "--rank", "1", "--json"}))["elements_not_stored"], "zeros");
    }
}

/// float32 in a file stays float32, unless something else is asked for; text is read as double.
TEST(CpdProgram, KeepsTheTypeOfTheValues) {
    const World world;
    const TemporaryFolder folder(world);
    const auto text = folder.write("x.tns", "1 1 1 0.1\n2 2 2 2.5\n");
    const auto single = folder / "s.atns", again = folder / "t.atns", wide = folder / "d.atns", out = folder / "out";
    const auto value_bytes = [](const std::string& file) { return static_cast<int>(TemporaryFolder::read(file)[20]); };
    run_program({"convert", text.c_str(), single.c_str(), "--type", "float"});
    EXPECT_EQ(value_bytes(single), 4);
    run_program({"convert", single.c_str(), again.c_str()});
    EXPECT_EQ(value_bytes(again), 4);
    run_program({"convert", single.c_str(), wide.c_str(), "--type", "double"});
    EXPECT_EQ(value_bytes(wide), 8);
    const auto element = [&](std::vector<const char*> words) {
        words.insert(words.end(), {"--rank", "1", "--json", "--overwrite", "--output", out.c_str()});
        parsed(run_program(words));
        return Json::parse(TemporaryFolder::read(out + "/description.json"))["element_type"].get<std::string>();
    };
    EXPECT_EQ(element({"cpd", single.c_str()}), "float32");
    EXPECT_EQ(element({"cpd", single.c_str(), "--type", "double"}), "float64");
    EXPECT_EQ(element({"cpd", text.c_str()}), "float64");
    Tensor<float> dense(world, {4, 3, 2});
    dense.fill(1.5F);
    const auto npy = folder / "x.npy";
    write_npy(dense, npy);
    EXPECT_EQ(element({"cpd", npy.c_str()}), "float32");
    check_wrong_lines({
        {{"cpd", single.c_str(), "--base", "one"}, 2, "--base: "},
        {{"stats", single.c_str(), "--base", "one"}, 2, "--base: "},
        {{"convert", single.c_str(), wide.c_str(), "--duplicates", "sum"}, 2, "--duplicates: "},
        {{"cpd", npy.c_str(), "--lengths", "4x3x2"}, 2, "--lengths: "},
        {{"cpd", npy.c_str(), "--grid", "1x1x1"}, 2, "--grid: "},
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
