// Wrong files and wrong options of all subcommands: one line that says what to do, and nothing is written.
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace arges::test {
namespace {

/// A folder with inputs, most of them wrong, and what is in it.
class WrongInput : public ::testing::Test {
protected:
    const World world;
    const TemporaryFolder folder{world};
    const std::string good = folder.write("good.tns", "1 1 1 2\n2 2 2 3\n3 1 2 1\n1 2 1 4\n"),
                      csv = folder.write("good.csv", "who,what,n\nann,tea,1\nbob,rum,2\n"), out = folder / "out.tns",
                      model = folder / "model";

    /// One line with a cure for each command; then the folder has what it had.
    void check(const std::vector<WrongCommand>& commands) const {
        const auto before = names();
        for (const auto& command : commands) {
            const auto outcome = run_program(command.words);
            EXPECT_EQ(outcome.code, command.code) << outcome.err;
            EXPECT_TRUE(outcome.err.starts_with("arges: error: ")) << outcome.err;
            EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
            EXPECT_NE(outcome.err.find(command.message), std::string::npos) << outcome.err;
            EXPECT_TRUE(outcome.err.find("; ") != std::string::npos || outcome.err.find("(see arges --help)") != std::string::npos)
                << outcome.err;
            EXPECT_EQ(names(), before) << command.message;
        }
    }

private:
    std::vector<std::string> names() const {
        world.agree([] {});
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / ""))
            all.push_back(entry.path().string() + (entry.is_regular_file() ? " " + std::to_string(entry.file_size()) : ""));
        std::sort(all.begin(), all.end());
        world.agree([] {});
        return all;
    }
};

using cli::exit_error;
using cli::exit_usage;

std::string npy_of(const std::string& header) {
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
}

TEST_F(WrongInput, files_of_tensors) {
    const auto empty = folder.write("empty.tns", ""), text = folder.write("text.tns", "one two three\n"),
               ragged = folder.write("ragged.tns", "1 1 1 2\n2 2 3\n"), nan = folder.write("nan.tns", "1 1 1 2\n2 2 2 nan\n"),
               infinite = folder.write("inf.tns", "1 1 1 2\n2 2 2 -inf\n"), zero = folder.write("zero.tns", "1 1 1 2\n0 2 2 1\n"),
               cut = folder.write("cut.tns.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x33\x54", 12)),
               rubbish = folder.write("rubbish.tns", std::string("\0\x01\xff\xfe\x80\0\0rubbish\n\0", 16)),
               binary = folder.write("magic.atns", "SOMETHINGELSE___________________"), splatt = folder.write("magic.bin", "nothing of it"),
               matrix = folder.write("wrong.mtx", "%%MatrixMarket matrix coordinate real\n1 1 1\n"),
               header = folder.write("header.npy", npy_of("{'descr': '<f8', 'shape': (2,2)}\n")),
               shorter = folder.write("short.npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 4, 4), }\n") + "12345678"),
               fake = folder.write("fake.h5", "no HDF5 at all"), none = folder / "none.tns", place = folder / "";
    const char* const tns = good.c_str();
    check({
        {{"cpd", none.c_str(), "--rank", "2"}, exit_error, "none.tns"},
        {{"cpd", place.c_str(), "--rank", "2"}, exit_error, "directory"},
        {{"cpd", empty.c_str(), "--rank", "2"}, exit_error, "empty.tns"},
        {{"cpd", text.c_str(), "--rank", "2"}, exit_error, "line 1"},
        {{"complete", ragged.c_str(), "--rank", "2"}, exit_error, "line 2"},
        {{"stats", nan.c_str()}, exit_error, "line 2"},
        {{"stats", infinite.c_str()}, exit_error, "line 2"},
        {{"cpd", zero.c_str(), "--rank", "2", "--base", "one"}, exit_error, "line 2"},
        {{"convert", tns, out.c_str(), "--lengths", "2x2x2"}, exit_error, "line 3"},
        {{"convert", cut.c_str(), out.c_str()}, exit_error, "cut.tns.gz"},
        {{"stats", rubbish.c_str()}, exit_error, "rubbish.tns"},
        {{"stats", binary.c_str()}, exit_error, "magic.atns"},
        {{"stats", splatt.c_str()}, exit_error, "magic.bin"},
        {{"stats", matrix.c_str()}, exit_error, "wrong.mtx"},
        {{"tucker", header.c_str(), "--ranks", "1,1"}, exit_error, "header.npy"},
        {{"tucker", shorter.c_str(), "--ranks", "1,1,1"}, exit_error, "short.npy"},
        {{"tucker", fake.c_str(), "--ranks", "1,1"}, exit_error, "fake.h5"},
        {{"convert", place.c_str(), out.c_str()}, exit_error, "directory"},
    });
}

TEST_F(WrongInput, tables_and_ids) {
    const auto ragged = folder.write("ragged.csv", "who,what,n\nann,tea,1\nbob,2\n"),
               open = folder.write("open.csv", "who,what,n\nann,\"tea,1\nbob,rum,2\n"), empty = folder.write("empty.csv", ""),
               bare = folder.write("bare.csv", "who,what,n\n"), nan = folder.write("nan.csv", "who,what,n\nann,tea,nan\n"),
               word = folder.write("word.csv", "who,what,n\nann,tea,much\n"),
               rubbish = folder.write("r.csv.gz", std::string("\x1f\x8b\x08rubb", 7));
    const char* const o = out.c_str();
    check({
        {{"convert", ragged.c_str(), o, "--columns", "who,what"}, exit_error, "line 3: 2 fields where the first line has 3"},
        {{"convert", open.c_str(), o, "--columns", "who,what"}, exit_error, "quote"},
        {{"convert", empty.c_str(), o, "--columns", "who,what"}, exit_error, "the file is empty"},
        {{"convert", bare.c_str(), o, "--columns", "who,what"}, exit_error, "there is no row"},
        {{"convert", nan.c_str(), o, "--columns", "who,what", "--value", "n"}, exit_error, "line 2"},
        {{"convert", word.c_str(), o, "--columns", "who,what", "--value", "n"}, exit_error, "line 2"},
        {{"convert", rubbish.c_str(), o, "--columns", "who,what"}, exit_error, "r.csv.gz"},
        {{"convert", csv.c_str(), o, "--columns", "who,when"}, exit_error, "there is no column 'when'"},
        {{"convert", csv.c_str(), o, "--columns", "1,9", "--header", "yes"}, exit_error, "there is no column 9"},
        {{"convert", csv.c_str(), o, "--columns", "who", "--delimiter", "abc"}, exit_error, "is no delimiter"},
    });
}

TEST_F(WrongInput, options) {
    const char *const t = good.c_str(), *const o = out.c_str(), *const m = model.c_str();
    const auto there = folder.write("there.tns", "1 1\n");
    check({
        {{"cpd", t, "--rank", "0"}, exit_usage, "--rank"},
        {{"cpd", t, "--rank", "two"}, exit_usage, "--rank"},
        {{"cpd", t, "--rank", "2", "--tolerance", "-1"}, exit_usage, "--tolerance"},
        {{"cpd", t, "--rank", "2", "--seconds", "-1"}, exit_usage, "--seconds: '-1' must be a positive number (see"},
        {{"cpd", t, "--ranks", "3:2"}, exit_usage, "--ranks"},
        {{"cpd", t, "--rank", "2", "--loss", "poison"}, exit_usage, "did you mean poisson"},
        {{"cpd", t, "--rank", "2", "--algorithm", "nonneg"}, exit_usage, "did you mean nonnegative?"},
        {{"cpd", t, "--rank", "2", "--constraint", "1:nonneg"}, exit_usage, "did you mean nonnegative?"},
        {{"cpd", t, "--rank", "2", "--constraint", "7:nonnegative"}, exit_error, "use one from 1 to 3"},
        {{"cpd", t, "--rank", "2", "--start", m}, exit_error, "model"},
        {{"cpd", t, "--rnk", "2"}, exit_usage, "did you mean --rank?"},
        {{"cpd", t, "--rank", "2", "--grid", "0x1x1"}, exit_error, "grid"},
        {{"complete", t, "--rank", "2", "--holdout", "2"}, exit_usage, "--holdout"},
        {{"complete", t, "--rank", "2", "--regularization", "-1"}, exit_usage, "--regularization"},
        {{"complete", t, "--rank", "2", "--algorithm", "als2"}, exit_usage, "did you mean als?"},
        {{"tucker", t, "--ranks", "0,1,1"}, exit_usage, "--ranks"},
        {{"tucker", t, "--ranks", "2,2"}, exit_error, "ranks"},
        {{"tucker", t, "--ranks", "2,2,2", "--tolerance", "-1"}, exit_usage, "--tolerance"},
        {{"convert", t, t}, exit_error, "this is an input"},
        {{"convert", t, csv.c_str()}, exit_usage, "good.csv"},
        {{"convert", csv.c_str(), there.c_str(), "--columns", "who"}, exit_error, "--overwrite"},
        {{"stats", (folder / "none.h5:/x").c_str()}, exit_error, "none.h5"},
        {{"convert", t, o, "--output-base", "two"}, exit_usage, "--output-base"},
        {{"predict", m, t}, exit_error, "model"},
        {{"show", t}, exit_error, "this is a tensor, and no model"},
        {{"report", m, "--html", o}, exit_error, "model"},
        {{"plan", "ij,jk"}, exit_usage, ""},
        {{"cc", t}, exit_error, "good.tns"},
        {{"stats", t, "--ranks", "-4"}, exit_usage, "--ranks"},
        {{"stat", t}, exit_usage, "did you mean stats?"},
        {{"cpd", t, "--rank", "2", "--memory", "-1"}, exit_usage, "arges: error: --memory: \"-1\" is not a size; write e.g. 512M or 2G"},
        {{"machine", "--device", "x"}, exit_usage, "arges: error: --device: \"x\" is not known; use cuda or none"},
        {{"machine", "--group-mapping", "x"}, exit_usage, "arges: error: --group-mapping: \"x\" is not known"},
        {{"machine", "--torus", "0x3"}, exit_usage, "--torus"},
    });
}

}  // namespace
}  // namespace arges::test
