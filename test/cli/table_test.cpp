// From a table to components with names: convert, cpd, complete, tucker, stats and show.
#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace arges::test {
namespace {

/// Two groups of people, who buy and come at hours of their own.
std::string events() {
    std::string text = "when,who,what,paid\n";
    for (int day = 1; day <= 9; ++day)
        for (const char* who : {"ann", "bob", "\"Zoë, the first\""})
            text += "2024-03-0" + std::to_string(day) + " 08:15," + who + ",tea,2\n";
    for (int day = 1; day <= 9; ++day)
        for (const char* who : {"carl", "dora"}) text += "2024-03-0" + std::to_string(day) + " 21:40," + who + ",beer,5.5\n";
    return text;
}

nlohmann::json json_of(const std::vector<const char*>& words) {
    const auto outcome = run_program(words);
    EXPECT_EQ(outcome.code, cli::exit_success) << outcome.err;
    return nlohmann::json::parse(outcome.out.empty() ? "{}" : outcome.out);
}

TEST(TableProgram, makes_a_tensor_with_ids) {
    const World world;
    const TemporaryFolder folder(world);
    const auto csv = folder.write("e.csv", events()), tns = folder / "e.tns", atns = folder / "e.atns";
    const auto done = json_of({"convert", csv.c_str(), tns.c_str(), "--columns", "who,what,when:hour", "--value", "paid", "--json"});
    EXPECT_EQ(done["lengths"], (std::vector<int>{5, 2, 24}));
    EXPECT_EQ(done["entries"], 45);
    EXPECT_EQ(done["duplicates"], 40);
    EXPECT_EQ(done["ids"], tns + ".ids");
    EXPECT_EQ(TemporaryFolder::read(tns), "2 2 9 18\n3 2 9 18\n1 2 9 18\n4 1 22 49.5\n5 1 22 49.5\n");
    EXPECT_TRUE(TemporaryFolder::read(tns + ".ids")
                    .starts_with("# arges ids 1\nmode 1 5 who\nZoë, the first\nann\nbob\ncarl\ndora\nmode 2 2 what\nbeer\ntea\n"));
    const auto table = run_program({"convert", csv.c_str(), atns.c_str(), "--columns", "4,2", "--header", "yes"});
    EXPECT_EQ(table.code, cli::exit_success) << table.err;
    EXPECT_NE(table.out.find("duplicates   40 merged: count"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("Zoë, the first"), std::string::npos) << table.out;
    const auto counted = json_of(
        {"convert", csv.c_str(), atns.c_str(), "--columns", "what", "--value", "paid", "--duplicates", "count", "--json", "--overwrite"});
    EXPECT_EQ(counted["nonzeros"], 2);
    const auto back = run_program({"convert", atns.c_str(), tns.c_str(), "--overwrite"});
    EXPECT_NE(back.out.find("e.tns.ids"), std::string::npos) << back.out << back.err;
    EXPECT_EQ(TemporaryFolder::read(tns), "2 27\n1 18\n");
    EXPECT_EQ(TemporaryFolder::read(tns + ".ids"), "# arges ids 1\nmode 1 2 what\nbeer\ntea\n");
}

TEST(TableProgram, ids_follow_empty_slices_that_go) {
    const World world;
    const TemporaryFolder folder(world);
    const auto csv = folder.write("e.csv", events()), all = folder / "a.atns", some = folder / "s.tns";
    run_program({"convert", csv.c_str(), all.c_str(), "--columns", "when:hour,who"});
    const auto outcome = run_program({"convert", all.c_str(), some.c_str(), "--compact"});
    EXPECT_EQ(outcome.code, cli::exit_success) << outcome.err;
    EXPECT_TRUE(TemporaryFolder::read(some + ".ids").starts_with("# arges ids 1\nmode 1 2 when:hour\n08\n21\nmode 2 5 who\n"));
}

/// What comes first in the components, by id.
TEST(TableProgram, shows_components_with_ids) {
    const World world;
    const TemporaryFolder folder(world);
    const auto csv = folder.write("e.csv", events()), tensor = folder / "e.atns", model = folder / "m", core = folder / "core.h5",
               filled = folder / "c";
    run_program({"convert", csv.c_str(), tensor.c_str(), "--columns", "who,what,when:hour", "--value", "paid"});
    EXPECT_EQ(json_of({"stats", tensor.c_str(), "--json"})["modes"][1]["heaviest_id"], "tea");
    EXPECT_NE(run_program({"stats", tensor.c_str()}).out.find("id of the heaviest"), std::string::npos);
    const auto refused = run_program({"cpd", csv.c_str(), "--rank", "2"});
    EXPECT_NE(refused.err.find("this is a table; make a tensor of it: arges convert " + csv + " " + folder / "e.atns" +
                               " --columns when:1h,who,what --value paid"),
              std::string::npos)
        << refused.err;
    for (const auto& words :
         std::vector<std::vector<const char*>>{{"cpd", tensor.c_str(), "--rank", "2", "--output", model.c_str(), "--algorithm", "nn"},
                                               {"complete", tensor.c_str(), "--rank", "1", "--output", filled.c_str()},
                                               {"tucker", tensor.c_str(), "--ranks", "2,2,2", "--output", core.c_str()}}) {
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.code, cli::exit_success) << outcome.err;
    }
    const auto shown = json_of({"show", model.c_str(), "--json"});
    EXPECT_EQ(shown["components"].size(), 2);
    const auto& first = shown["components"][0]["modes"];
    EXPECT_EQ(first[0]["name"], "who");
    EXPECT_EQ(first[0]["items"][0]["id"], "carl");
    EXPECT_EQ(first[1]["items"][0]["id"], "beer");
    EXPECT_EQ(first[2]["items"][0]["id"], "21");
    EXPECT_NEAR(first[0]["items"][0]["share"].get<double>(), 0.5, 1e-6);
    EXPECT_EQ(shown["components"][1]["modes"][0]["items"].size(), 3);
    const auto text = run_program({"show", model.c_str(), "--top", "1", "--component", "2", "--mode", "what"}).out;
    EXPECT_NE(text.find("component 2, weight 31.177"), std::string::npos) << text;
    EXPECT_NE(text.find("\n  1  tea"), std::string::npos) << text;
    EXPECT_EQ(text.find("ann"), std::string::npos) << text;
    EXPECT_EQ(json_of({"show", core.c_str(), "--mode", "2", "--json"})["components"][0]["modes"][0]["items"][0]["id"], "beer");
    EXPECT_EQ(json_of({"show", filled.c_str(), "--json"})["components"][0]["modes"][0]["items"].size(), 5);
    const auto lines = run_program({"show", model.c_str(), "--csv", "--top", "1"});
    EXPECT_TRUE(lines.out.starts_with("component,weight,component_share,mode,index,item,value,share\n1,")) << lines.out << lines.err;
    EXPECT_NE(lines.out.find(",who,3,carl,0.7071"), std::string::npos) << lines.out;
    EXPECT_NE(lines.out.find(",when:hour,8,08,"), std::string::npos) << lines.out;
    const auto list = folder / "items.csv";
    EXPECT_EQ(run_program({"show", model.c_str(), "-o", list.c_str(), "--top", "1"}).code, cli::exit_success);
    EXPECT_TRUE(world.rank() > 0 || TemporaryFolder::read(list) == lines.out);
    check_wrong_lines(
        {{{"show", model.c_str(), "-o", list.c_str()}, cli::exit_error, "--overwrite"},
         {{"show", model.c_str(), "--csv", "--json"}, cli::exit_usage, "--json"},
         {{"show", "none"}, cli::exit_error, "none: there is no such file"},
         {{"show", model.c_str(), "--component", "3"}, cli::exit_error, "there is no component 3; there are 2"},
         {{"show", model.c_str(), "--mode", "waht"}, cli::exit_error, "there is no mode 'waht'; did you mean what?"},
         {{"show", model.c_str(), "--mode", "4"}, cli::exit_error, "modes are numbered from 1 to 3, or called who, what, when:hour"},
         {{"show", model.c_str(), "--top", "0"}, cli::exit_usage, "--top"}});
    if (world.rank() == 0) std::filesystem::remove(std::filesystem::path(model) / "model.ids");
    world.agree([] {});
    const auto bare = run_program({"show", model.c_str()});
    EXPECT_NE(bare.out.find("indices from 0, since there are no ids"), std::string::npos) << bare.out;
    folder.write("m/model.ids", "# arges ids 1\nmode 1 1 x\na\n");
    EXPECT_NE(run_program({"show", model.c_str()}).err.find("has ids of a tensor of 1, and this one is 5 x 2 x 24"), std::string::npos);
}

/// Ratings of a table; rows for people, things and times that are known and such that are not.
TEST(TableProgram, predicts_the_rows_of_a_table) {
    const World world;
    const TemporaryFolder folder(world);
    const auto csv = folder.write("e.csv", events()), tensor = folder / "e.tns", model = folder / "m", out = folder / "p.csv";
    run_program({"convert", csv.c_str(), tensor.c_str(), "--columns", "who,what,when:1d", "--value", "paid"});
    const auto made = run_program({"complete", tensor.c_str(), "--rank", "1", "--output", model.c_str(), "--iterations", "5"});
    ASSERT_EQ(made.code, cli::exit_success) << made.err;
    const auto again = json_of({"predict", model.c_str(), csv.c_str(), "--value", "paid", "-o", out.c_str(), "--json"});
    EXPECT_EQ(again["predictions"], 45);
    EXPECT_EQ(again["unknown_ids"], (std::vector<int>{0, 0, 0}));
    EXPECT_EQ(again["in_unknown_slices"], 0);
    EXPECT_LT(again["rmse"].get<double>(), 1);
    EXPECT_TRUE(TemporaryFolder::read(out).starts_with("who,what,when,paid,predicted\nann,tea,2024-03-01 08:15,2,"))
        << TemporaryFolder::read(out);
    EXPECT_NE(TemporaryFolder::read(out).find("\n\"Zoë, the first\",tea,2024-03-09 08:15,2,"), std::string::npos);
    const auto indices = json_of({"predict", model.c_str(), tensor.c_str(), "--json", "-o", (folder / "i.tns").c_str()});
    EXPECT_NEAR(again["rmse"].get<double>(), indices["rmse"].get<double>(), 1e-12);
    const auto asked =
        folder.write("q.tsv", "what\tday\tperson\ntea\t2024-03-02\tann\ntea\t2024-03-22\tann\nmilk\t2024-03-02\teve\n\t2024-03-02\tann\n");
    const auto printed = run_program({"predict", model.c_str(), asked.c_str(), "--columns", "person,what,day"});
    EXPECT_EQ(printed.code, cli::exit_success) << printed.err;
    EXPECT_TRUE(world.rank() > 0 || printed.out.starts_with("person\twhat\tday\tpredicted\nann\ttea\t2024-03-02\t")) << printed.out;
    const auto shown = run_program(
        {"predict", model.c_str(), asked.c_str(), "--columns", "person,what,day:1d", "--skip-empty", "-o", out.c_str(), "--overwrite"});
    for (const char* line :
         {"predictions        3, and 1 row with empty fields left out", "unknown ids        1 in who", "unknown ids        1 in what",
          "unknown ids        1 in when:1d", "in unknown slices  2, where only the other slices' biases tell"})
        EXPECT_NE(shown.out.find(line), std::string::npos) << line << "\n" << shown.out << shown.err;
    const auto zipped = folder / "p.csv.gz";
    run_program({"predict", model.c_str(), out.c_str(), "--columns", "person,what,day", "-o", zipped.c_str()});
    const auto twice =
        json_of({"predict", model.c_str(), zipped.c_str(), "--columns", "person,what,day", "--value", "predicted", "--json"});
    EXPECT_LT(twice["rmse"].get<double>(), 1e-14);
    const auto wrong = folder.write("w.csv", "who,what,when\nann,tea,2024-03-02\nann,tea,never\n"), bare = folder / "bare";
    run_program({"complete", tensor.c_str(), "--rank", "1", "--output", bare.c_str(), "--iterations", "1"});
    if (world.rank() == 0) std::filesystem::remove(std::filesystem::path(bare) / "model.ids");
    world.agree([] {});
    const char* const m = model.c_str();
    check_wrong_lines({
        {{"predict", m, asked.c_str()}, cli::exit_error, "there is no column 'who'"},
        {{"predict", m, asked.c_str(), "--columns", "person,day"}, cli::exit_error, "2 columns for the 3 modes of the model"},
        {{"predict", m, asked.c_str(), "--columns", "person,what,day:1h"}, cli::exit_error, "mode when:1d of the model was made with 1d"},
        {{"predict", m, wrong.c_str()}, cli::exit_error, "w.csv, line 3: column 3 (when): 'never' is no time"},
        {{"predict", m, csv.c_str(), "--base", "one"}, cli::exit_usage, "is a table, and this is for indices"},
        {{"predict", m, tensor.c_str(), "--value", "paid"}, cli::exit_usage, "is no table"},
        {{"predict", m, csv.c_str(), "--memory", "10M"}, cli::exit_error, "the memory forecast is"},
        {{"predict", bare.c_str(), csv.c_str()}, cli::exit_error, "there are no ids of the model"},
        {{"predict", m, csv.c_str(), "-o", csv.c_str(), "--overwrite"}, cli::exit_error, "this is an input"},
    });
}

/// Columns begin below each other, whatever the letters.
TEST(TableProgram, aligns_ids_of_other_alphabets) {
    const World world;
    const TemporaryFolder folder(world);
    const auto csv = folder.write("c.csv", "city,n\nZürich,1\n東京,2\nBonn,3\nMünchen,4\n"), tensor = folder / "c.tns",
               model = folder / "m";
    run_program({"convert", csv.c_str(), tensor.c_str(), "--columns", "city,n", "--value", "n"});
    run_program({"cpd", tensor.c_str(), "--rank", "1", "--output", model.c_str()});
    const auto shown = run_program({"show", model.c_str(), "--top", "4", "--mode", "city"}).out;
    EXPECT_NE(shown.find("top  city     "), std::string::npos) << shown;
    for (const char* id : {"\n  1  München  ", "Bonn     ", "東京     ", "Zürich   "})
        EXPECT_TRUE(shown.find(id) != std::string::npos) << id << "\n" << shown;
}

TEST(TableProgram, answers_a_wrong_command_with_one_line) {
    const World world;
    const TemporaryFolder folder(world);
    const auto csv = folder.write("e.csv", events()), tns = folder.write("x.tns", "1 1 1\n"), out = folder / "o.atns",
               graph = folder / "o.hgr";
    const char* const file = csv.c_str();
    check_wrong_lines({
        {{"convert", file, out.c_str()}, cli::exit_usage, "say which columns make modes: arges convert"},
        {{"convert", "-", out.c_str()}, cli::exit_usage, "say which columns make modes"},
        {{"convert", file, graph.c_str(), "--columns", "who"}, cli::exit_usage, "of a table a tensor is made"},
        {{"convert", file, out.c_str(), "--columns", "whom"}, cli::exit_error, "there is no column 'whom'; did you mean who?"},
        {{"convert", file, out.c_str(), "--columns", "who", "--base", "one"}, cli::exit_usage, "--base"},
        {{"convert", file, out.c_str(), "--columns", "who", "--header", "maybe"}, cli::exit_usage, "maybe"},
        {{"convert", file, out.c_str(), "--columns", "who,when:1x"}, cli::exit_error, "'1x' is no unit of time"},
        {{"convert", file, out.c_str(), "--columns", "who,what", "--duplicates", "refuse"},
         cli::exit_error,
         "line 5: a second value for element (ann, tea), which line 2 has"},
        {{"convert", tns.c_str(), out.c_str(), "--value", "paid"}, cli::exit_usage, "is no table; name the columns"},
        {{"convert", tns.c_str(), out.c_str(), "--duplicates", "count"}, cli::exit_usage, "this is for tables"},
        {{"stats", file}, cli::exit_error, "this is a table; make a tensor of it: arges convert"},
        {{"tucker", file, "--ranks", "2,2"}, cli::exit_error, "this is a table; make a tensor of it: arges convert"},
        {{"complete", file}, cli::exit_error, "this is a table; make a tensor of it: arges convert"},
    });
}

}  // namespace
}  // namespace arges::test
