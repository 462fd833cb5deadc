// arges complete: results on any number of ranks, files, and wrong command lines.
#include "arges/world.hpp"
#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"
#include "support/terminal.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace arges::test {
namespace {

/// Lines of a tensor of rank one: two thirds of its elements, or the others.
std::string lines(bool are_known) {
    std::string text;
    for (int i = 1; i <= 6; ++i)
        for (int j = 1; j <= 5; ++j)
            for (int k = 1; k <= 4; ++k)
                if (((i + j + k) % 3 != 0) == are_known)
                    text += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(k) + " " + std::to_string(1.25 * i * j * k) +
                            "\n";
    return text;
}

class CompleteProgram : public testing::Test {
protected:
    Json object(std::vector<const char*> more) {
        std::vector<const char*> words{"complete", file.c_str(), "--rank", "2", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return parsed(run_program(words));
    }
    const World world;
    const TemporaryFolder folder{world};
    const std::string file = folder.write("known.tns", lines(true)), others = folder.write("others.tns", lines(false));
};

TEST_F(CompleteProgram, FindsElementsThatAreNotStored) {
    for (const char* algorithm : {"als", "ccd"}) {
        const auto found = object(
            {"--algorithm", algorithm, "--validate", others.c_str(), "--tolerance", "0", "--iterations", "60", "--regularization", "0"});
        EXPECT_EQ(found["elements"], 80);
        EXPECT_EQ(found["held_out"], 40);
        EXPECT_LT(found["held_out_rmse"].get<double>(), algorithm == std::string("als") ? 1e-3 : 0.3) << algorithm;
        EXPECT_EQ(found["elements_not_stored"], "unknown");
    }
}

TEST_F(CompleteProgram, PrintsOneObject) {
    const auto found = object({"--holdout", "0.2", "--regularization", "0.01", "--iterations", "4"});
    EXPECT_EQ(found["elements"].get<int>() + found["held_out"].get<int>(), 80);
    EXPECT_EQ(found["rmses"].size(), found["iterations"]);
    EXPECT_EQ(found["losses"].size(), found["iterations"]);
    EXPECT_EQ(found["held_out_rmses"].size(), found["iterations"]);
    EXPECT_EQ(found["lambda"].size(), 2U);
    for (const char* key : {"rmse", "held_out_rmse", "best_iteration", "converged", "stop_reason", "seconds_per_iteration", "setup_seconds",
                            "communication_seconds", "distribution", "grid", "policy", "rows", "peak_memory_bytes", "forecast_memory_bytes",
                            "held_out_in_unknown_slices", "warnings"})
        EXPECT_TRUE(found.contains(key)) << key;
}

/// Figures of one rank; tests run on several.
TEST_F(CompleteProgram, GivesTheSameLossInEveryWay) {
    const auto loss = [&](std::vector<const char*> more) {
        more.insert(more.end(), {"--iterations", "3", "--tolerance", "0", "--regularization", "0.1"});
        return object(more)["losses"].back().get<double>();
    };
    const double als = loss({});
    for (const char* distribution : {"medium", "coarse", "fine"}) EXPECT_NEAR(loss({"--distribution", distribution}), als, 1e-10 * als);
    EXPECT_NEAR(loss({"--policy", "set", "--rows", "claim", "--grid", "greedy"}), als, 1e-10 * als);
    EXPECT_NEAR(loss({"--type", "float"}), als, 1e-4 * als);
    const double ccd = loss({"--algorithm", "ccd"});
    EXPECT_NEAR(loss({"--algorithm", "ccd", "--distribution", "fine"}), ccd, 1e-10 * ccd);
}

TEST_F(CompleteProgram, SavesAndGoesOn) {
    const auto first = folder / "first";
    const auto loss = [&](const char* iterations, std::vector<const char*> more) {
        more.insert(more.end(), {"--iterations", iterations, "--tolerance", "0", "--regularization", "0.1"});
        return object(more)["losses"].back().get<double>();
    };
    const double wanted = loss("4", {});
    loss("2", {"--output", first.c_str(), "--save-every", "1"});
    EXPECT_NEAR(loss("2", {"--start", first.c_str()}), wanted, 1e-9 * wanted);
    EXPECT_TRUE(std::filesystem::exists(first + "/mode_3.npy"));
}

/// Two observations of one element are no sum.
TEST_F(CompleteProgram, RefusesRepeatedElementsUnlessToldWhatTheyMean) {
    const auto twice = folder.write("twice.tns", "1 1 1 1\n1 1 2 4\n2 1 1 2\n2 1 2 8\n1 2 1 3\n2 2 2 5\n1 1 1 3\n");
    const auto refused = run_program({"complete", twice.c_str(), "--rank", "1"});
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("line 7: a second value for element (1, 1, 1), which line 1 has"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("--duplicates sum, mean, first or last"), std::string::npos) << refused.err;
    const auto thrice = folder.write("thrice.tns", "0 0 0 1\n0 0 1 4\n0 0 0 2\n1 1 1 8\n0 0 0 3\n1 1 1 5\n");
    const auto many = run_program({"complete", file.c_str(), "--rank", "1", "--validate", thrice.c_str(), "--base", "zero"});
    EXPECT_NE(many.err.find("line 3: a second value for element (0, 0, 0), which line 1 has, the first of 3 such values; remove one"),
              std::string::npos)
        << many.err;
    const auto told = run_program({"complete", twice.c_str(), "--rank", "1", "--validate", twice.c_str(), "--duplicates", "mean"});
    EXPECT_NE(told.out.find("twice.tns: 6 elements (1 duplicates merged: mean) to hold out"), std::string::npos) << told.out << told.err;
    for (const char* policy : {"sum", "mean", "first", "last"}) {
        const auto table = run_program({"complete", twice.c_str(), "--rank", "1", "--duplicates", policy});
        EXPECT_NE(table.out.find("6 elements (1 duplicates merged: " + std::string(policy) + ")"), std::string::npos)
            << table.out << table.err;
    }
    const auto cpd = run_program({"cpd", twice.c_str(), "--rank", "1", "--iterations", "1"});
    EXPECT_NE(cpd.out.find("(1 duplicates merged: sum)"), std::string::npos) << cpd.out;
    const auto tucker = run_program({"tucker", twice.c_str(), "--ranks", "1,1,1", "--iterations", "1"});
    EXPECT_NE(tucker.out.find("(1 duplicates merged: sum)"), std::string::npos) << tucker.out;
}

/// The mean of the fitted elements is what a model has to beat.
TEST_F(CompleteProgram, SaysWhereTheMeanPredictsBetter) {
    std::string noise;
    for (int i = 1; i <= 8; ++i)
        for (int j = 1; j <= 8; ++j)
            for (int k = 1; k <= 8; ++k) noise += fmt::format("{} {} {} {}\n", i, j, k, 3 + std::sin(1e4 * i * j * k + 77 * i - 13 * k));
    const auto rough = folder.write("rough.tns", noise);
    const char* const warning = "arges: warning: the model predicts held-out elements no better than the mean of the fitted ones does";
    const std::vector<const char*> words{"complete",    rough.c_str(), "--rank",           "6", "--holdout", "0.5",
                                         "--tolerance", "0",           "--regularization", "0"};
    const auto table = run_program(words);
    EXPECT_NE(table.err.find(warning), std::string::npos) << table.err;
    EXPECT_NE(table.out.find("\nRMSE of the mean instead  0."), std::string::npos) << table.out;
    auto with_json = words;
    with_json.push_back("--json");
    const auto said = run_program(with_json);
    const auto found = parsed(said);
    EXPECT_NE(said.err.find(warning), std::string::npos) << said.err;
    EXPECT_GT(found["held_out_rmse"], found["held_out_mean_rmse"]);
    EXPECT_FALSE(found["beats_mean"]);
    EXPECT_NEAR(found["fitted_mean"].get<double>(), 3, 0.2);
    EXPECT_EQ(found["warnings"].size(), 1U);
    const auto good = object({"--validate", others.c_str(), "--iterations", "60", "--regularization", "0"});
    EXPECT_TRUE(good["beats_mean"]);
    EXPECT_EQ(good["warnings"].size(), 0U);
    double mean = 0, squares = 0;
    for (int i = 1; i <= 6; ++i)
        for (int j = 1; j <= 5; ++j)
            for (int k = 1; k <= 4; ++k) mean += (i + j + k) % 3 != 0 ? 1.25 * i * j * k / 80 : 0;
    for (int i = 1; i <= 6; ++i)
        for (int j = 1; j <= 5; ++j)
            for (int k = 1; k <= 4; ++k) squares += (i + j + k) % 3 != 0 ? 0 : std::pow(1.25 * i * j * k - mean, 2) / 40;
    EXPECT_NEAR(good["fitted_mean"].get<double>(), mean, 1e-10 * mean);
    EXPECT_NEAR(good["held_out_mean_rmse"].get<double>(), std::sqrt(squares), 1e-10 * mean);
}

/// A penalty under which components vanish is told of, without held-out elements, too.
TEST_F(CompleteProgram, SaysWhereComponentsVanish) {
    for (const char* regularization : {"20", "0.001"}) {
        const auto found = run_program({"complete", file.c_str(), "--rank", "2", "--biases", "off", "--regularization", regularization});
        EXPECT_EQ(found.code, 0) << found.err;
        EXPECT_EQ(found.err.find("fits elements no better than their mean") != std::string::npos, regularization == std::string("20"))
            << found.out << found.err;
    }
}

TEST_F(CompleteProgram, ShowsATable) {
    testing::internal::CaptureStderr();
    const auto outcome =
        run_program({"complete", file.c_str(), "--rank", "2", "--algorithm", "sgd", "--holdout", "0.2", "--regularization", "0"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(outcome.err.empty()) << outcome.err;
    for (const char* text : {"known.tns: 6 x 5 x 4, 80 elements; those that are not stored are unknown", "\nRMSE, fitted elements    ",
                             "\nRMSE, held-out elements  ", "\nstopped because          ", "sgd, rank 2", "\nRMSE of biases instead   ",
                             "\nbiases                    off, "})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
}

TEST_F(CompleteProgram, ShowsProgressOnATerminalOnly) {
    for (const bool is_json : {true, false}) {
        std::vector<const char*> words{"complete", file.c_str(),  "--rank", "2",         "--iterations",
                                       "3",        "--tolerance", "0",      "--holdout", "0.2"};
        if (is_json) words.push_back("--json");
        ProgramOutcome outcome;
        const auto shown = shown_on_terminal([&] { outcome = run_program(words); });
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.out.find("iteration 3"), std::string::npos) << outcome.out;
        for (const char* text : {"reading ", "distributing elements", "iteration 1, RMSE ", "iteration 3, RMSE ", ", held out "})
            EXPECT_EQ(shown.find(text) != std::string::npos, world.rank() == 0) << shown;
    }
}

/// Ratings: users by films, a row without ratings, and what predict says of them.
TEST_F(CompleteProgram, PredictsRatingsByBiases) {
    std::string known, asked;
    for (int i = 1; i <= 20; ++i)
        for (int j = 1; j <= 15; ++j) {
            const int rating = std::clamp(1 + i % 4 + j % 3 - (i * j * 7 % 5 == 0 ? 1 : 0), 1, 5);
            (i < 20 && (3 * i + 5 * j) % 4 != 0 ? known : asked) += fmt::format("{} {} {}\n", i, j, rating);
        }
    const auto ratings = folder.write("ratings.tns", known), questions = folder.write("asked.tns", asked), model = folder / "ratings",
               answers = folder / "answers.tns", none = folder / "none";
    const std::vector<const char*> words{"complete", ratings.c_str(), "--lengths", "20x15", "--validate", questions.c_str(), "--rank", "2"};
    auto with = words;
    with.insert(with.end(), {"--output", model.c_str(), "--json"});
    const auto found = parsed(run_program(with));
    EXPECT_TRUE(found["biases"]);
    EXPECT_LT(found["held_out_bias_rmse"], found["held_out_mean_rmse"]);
    EXPECT_GT(found["held_out_in_unknown_slices"], 0);
    EXPECT_TRUE(std::filesystem::exists(model + "/bias_2.npy"));
    const auto lost = run_program({"cpd", ratings.c_str(), "--lengths", "20x15", "--rank", "2", "--start", model.c_str()});
    EXPECT_NE(lost.err.find("the model to start from has a mean and biases, which would be lost"), std::string::npos) << lost.err;
    const auto table = run_program(words);
    EXPECT_NE(table.out.find("\nbiases                      on, 5 different values; RMSE of mean and biases"), std::string::npos)
        << table.out;
    EXPECT_NE(table.out.find("where only the other slices' biases tell"), std::string::npos) << table.out;
    const auto predicted =
        parsed(run_program({"predict", model.c_str(), questions.c_str(), "-o", answers.c_str(), "--base", "1", "--json"}));
    EXPECT_NEAR(predicted["rmse"].get<double>(), found["held_out_rmse"].get<double>(), 1e-9);
    EXPECT_EQ(predicted["in_unknown_slices"], found["held_out_in_unknown_slices"]);
    const auto printed = run_program({"predict", model.c_str(), questions.c_str()});
    EXPECT_TRUE(printed.out.starts_with(world.rank() == 0 ? TemporaryFolder::read(answers) : "")) << printed.out;
    const auto shown = run_program({"predict", model.c_str(), questions.c_str(), "-o", answers.c_str(), "--overwrite"});
    EXPECT_NE(shown.out.find("20 x 15, rank 2, with biases"), std::string::npos) << shown.out << shown.err;
    auto choosing = words;
    choosing.insert(choosing.end(), {"--rank", "auto", "--regularization", "auto", "--iterations", "3"});
    choosing.erase(choosing.begin() + 6, choosing.begin() + 8);
    const auto tried = run_program(choosing);
    EXPECT_NE(tried.out.find("held-out RMSE"), std::string::npos) << tried.out << tried.err;
    choosing.push_back("--json");
    const auto chosen = parsed(run_program(choosing));
    EXPECT_GE(chosen["trials"].size(), 13U);
    const auto start = folder / "plain";
    run_program({"complete", ratings.c_str(), "--lengths", "20x15", "--rank", "2", "--biases", "off", "--output", start.c_str()});
    check_wrong_lines({
        {{"predict", model.c_str()}, 2, "FILE"},
        {{"predict", none.c_str(), questions.c_str()}, 1, "none"},
        {{"predict", model.c_str(), none.c_str()}, 1, "none"},
        {{"predict", model.c_str(), questions.c_str(), "-o", answers.c_str()}, 1, "--overwrite"},
        {{"predict", model.c_str(), questions.c_str(), "-o", questions.c_str(), "--overwrite"}, 1, "input"},
        {{"predict", model.c_str(), file.c_str()}, 1, "line 1: 4 columns; a line has 2 indices"},
    });
    for (const bool has_biases : {false, true}) {  // seen when the file has been read
        const auto refused = run_program({"complete", ratings.c_str(), "--lengths", "20x15", "--rank", "2", "--biases",
                                          has_biases ? "off" : "on", "--start", has_biases ? model.c_str() : start.c_str()});
        EXPECT_EQ(refused.code, 1);
        EXPECT_NE(refused.err.find(has_biases ? "has biases" : "has no biases"), std::string::npos) << refused.err;
    }
}

TEST_F(CompleteProgram, RefusesWrongLinesAndFiles) {
    const auto empty = folder.write("empty.tns", ""), zero = folder.write("zeros.tns", "1 1 1 0\n"),
               nan = folder.write("nan.tns", "1 1 1 nan\n"), large = folder.write("large.tns", "7 1 1 3\n"), missing = folder / "none.tns",
               text = folder.write("file", "x"), inside = text + "/sub";
    const char* const f = file.c_str();
    check_wrong_lines({
        {{"complete"}, 2, "FILE"},
        {{"complete", f, "--rank", "0"}, 2, "--rank"},
        {{"complete", f, "--algorithm", "nn"}, 2, "--algorithm"},
        {{"complete", f, "--holdout", "1"}, 2, "--holdout"},
        {{"complete", f, "--holdout", "0.5", "--validate", f}, 2, "--validate"},
        {{"complete", f, "--patience", "3"}, 2, "--patience"},
        {{"complete", f, "--decay", "3"}, 2, "--decay"},
        {{"complete", f, "--algorithm", "sgd", "--learning-rate", "2"}, 2, "--learning-rate"},
        {{"complete", f, "--distribution", "coarse-hypergraph"}, 2, "--distribution"},
        {{"complete", f, "--regularization", "-1"}, 2, "--regularization"},
        {{"complete", f, "--biases", "some"}, 2, "--biases"},
        {{"complete", f, "--rank", "1.5"}, 2, "--rank"},
        {{"complete", f, "--save-every", "3"}, 2, "--output"},
        {{"complete", f, "--algorithm", "ccd", "--distribution", "coarse", "--json"}, 1, "coarse"},
        {{"complete", f, "--grid", "5x5x5", "--json"}, 1, "5x5x5"},
        {{"complete", f, "--json", "--output", inside.c_str()}, 1, "sub"},
        {{"complete", f, "--json", "--start", missing.c_str()}, 1, "none.tns"},
        {{"complete", f, "--json", "--validate", missing.c_str()}, 1, "none.tns"},
        {{"complete", f, "--json", "--validate", large.c_str()}, 1, "large.tns"},
        {{"complete", missing.c_str(), "--json"}, 1, "none.tns"},
        {{"complete", empty.c_str(), "--json"}, 1, "empty"},
        {{"complete", zero.c_str(), "--json"}, 1, "zero"},
        {{"complete", nan.c_str(), "--json"}, 1, "finite"},
    });
}

}  // namespace
}  // namespace arges::test
