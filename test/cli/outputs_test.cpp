// Files that are there are replaced on request only, and no two runs write the same.
#include "arges/output_claim.hpp"
#include "arges/tensor.hpp"
#include "arges/tensor_io.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace arges::test {
namespace {

class OutputsOfPrograms : public testing::Test {
protected:
    /// A command that writes, with the file that it leaves.
    struct Writing {
        std::vector<const char*> words;
        std::string file;
    };
    std::vector<Writing> writing() const {
        return {{{"convert", text.c_str(), table.c_str()}, table},
                {{"convert", text.c_str(), graph.c_str()}, graph},
                {{"convert", molecule.c_str(), integrals.c_str()}, integrals},
                {{"cpd", text.c_str(), "--rank", "1", "--iterations", "1", "--output", factors.c_str()}, factors + "/description.json"},
                {{"complete", text.c_str(), "--rank", "1", "--iterations", "1", "--output", fitted.c_str()}, fitted + "/description.json"},
                {{"tucker", text.c_str(), "--ranks", "1,1,1", "--iterations", "1", "--output", core.c_str()}, core}};
    }

    const World world{};
    const TemporaryFolder folder{world};
    const std::string text = folder.write("a.tns", "1 1 1 1.5\n2 2 2 2.5\n2 1 2 0.5\n"),
                      molecule = folder.write("a.fcidump", "&FCI NORB=2,NELEC=2 /\n0.7 1 1 1 1\n0.2 2 1 2 1\n0.6 2 2 1 1\n0.5 2 2 2 2\n"
                                                           "-1.2 1 1 0 0\n-0.4 2 2 0 0\n0.9 0 0 0 0\n"),
                      table = folder / "b.tns", graph = folder / "b.hgr", integrals = folder / "b.fcidump", factors = folder / "factors",
                      fitted = folder / "fitted", core = folder / "core.h5", amplitudes = folder / "t.h5", machine = folder / "machine";
};

TEST_F(OutputsOfPrograms, AreNotReplacedUnbidden) {
    const Communicator comm(world.communicator());
    for (const auto& [words, file] : writing()) {
        SCOPED_TRACE(words[0] + std::string(" ") + file);
        const auto first = run_program(words);
        EXPECT_EQ(first.code, 0) << first.err;
        const auto before = TemporaryFolder::read(file);
        const auto files = folder.files();
        const auto second = run_program(words);
        EXPECT_EQ(second.code, cli::exit_error);
        EXPECT_NE(second.err.find("there is such a file already; name another output, or give --overwrite"), std::string::npos)
            << second.err;
        EXPECT_TRUE(TemporaryFolder::read(file) == before);
        EXPECT_EQ(folder.files(), files) << "no claim is left";
        comm.barrier();
        auto bidden = words;
        bidden.push_back("--overwrite");
        EXPECT_EQ(run_program(bidden).code, 0);
        EXPECT_EQ(folder.files(), files);
    }
}

/// By whatever path, and whatever is asked for.
TEST_F(OutputsOfPrograms, AreNeverInputs) {
    namespace fs = std::filesystem;
    const Communicator comm(world.communicator());
    const auto relative = fs::relative(text).string(), soft = folder / "soft.tns", hard = folder / "hard.tns", part = folder / "part.txt",
               model = folder / "model", matrix = folder / "mode_1.map", dense = folder / "model/mode_1.npy",
               held = folder.write("held.tns", "2 2 1 1.0\n"), copy = folder / "copy.fcidump";
    Tensor<double> values(world, {2, 2});
    values.fill(1.5);
    if (comm.rank() == 0) {
        fs::create_directory(model);
        fs::create_symlink(text, soft);
        fs::create_hard_link(text, hard);
        fs::create_hard_link(molecule, copy);
        fs::copy_file(text, matrix);
    }
    folder.write("part.txt", "0\n0\n0\n");
    write_npy(values, dense);
    struct Case {
        std::vector<const char*> words;
        std::string input;
    };
    const std::vector<Case> cases{
        {{"convert", text.c_str(), text.c_str()}, text},
        {{"convert", text.c_str(), relative.c_str()}, text},
        {{"convert", text.c_str(), soft.c_str()}, text},
        {{"convert", soft.c_str(), text.c_str()}, text},
        {{"convert", text.c_str(), hard.c_str()}, text},
        {{"convert", matrix.c_str(), table.c_str(), "--compact"}, matrix},
        {{"convert", molecule.c_str(), copy.c_str()}, molecule},
        {{"tucker", dense.c_str(), "--ranks", "1,1", "--output", dense.c_str()}, dense},
        {{"tucker", text.c_str(), "--ranks", "1,1,1", "--output", hard.c_str()}, text},
        {{"cpd", dense.c_str(), "--output", model.c_str()}, dense},
        {{"cpd", text.c_str(), "--save-partition", soft.c_str()}, text},
        {{"cpd", text.c_str(), "--distribution", "fine", "--partition", part.c_str(), "--save-partition", part.c_str()}, part},
        {{"complete", text.c_str(), "--save-partition", text.c_str()}, text},
        {{"complete", text.c_str(), "--validate", held.c_str(), "--save-partition", held.c_str()}, held},
        {{"cc", molecule.c_str(), "--checkpoint", molecule.c_str()}, molecule},
        {{"cc", molecule.c_str(), "--checkpoint", copy.c_str(), "--restart"}, molecule},
    };
    const auto files = folder.files();
    for (const auto& [words, input] : cases) {
        SCOPED_TRACE(testing::PrintToString(words));
        const auto before = TemporaryFolder::read(input);
        auto again = words;
        again.push_back("--overwrite");
        for (const auto& line : {words, again}) {
            const auto outcome = run_program(line);
            EXPECT_EQ(outcome.code, cli::exit_error);
            EXPECT_NE(outcome.err.find(": this is an input"), std::string::npos) << outcome.err;
            EXPECT_NE(outcome.err.find(", which the output would replace; name another output"), std::string::npos) << outcome.err;
            EXPECT_TRUE(TemporaryFolder::read(input) == before);
        }
        EXPECT_EQ(folder.files(), files);
    }
}

/// Nor is one output another one, and a model that a run goes on from is replaced on request.
TEST_F(OutputsOfPrograms, AreDistinct) {
    const auto description = factors + "/description.json";
    const auto outcome =
        run_program({"cpd", text.c_str(), "--rank", "1", "--output", factors.c_str(), "--save-partition", description.c_str()});
    EXPECT_EQ(outcome.code, cli::exit_error);
    EXPECT_NE(outcome.err.find("two outputs of this run would have this name"), std::string::npos) << outcome.err;
    std::vector<const char*> words{"cpd", text.c_str(), "--rank", "1", "--iterations", "1", "--output", factors.c_str()};
    EXPECT_EQ(run_program(words).code, 0);
    words.insert(words.end(), {"--start", factors.c_str()});
    EXPECT_EQ(run_program(words).code, cli::exit_error);
    words.push_back("--overwrite");
    EXPECT_EQ(run_program(words).code, 0);
}

/// Any file that a model would replace or remove, not only those that it is sure to have.
TEST_F(OutputsOfPrograms, KeepOldPartsOfAModel) {
    for (const char* name : {"mode_4.npy", "mode_2_rows.txt"}) {
        const auto own = folder / "own";
        if (world.rank() == 0) std::filesystem::create_directory(own);
        folder.write(std::string("own/") + name, "0");
        const auto outcome = run_program({"cpd", text.c_str(), "--rank", "1", "--iterations", "1", "--output", own.c_str()});
        EXPECT_NE(outcome.err.find(std::string(name) + ": there is such a file already"), std::string::npos) << outcome.err;
        EXPECT_EQ(TemporaryFolder::read(own + "/" + name), "0");
        Communicator(world.communicator()).barrier();
        if (world.rank() == 0) std::filesystem::remove_all(own);
    }
}

TEST_F(OutputsOfPrograms, AreWrittenByOneRunAtATime) {
    const Communicator comm(world.communicator());
    for (const auto& [words, file] : writing()) {
        SCOPED_TRACE(words[0]);
        std::optional<OutputClaim> other;
        if (comm.rank() == 0) {
            std::filesystem::create_directories(std::filesystem::path(file).parent_path());
            other.emplace(file);
        }
        comm.barrier();
        auto again = words;
        again.push_back("--overwrite");
        const auto outcome = run_program(again);
        EXPECT_EQ(outcome.code, cli::exit_error);
        EXPECT_NE(outcome.err.find(file + ": another program is about to write this file"), std::string::npos) << outcome.err;
        other.reset();
        comm.barrier();
    }
}

/// Before they compute.
TEST_F(OutputsOfPrograms, OfLongWorkAreNotReplacedEither) {
    folder.write("t.h5", "amplitudes");
    const auto calculation = run_program({"cc", molecule.c_str(), "--checkpoint", amplitudes.c_str()});
    EXPECT_EQ(calculation.code, cli::exit_error);
    EXPECT_NE(calculation.err.find("t.h5: there is such a file already"), std::string::npos) << calculation.err;
    folder.write("machine", "not the constants of a machine");
    const auto outcome = run_program({"calibrate", "--output", machine.c_str()});
    EXPECT_EQ(outcome.code, cli::exit_error);
    EXPECT_NE(outcome.err.find("machine: there is such a file already"), std::string::npos) << outcome.err;
}

/// What a program that was killed has left is no hindrance.
TEST_F(OutputsOfPrograms, OfKilledRunsAreForgotten) {
    folder.write("b.tns.arges-part-0", "");
    EXPECT_EQ(run_program({"convert", text.c_str(), table.c_str()}).code, 0);
    EXPECT_EQ(folder.files(), 3);
}

TEST_F(OutputsOfPrograms, HaveAFolderForMaps) {
    const auto maps = folder / "new/maps";
    const std::vector<const char*> words{"convert", text.c_str(), table.c_str(), "--compact", "--maps", maps.c_str()};
    EXPECT_EQ(run_program(words).code, 0);
    EXPECT_EQ(TemporaryFolder::read(maps + "/mode_1.map"), "1\n2\n");
    const auto other = folder / "c.tns";
    const auto outcome = run_program({"convert", text.c_str(), other.c_str(), "--compact", "--maps", maps.c_str()});
    EXPECT_NE(outcome.err.find("mode_1.map: there is such a file already"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace arges::test
