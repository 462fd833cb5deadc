#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <nlohmann/json.hpp>

namespace arges::test {
namespace {

TEST(Stats, CountsDistributions) {
    const auto outcome = run_program({"stats", yago, "--parts", "4"});
    ASSERT_EQ(outcome.code, cli::exit_success) << outcome.err;
    EXPECT_NE(outcome.out.find("201,089 nonzeros"), std::string::npos) << outcome.out;
}

/// In the numbers of the file.
TEST(Stats, NamesTheHeaviestSliceAsTheFileDoes) {
    const World world;
    const TemporaryFolder folder(world);
    const auto one = folder.write("one.tns", "1 1 1\n217 1 1\n217 3 1\n"), zero = folder.write("zero.tns", "0 0 1\n216 0 1\n216 2 1\n");
    for (const auto& [file, slice] : {std::pair{one, 217}, std::pair{zero, 216}}) {
        const auto object = nlohmann::json::parse(run_program({"stats", file.c_str(), "--json"}).out);
        EXPECT_EQ(object["modes"][0]["heaviest_slice"].get<int>(), slice);
        EXPECT_NE(run_program({"stats", file.c_str()}).out.find(" " + std::to_string(slice) + " "), std::string::npos);
    }
}

TEST(Stats, RefusesWhatRankZeroCannotHold) {
    const auto outcome = run_program({"stats", yago, "--memory", "30M"});
    EXPECT_EQ(outcome.code, cli::exit_error);
    EXPECT_NE(outcome.err.find("rank 0 looks at all 201,089 nonzeros"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace arges::test
