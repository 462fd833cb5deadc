#include "support/program_run.hpp"

#include "arges/world.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace arges::test {
namespace {

TEST(Machine, SaysWhatAWorldIs) {
    const World world;
    const auto outcome = run_program({"machine", "--memory", "64M", "--json"});
    ASSERT_EQ(outcome.code, cli::exit_success) << outcome.err;
    const auto machine = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(machine["ranks"], world.size());
    EXPECT_EQ(machine["torus"], world.torus().lengths());
    EXPECT_EQ(machine["memory_limit"], 64 << 20);
    std::int64_t ranks = 1;
    for (const auto& length : machine["grids"][0]) ranks *= length.get<std::int64_t>();
    EXPECT_EQ(ranks, world.size());
    EXPECT_GE(machine["threads"], 1);
    EXPECT_GT(machine["flops_per_second"], 0);
}

TEST(Machine, PrintsATable) {
    const auto outcome = run_program({"machine"});
    ASSERT_EQ(outcome.code, cli::exit_success) << outcome.err;
    for (const char* text : {"ranks on a node", "process grid", "memory limit of a rank", "Gflop/s"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
}

TEST(Machine, RefusesAWrongTorus) { EXPECT_NE(run_program({"machine", "--torus", "5x7x11"}).code, cli::exit_success); }

}  // namespace
}  // namespace arges::test
