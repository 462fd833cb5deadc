// Pages of models: what is on them, that texts are escaped, and that nothing is overwritten.
#include "arges/tensor_io.hpp"
#include "arges/tucker.hpp"
#include "cli/html.hpp"
#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <cmath>
#include <filesystem>
#include <regex>

namespace arges::test {
namespace {

/// Elements between tags only, and none that loads or runs something: what a browser would see is what was meant.
void check_page(const std::string& page) {
    EXPECT_TRUE(page.starts_with("<!DOCTYPE html>")) << page.substr(0, 40);
    EXPECT_TRUE(page.ends_with("</html>\n"));
    for (const char* outside : {"<script", "http:", "https:", "src=", "href=", "@import", "url("})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    std::vector<std::string> open;
    static const std::regex tag("<(/?)([a-z0-9]+)([^<>]*)>");
    for (std::sregex_iterator found(page.begin(), page.end(), tag), end; found != end; ++found) {
        const std::string name = (*found)[2], rest = (*found)[3];
        if (name == "meta" || rest.ends_with("/")) continue;
        if ((*found)[1] == "") {
            open.push_back(name);
            continue;
        }
        ASSERT_FALSE(open.empty()) << name;
        EXPECT_EQ(open.back(), name);
        open.pop_back();
    }
    EXPECT_TRUE(open.empty());
    for (auto at = page.find("<svg"); at != std::string::npos; at = page.find("<svg", at + 1))
        EXPECT_NE(page.substr(at, 200).find("role=\"img\" aria-label=\""), std::string::npos);
}

bool has(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

/// Purchases of people with names that are no HTML.
class Pages : public ::testing::Test {
protected:
    Pages() {
        std::string text = "when,who,what\n";
        for (int day = 1; day <= 9; ++day) {
            for (const char* who : {"<b>ann</b>", "\"Zoë & \"\"co\"\"\""})
                text += "2024-03-0" + std::to_string(day) + " 08:15," + who + ",tea\n";
            text += "2024-03-0" + std::to_string(day) + " 21:40,it's,beer\n";
        }
        const auto csv = folder.write("e.csv", text);
        run({"convert", csv.c_str(), tensor.c_str(), "--columns", "who,what,when:hour"});
    }
    static ProgramOutcome run(const std::vector<const char*>& words) {
        auto outcome = run_program(words);
        EXPECT_EQ(outcome.code, cli::exit_success) << outcome.err;
        return outcome;
    }
    /// The page of a model.
    std::string page_of(std::vector<const char*> words) const {
        words.insert(words.begin(), "report");
        words.insert(words.end(), {"--html", page.c_str(), "--overwrite"});
        run(words);
        world.agree([] {});
        auto text = TemporaryFolder::read(page);
        world.agree([] {});
        return text;
    }

    const World world{};
    const TemporaryFolder folder{world};
    const std::string tensor = folder / "e.atns", model = folder / "m", page = folder / "m.html";
};

TEST_F(Pages, HaveComponentsWithIdsAndWhatTheRunFound) {
    run({"cpd", tensor.c_str(), "--rank", "2", "--algorithm", "nn", "--starts", "3", "--output", model.c_str()});
    const auto text = page_of({model.c_str(), "--tensor", tensor.c_str()});
    check_page(text);
    for (const char* part : {"CP, rank 2", "who (3), what (2), when:hour (24)", "&lt;b&gt;ann&lt;/b&gt;", "Zoë &amp; &quot;co&quot;",
                             "it&#39;s", "<h2>History</h2>", "fit after each iteration", "<h2>Weights</h2>", "Component 1: weight 12.728",
                             "Component 2: weight 9, ", "<h2>Starts</h2>", "when:hour; largest: 08", "<h2>Residuals by slice</h2>",
                             "3 are stored; the others are zeros, and count", "<title>21: "})
        EXPECT_TRUE(has(text, part)) << part;
    for (const char* raw : {"<b>", "it's", "\"co\"", "<h2>Ranks"}) EXPECT_FALSE(has(text, raw)) << raw;
    const auto one = page_of({model.c_str(), "--components", "1", "--top", "1"});
    EXPECT_TRUE(has(one, "1 further components are not shown")) << one;
    EXPECT_FALSE(has(one, "Component 2"));
    EXPECT_FALSE(has(one, "Residuals"));
}

TEST_F(Pages, TellWhatIsLeftOfSlices) {
    run({"cpd", tensor.c_str(), "--rank", "1", "--algorithm", "nn", "--tolerance", "0", "--output", model.c_str()});
    const auto all = parsed(run_program({"report", model.c_str(), "--html", page.c_str(), "--tensor", tensor.c_str(), "--json"}));
    const double norm = 9 * std::sqrt(3);
    EXPECT_NEAR(all["residual"].get<double>(), 9, 1e-5) << "the smaller group";
    EXPECT_NEAR(all["relative_residual"].get<double>(), 9 / norm, 1e-6);
    EXPECT_TRUE(all["run"]);
    const auto known = parsed(run_program(
        {"report", model.c_str(), "--html", page.c_str(), "--tensor", tensor.c_str(), "--not-stored", "unknown", "--json", "--overwrite"}));
    EXPECT_NEAR(known["residual"].get<double>(), 9, 1e-5);
    const auto text = page_of({model.c_str(), "--tensor", tensor.c_str()});
    EXPECT_TRUE(has(text, "<td class=\"left\">beer</td><td>1</td><td>100.0 %</td>")) << text;
}

/// Two ranks of a model made elsewhere: nothing is known of its run.
TEST_F(Pages, LeaveOutARunOfAnotherModel) {
    run({"cpd", tensor.c_str(), "--rank", "1", "--output", model.c_str()});
    const auto other = folder / "other";
    run({"cpd", tensor.c_str(), "--rank", "2", "--output", other.c_str()});
    if (world.rank() == 0)
        std::filesystem::copy_file(model + "/run.json", other + "/run.json", std::filesystem::copy_options::overwrite_existing);
    world.agree([] {});
    const auto outcome = run({"report", other.c_str(), "--html", page.c_str()});
    EXPECT_NE(outcome.err.find("run.json is of another model"), std::string::npos) << outcome.err;
    const auto text = TemporaryFolder::read(page);
    world.agree([] {});
    EXPECT_TRUE(has(text, "Note: ")) << text;
    EXPECT_FALSE(has(text, "History"));
    folder.write("other/run.json", "{\"program\": \"cpd\", \"lambda\": 3, \"fits\": {}, \"iterations\": \"x\", \"starts\": [1, 2]}");
    check_page(page_of({other.c_str()}));
    folder.write("other/run.json", "{\"a\":");
    EXPECT_TRUE(has(page_of({other.c_str()}), "this is no record of a run"));
}

TEST_F(Pages, ShowCompletionsWithBiasesAndWhatWasTried) {
    std::string ratings;
    for (int user = 1; user <= 30; ++user)
        for (int item = 1; item <= 20; ++item)
            if ((7 * user + 3 * item) % 4 != 0)
                ratings += std::to_string(user) + " " + std::to_string(item) + " " + std::to_string(1 + (user * item + user) % 5) + "\n";
    const auto file = folder.write("r.tns", ratings);
    run({"complete", file.c_str(), "--rank", "2", "--biases", "on", "--regularization", "auto", "--holdout", "0.1", "--output",
         model.c_str()});
    const auto text = page_of({model.c_str(), "--tensor", file.c_str()});
    check_page(text);
    for (const char* part :
         {"arges complete", "<h2>Biases</h2>", "RMSE, held-out elements", "<h2>What was tried</h2>",
          "fitted elements (line), held-out ones (broken line)", "are known; the others do not count", "mode 1 (30)", "<title>29: "})
        EXPECT_TRUE(has(text, part)) << part;
}

TEST_F(Pages, ShowTuckerModels) {
    Tensor<double> dense(world, {70, 5, 4}, "x");
    dense["ijk"] = 0.0;
    dense.for_each_local([](Index i, double& value) { value = std::sin(0.1 * i[0]) * (i[1] + 1) + (i[2] == 2 ? 0.3 * i[0] : 0); });
    const auto file = folder / "x.npy", core = folder / "core.h5";
    write_npy(dense, file);
    run({"tucker", file.c_str(), "--ranks", "2,2,2", "--method", "hooi", "--output", core.c_str()});
    EXPECT_TRUE(std::filesystem::exists(core + ".run.json"));
    const auto text = page_of({core.c_str(), "--tensor", file.c_str()});
    check_page(text);
    for (const char* part : {"Tucker, core 2 x 2 x 2", "relative error", "<h3>mode 1</h3>", "<h2>Residuals by slice</h2>", "points=\""})
        EXPECT_TRUE(has(text, part)) << part;
    run({"cpd", file.c_str(), "--rank", "3", "--output", model.c_str()});
    const auto object =
        parsed(run_program({"report", model.c_str(), "--html", page.c_str(), "--tensor", file.c_str(), "--json", "--overwrite"}));
    const auto run_of_model = Json::parse(TemporaryFolder::read(model + "/run.json"));
    EXPECT_NEAR(object["relative_residual"].get<double>(), 1 - run_of_model["fit"].get<double>(), 1e-6);
    const auto of_sparse = folder / "sparse.h5";
    run({"tucker", tensor.c_str(), "--ranks", "2,2,2", "--output", of_sparse.c_str()});
    const auto sparse =
        parsed(run_program({"report", of_sparse.c_str(), "--html", page.c_str(), "--tensor", tensor.c_str(), "--json", "--overwrite"}));
    const auto run_of_sparse = Json::parse(TemporaryFolder::read(of_sparse + ".run.json"));
    EXPECT_EQ(run_of_sparse["elements_not_stored"], "zeros");
    EXPECT_NEAR(sparse["relative_residual"].get<double>(), run_of_sparse["error"].get<double>(), 1e-6);
    check_wrong_lines({{{"report", model.c_str(), "--html", page.c_str(), "--overwrite", "--tensor", tensor.c_str()},
                        cli::exit_error,
                        "this is a tensor of 3 x 2 x 24, and the model is of 70 x 5 x 4"}});
}

TEST_F(Pages, AnswerAWrongCommandWithOneLine) {
    run({"cpd", tensor.c_str(), "--rank", "1", "--output", model.c_str()});
    const auto inside = model + "/description.json", there = folder.write("there.html", "x"), no_ranks = folder.write("ranks.json", "[]");
    check_wrong_lines(
        {{{"report", model.c_str(), "--html", there.c_str()}, cli::exit_error, "there is such a file already"},
         {{"report", model.c_str(), "--html", inside.c_str(), "--overwrite"}, cli::exit_error, "this is an input"},
         {{"report", model.c_str(), "--html", tensor.c_str(), "--tensor", tensor.c_str(), "--overwrite"},
          cli::exit_error,
          "this is an input"},
         {{"report", model.c_str()}, cli::exit_usage, "--html"},
         {{"report", "none", "--html", page.c_str()}, cli::exit_error, "none: there is no such file"},
         {{"report", tensor.c_str(), "--html", page.c_str()}, cli::exit_error, "this is a tensor, and no model"},
         {{"show", tensor.c_str()}, cli::exit_error, "this is a tensor, and no model; see what it looks like with arges stats"},
         {{"report", model.c_str(), "--html", page.c_str(), "--not-stored", "zeros"}, cli::exit_usage, "--tensor"},
         {{"report", model.c_str(), "--html", page.c_str(), "--base", "one"}, cli::exit_usage, "this is for --tensor"},
         {{"report", model.c_str(), "--html", page.c_str(), "--ranks", no_ranks.c_str()}, cli::exit_error, "give that"},
         {{"report", model.c_str(), "--html", page.c_str(), "--ranks", "none.json"},
          cli::exit_error,
          "arges cpd FILE --ranks A:B --json"}});
    EXPECT_FALSE(std::filesystem::exists(page));
    EXPECT_EQ(TemporaryFolder::read(there), "x");
}

TEST(Html, EscapesWhatIsNoText) {
    EXPECT_EQ(cli::escaped("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
    EXPECT_EQ(cli::escaped("Zoë €  𝄞"), "Zoë €  𝄞");
    EXPECT_EQ(cli::escaped("a\x01\n\x7f"
                           "b"),
              "a   b");
    EXPECT_EQ(cli::escaped("\xff|\xc3|\xc0\xaf|\xed\xa0\x80"),
              "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace arges::test
