// Files that are there are replaced on request only, and no two runs write the same.
#include "arges/output_claim.hpp"
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

TEST_F(OutputsOfPrograms, AreNotInputs) {
    const auto before = TemporaryFolder::read(text);
    for (const std::vector<const char*>& words :
         {std::vector<const char*>{"convert", text.c_str(), text.c_str()},
          std::vector<const char*>{"tucker", text.c_str(), "--ranks", "1,1,1", "--output", text.c_str()}}) {
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.code, cli::exit_error);
        EXPECT_NE(outcome.err.find("a.tns: this is an input, which the output would replace"), std::string::npos) << outcome.err;
        EXPECT_TRUE(TemporaryFolder::read(text) == before);
    }
    EXPECT_EQ(run_program({"convert", text.c_str(), text.c_str(), "--overwrite", "--output-base", "zero"}).code, 0);
    EXPECT_EQ(TemporaryFolder::read(text), "0 0 0 1.5\n1 1 1 2.5\n1 0 1 0.5\n");
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
