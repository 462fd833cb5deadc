#include "support/program_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace arges::test {
namespace {

using cli::exit_error;
using cli::exit_success;
using cli::exit_usage;

const char* const mttkrp = "ijk,ja,ka->ia";

TEST(Plan, PrintsTables) {
    const auto outcome = run_program({"plan", mttkrp, "--sizes", "i=8192,j=8192,k=8192,a=192", "--torus", "16x16x16", "--memory", "2G"});
    ASSERT_EQ(outcome.code, exit_success) << outcome.err;
    for (const char* text : {"on 4096 ranks (16x16x16)", "2,350,080", "planned bytes", "memory-dependent", "intensity",
                             "grid: i=16 j=16 k=16", "stays", "tiles of the bound:", "limit 2.0 GB"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text << "\n" << outcome.out;
}

TEST(Plan, PrintsTheSameNumbersAsJson) {
    const auto outcome = run_program({"plan", mttkrp, "--sizes", "i=8192,j=8192,k=8192,a=192", "--ranks", "4096", "--json"});
    ASSERT_EQ(outcome.code, exit_success) << outcome.err;
    const auto plan = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(plan["ranks"], 4096);
    EXPECT_EQ(plan["lower_bound_bytes"], 2350080);
    EXPECT_TRUE(plan["memory_limit_bytes"].is_null());
    EXPECT_GE(plan["bytes"].get<std::int64_t>(), 2350080);
    EXPECT_LE(plan["bytes"].get<std::int64_t>(), 2400000);
    ASSERT_EQ(plan["steps"].size(), 1U);
    const auto& step = plan["steps"][0];
    for (const char* key : {"statement", "kind", "grid", "chain", "operands", "counted_ranks", "bytes", "bytes_sent", "bytes_all_ranks",
                            "lower_bounds", "intensity", "tiles", "flops", "useful_flops", "working_bytes", "seconds"})
        EXPECT_TRUE(step.contains(key)) << key;
    for (const char* key : {"lower_bounds_at_once", "tensor_bytes", "peak_working_bytes", "seconds", "planning_seconds"})
        EXPECT_TRUE(plan.contains(key)) << key;
    EXPECT_LT(plan["planning_seconds"].get<double>(), 30);
}

TEST(Plan, TakesTypesAndSymmetries) {
    auto plan = [](std::vector<const char*> more) {
        std::vector<const char*> words{"plan", "abef,efij->abij", "--sizes", "a=40,b=40,e=40,f=40,i=10,j=10", "--ranks", "8", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.code, exit_success) << outcome.err;
        return nlohmann::json::parse(outcome.out);
    };
    const auto dense = plan({});
    EXPECT_EQ(plan({"--type", "float"})["tensor_bytes"].get<std::int64_t>() * 2, dense["tensor_bytes"]);
    EXPECT_EQ(plan({"--type", "complex"})["tensor_bytes"], dense["tensor_bytes"].get<std::int64_t>() * 2);
    EXPECT_EQ(plan({"--type", "complex"})["useful_flops"], dense["useful_flops"].get<double>() * 4);
    const auto packed = plan({"--symmetry", "A: antisym(e,f)", "--symmetry", "B: antisym(e,f)"});
    EXPECT_LT(packed["useful_flops"].get<double>(), 0.5 * dense["useful_flops"].get<double>());
    EXPECT_LT(packed["tensor_bytes"], dense["tensor_bytes"]);
}

/// Packed and in blocks, and the faster of the two; the environment says what is meant without the option.
TEST(Plan, SpreadsGroupsAsItIsTold) {
    const auto run = [](const char* mapping, bool json) {
        std::vector<const char*> words{"plan",       "abef,efij->abij",      "--sizes",    "a=21,b=21,e=21,f=21,i=9,j=9", "--ranks", "16",
                                       "--symmetry", "A: sym(a,b) sym(e,f)", "--symmetry", "B: sym(e,f) sym(i,j)"};
        if (mapping != nullptr) words.insert(words.end(), {"--group-mapping", mapping});
        if (json) words.push_back("--json");
        const auto outcome = run_program(words);
        EXPECT_EQ(outcome.code, exit_success) << outcome.err;
        return outcome.out;
    };
    const auto plan = [&](const char* mapping) { return nlohmann::json::parse(run(mapping, true)); };
    const auto packed = plan(nullptr), blocks = plan("blocks"), best = plan("best");
    EXPECT_EQ(packed["group_mapping"], "packed");
    EXPECT_FALSE(packed["steps"][0].contains("virtual_blocks"));
    EXPECT_EQ(blocks["group_mapping"], "blocks");
    ASSERT_TRUE(blocks["steps"][0].contains("virtual_blocks")) << blocks;
    EXPECT_GT(blocks["steps"][0]["padding"].get<double>(), packed["steps"][0]["padding"].get<double>());
    EXPECT_GT(blocks["tensor_padding"].get<double>(), packed["tensor_padding"].get<double>());
    EXPECT_GT(blocks["flops"].get<double>(), packed["flops"].get<double>());
    EXPECT_LE(best["seconds"].get<double>(), packed["seconds"].get<double>());
    EXPECT_NE(run("blocks", false).find("more products than useful ones"), std::string::npos);
    EXPECT_NE(run("blocks", false).find("groups blocks"), std::string::npos);
    ASSERT_EQ(setenv("ARGES_GROUP_MAPPING", "blocks", 1), 0);
    EXPECT_EQ(plan(nullptr)["steps"], blocks["steps"]);
    EXPECT_EQ(plan("packed")["steps"], packed["steps"]) << "the option counts";
    ASSERT_EQ(unsetenv("ARGES_GROUP_MAPPING"), 0);
}

/// A million ranks, and a prime number of them.
TEST(Plan, WorksForHugeMachines) {
    for (const char* ranks : {"1000000", "999983"}) {
        const auto outcome = run_program({"plan", "ijklm,jb,kc,ld,me->ibcde", "--sizes",
                                          "i=240,j=240,k=240,l=240,m=240,b=96,c=96,d=96,e=96", "--ranks", ranks, "--json"});
        ASSERT_EQ(outcome.code, exit_success) << outcome.err;
        EXPECT_LT(nlohmann::json::parse(outcome.out)["planning_seconds"].get<double>(), 60);
    }
}

/// What fits into a device's memory is computed there; what does not comes in windows, if multiplying takes longer than the way.
TEST(Plan, KnowsDevicesByName) {
    struct Case {
        const char *einsum, *sizes, *place;
        bool crosses, is_cut;
    };
    for (const auto& [einsum, sizes, place, crosses, is_cut] :
         {Case{"ij,jk->ik", "i=20000,j=20000,k=20000", "device", false, false},
          Case{"ij,jk->ik", "i=60000,j=60000,k=60000", "device", true, true},  // one factor lies on the host
          Case{"ij,jk->ik", "i=120000,j=120000,k=120000", "device", true, true}}) {
        SCOPED_TRACE(std::string(einsum) + " " + sizes);
        const auto outcome = run_program({"plan", einsum, "--sizes", sizes, "--machine", "h100", "--json"});
        ASSERT_EQ(outcome.code, exit_success) << outcome.err;
        const auto step = nlohmann::json::parse(outcome.out)["steps"][0];
        EXPECT_EQ(step["place"], place);
        EXPECT_EQ(step["crossing_bytes"].get<std::int64_t>() > 0, crosses);
        EXPECT_EQ(step.contains("windows"), is_cut);
    }
    const auto tables = run_program({"plan", "ij,jk->ik", "--sizes", "i=8000,j=8000,k=8000", "--machine", "a100"});
    EXPECT_NE(tables.out.find("on the device"), std::string::npos) << tables.out;
    const auto host = run_program({"plan", "ij,jk->ik", "--sizes", "i=8000,j=8000,k=8000"});
    EXPECT_EQ(host.out.find("on the device"), std::string::npos) << host.out;
}

TEST(Plan, AnswersWrongInputWithOneLine) {
    const char* const sizes = "i=10,j=10,k=10";
    check_wrong_lines({
        {{"plan"}, exit_usage, "EINSUM"},
        {{"plan", "ij,jk->ik"}, exit_usage, "--sizes"},
        {{"plan", "ij,jk->ik", "--sizes", "i=10,j"}, exit_usage, "i=100"},
        {{"plan", "ij,jk->ik", "--sizes", "i=0"}, exit_usage, "i=0"},
        {{"plan", "ij,jk->ik", "--sizes", "i=-5"}, exit_usage, "i=-5"},
        {{"plan", "ij,jk->ik", "--sizes", "i=99999999999999999999"}, exit_usage, "i=100"},
        {{"plan", "ij,jk->ik", "--sizes", "i=1,i=2"}, exit_usage, "two sizes"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--ranks", "0"}, exit_usage, "--ranks"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--ranks", "many"}, exit_usage, "--ranks"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--torus", "4by4"}, exit_usage, "--torus"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--memory", "2Q"}, exit_usage, "2Q"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--type", "quad"}, exit_usage, "--type"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--group-mapping", "cyclic"}, exit_usage, "use packed, blocks or best"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--torus", "4x4", "--ranks", "15"}, exit_error, "16 ranks"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--ranks", "10", "--ranks-per-node", "4"}, exit_error, "4 on a node"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--machine", "no/such.conf"}, exit_error, "no/such.conf: there is no such file"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--coordinates", "no/such"}, exit_error, "no/such: the file cannot be read"},
        {{"plan", "ij,jk->ik", "--sizes", "i=10,j=10"}, exit_error, "label 'k' has no size"},
        {{"plan", "ij,jk->ik", "--sizes", "i=10,j=10,k=10,z=10"}, exit_error, "no label 'z'"},
        {{"plan", "ij,jk->il", "--sizes", sizes}, exit_error, "'l'"},
        {{"plan", "ij,j1->i", "--sizes", sizes}, exit_error, "not a letter"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--memory", "100"}, exit_error, "the tensors alone take 2,400 bytes"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--symmetry", "sym(i,j)"}, exit_error, "A: sym(i,j)"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--symmetry", "D: sym(i,j)"}, exit_error, "'D'"},
        {{"plan", "ij,jk->ik", "--sizes", sizes, "--symmetry", "A: sym(i,k)"}, exit_error, "k"},
        {{"plan", "ij,jk->ik", "--sizes", "i=10000000000,j=10000000000,k=10"}, exit_error, "10^18"},
    });
}

}  // namespace
}  // namespace arges::test
