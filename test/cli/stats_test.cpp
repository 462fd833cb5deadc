#include "support/program_run.hpp"

namespace arges::test {
namespace {

const char* const yago = "test/data/yago-4d.tns.gz";

TEST(Stats, CountsDistributions) {
    const auto outcome = run_program({"stats", yago, "--parts", "4"});
    ASSERT_EQ(outcome.code, cli::exit_success) << outcome.err;
    EXPECT_NE(outcome.out.find("201,089 nonzeros"), std::string::npos) << outcome.out;
}

TEST(Stats, RefusesWhatRankZeroCannotHold) {
    const auto outcome = run_program({"stats", yago, "--memory", "30M"});
    EXPECT_EQ(outcome.code, cli::exit_error);
    EXPECT_NE(outcome.err.find("rank 0 looks at all 201,089 nonzeros"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace arges::test
