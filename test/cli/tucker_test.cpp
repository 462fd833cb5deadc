// arges tucker, and arges cpd with dense files: results, files, and wrong command lines.
#include "arges/tensor_io.hpp"
#include "arges/tucker.hpp"
#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

namespace arges::test {
namespace {

Tensor<double> smooth(const World& world) {
    Tensor<double> X(world, {20, 15, 18}, "X");
    X.fill([](Index i) {
        return 1 / (1 + 0.3 * static_cast<double>(i[0]) + 0.2 * static_cast<double>(i[1]) + 0.1 * static_cast<double>(i[2]));
    });
    return X;
}

TEST(TuckerProgram, PrintsOneObject) {
    const World world;
    const TemporaryFolder folder(world);
    const auto file = folder / "x.npy";
    write_npy(smooth(world), file);
    const auto object = parsed(run_program({"tucker", file.c_str(), "--tolerance", "1e-4", "--json"}));
    EXPECT_LE(object["error"].get<double>(), 1e-4);
    EXPECT_NEAR(object["error"].get<double>(), object["estimated_error"].get<double>(), 1e-8);
    EXPECT_EQ(object["ranks"].size(), 3U);
    EXPECT_GT(object["compression"].get<double>(), 10);
    EXPECT_EQ(object["steps"].size(), 3U);
    for (const char* key : {"seconds", "peak_memory_bytes", "lengths", "method", "grid", "processes", "read_seconds"})
        EXPECT_TRUE(object.contains(key)) << key;
    for (const char* method : {"hosvd", "st-hosvd", "hooi"}) {
        const auto other = parsed(run_program({"tucker", file.c_str(), "--ranks", "4,3,4", "--method", method, "--json"}));
        EXPECT_EQ(other["ranks"], Json({4, 3, 4}));
        EXPECT_EQ(other["method"], method);
        EXPECT_LE(other["error"].get<double>(), 1e-3);
    }
    const auto in_float =
        parsed(run_program({"tucker", file.c_str(), "--tolerance", "1e-3", "--type", "float", "--order", "3,1,2", "--json"}));
    EXPECT_LE(in_float["error"].get<double>(), 1e-3);
    EXPECT_EQ(in_float["steps"][0]["mode"], 3);
}

TEST(TuckerProgram, SavesAndGoesOn) {
    const World world;
    const TemporaryFolder folder(world);
    const auto file = folder / "x.npy", model = folder / "model.h5";
    write_npy(smooth(world), file);
    const auto run = [&](std::vector<const char*> more) {
        std::vector<const char*> words{"tucker", file.c_str(), "--ranks", "2,2,2", "--method", "hooi", "--fit-tolerance", "0", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return parsed(run_program(words))["error"].get<double>();
    };
    const double wanted = run({"--iterations", "4"});
    run({"--iterations", "2", "--output", model.c_str()});
    EXPECT_NEAR(run({"--iterations", "2", "--start", model.c_str()}), wanted, 1e-10);
    EXPECT_EQ(load_tucker_model<double>(world, model).ranks(), (std::vector<std::int64_t>{2, 2, 2}));
}

TEST(TuckerProgram, ShowsItsStepsAndTakesSparseTensors) {
    const World world;
    const TemporaryFolder folder(world);
    const auto file = folder / "x.npy";
    write_npy(smooth(world), file);
    const auto outcome = run_program({"tucker", file.c_str(), "--tolerance", "1e-3", "--method", "hooi"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* text : {"20 x 15 x 18", "iteration", "truncate", "hooi", "relative error", "compression", "bytes sent"})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
    const auto sparse = parsed(run_program({"tucker", "test/data/yago-4d.tns.gz", "--ranks", "3,2,3,2", "--iterations", "2", "--json"}));
    EXPECT_EQ(sparse["stop_reason"], "iterations");
    EXPECT_EQ(sparse["fits"].size(), 2U);
    EXPECT_EQ(sparse["ranks"], Json({3, 2, 3, 2}));
    EXPECT_EQ(sparse["method"], "hooi");
    EXPECT_GT(sparse["error"].get<double>(), 0.5);
    EXPECT_LT(sparse["error"].get<double>(), 1);
}

TEST(TuckerProgram, FindsRanksOfSparseTensors) {
    const World world;
    const TemporaryFolder folder(world);
    std::ostringstream text;
    for (int i = 1; i <= 12; ++i)
        for (int j = 1; j <= 10; ++j)
            for (int k = 1; k <= 8; ++k)
                text << i << ' ' << j << ' ' << k << ' ' << (1 + 0.3 * i * j) * (1 + k) + (i % 3) * (j % 2) * (k % 4) << '\n';
    const auto file = folder.write("x.tns", text.str());
    const auto found = parsed(run_program({"tucker", file.c_str(), "--tolerance", "1e-5", "--json"}));
    EXPECT_EQ(found["ranks"], Json({3, 3, 2}));
    EXPECT_LE(found["error"].get<double>(), 1e-5);
    EXPECT_EQ(found["stop_reason"], "tolerance");
    EXPECT_EQ(found["elements_not_stored"], "zeros");
    const auto missing = parsed(run_program({"tucker", file.c_str(), "--ranks", "3,3,2", "--missing", "--json"}));
    EXPECT_EQ(missing["elements_not_stored"], "missing");
    EXPECT_NEAR(missing["error"].get<double>(), 0, 1e-6);
    const auto positive = parsed(run_program({"tucker", file.c_str(), "--ranks", "3,3,2", "--method", "nonnegative", "--json"}));
    EXPECT_EQ(positive["method"], "nn");
    EXPECT_LT(positive["error"].get<double>(), 0.1);
}

/// A dense file gives the fit of the same tensor from C++.
TEST(CpdProgram, TakesDenseFiles) {
    const World world;
    const TemporaryFolder folder(world);
    const auto file = folder / "x.npy";
    const auto X = smooth(world);
    write_npy(X, file);
    CpOptions options;
    options.rank = 3;
    options.max_iterations = 6;
    options.tolerance = 0;
    const auto object = parsed(run_program({"cpd", file.c_str(), "--rank", "3", "--iterations", "6", "--tolerance", "0", "--json"}));
    EXPECT_NEAR(object["fit"].get<double>(), cp_decompose(X, options).fit, 1e-10);
    EXPECT_EQ(object["distribution"], "dense");
    EXPECT_EQ(object["bytes_sent_max"], object["bytes_planned_max"]);
    const auto table =
        run_program({"cpd", file.c_str(), "--rank", "3", "--iterations", "60", "--tolerance", "1e-7", "--pairwise-perturbation"});
    EXPECT_EQ(table.code, 0) << table.err;
    for (const char* text : {"5,400 elements", "perturbed", "pairwise perturbation", "bytes per iteration"})
        EXPECT_NE(table.out.find(text), std::string::npos) << text << table.out;
}

TEST(TuckerProgram, RefusesWrongLinesAndFiles) {
    const World world;
    const TemporaryFolder folder(world);
    const auto good = folder / "x.npy", zeros = folder / "zeros.npy", not_finite = folder / "nan.npy", missing = folder / "none.npy",
               inside = folder / "no/model.h5";
    const auto text = folder.write("text.tns", "this is no tensor\n"), one = folder.write("one.tns", "1 1 1 1.5\n2 2 2 2.5\n"),
               damaged = folder.write("damaged.npy", "\x93NUMPY\x01");
    write_npy(smooth(world), good);
    write_npy(Tensor<double>(world, {3, 3}), zeros);
    Tensor<double> wrong(world, {3, 3});
    wrong.fill([](Index i) { return i[0] == 1 ? std::nan("") : 1.0; });
    write_npy(wrong, not_finite);
    check_wrong_lines({
        {{"tucker"}, 2, "FILE"},
        {{"tucker", good.c_str(), "--json"}, 2, "--ranks"},
        {{"tucker", good.c_str(), "--ranks", "two"}, 2, "--ranks"},
        {{"tucker", good.c_str(), "--ranks", "0,1,1"}, 2, "--ranks"},
        {{"tucker", good.c_str(), "--ranks", "2,2", "--json"}, 1, "2 ranks for 3 modes"},
        {{"tucker", good.c_str(), "--ranks", "21,2,2", "--json"}, 1, "mode 1"},
        {{"tucker", good.c_str(), "--tolerance", "2"}, 2, "--tolerance"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--method", "svd"}, 2, "--method"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--kernel", "svd"}, 2, "--kernel"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--order", "1,2", "--json"}, 1, "order"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--order", "1,2,4", "--json"}, 1, "order"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--method", "hooi", "--start", good.c_str(), "--json"}, 1, "x.npy"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--start", good.c_str(), "--json"}, 2, "hooi"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--seed", "3"}, 2, "--seed"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--base", "one"}, 2, "--base"},
        {{"tucker", one.c_str(), "--ranks", "1,1,1", "--kernel", "qr"}, 2, "--kernel"},
        {{"tucker", good.c_str(), "--tolerance", "0.1", "--output", inside.c_str(), "--json"}, 1, "model.h5"},
        {{"tucker", missing.c_str(), "--tolerance", "0.1", "--json"}, 1, "none.npy"},
        {{"tucker", damaged.c_str(), "--tolerance", "0.1", "--json"}, 1, "damaged.npy"},
        {{"tucker", text.c_str(), "--ranks", "1,1,1", "--json"}, 1, "line 1"},
        {{"tucker", zeros.c_str(), "--tolerance", "0.1", "--json"}, 1, "zero"},
        {{"tucker", not_finite.c_str(), "--tolerance", "0.1", "--json"}, 1, "NaN"},
        {{"tucker", one.c_str(), "--tolerance", "1e-8", "--json"}, 1, "allow a larger one"},
        {{"tucker", one.c_str(), "--ranks", "1,1,1", "--method", "hosvd", "--json"}, 1, "hooi"},
        {{"tucker", one.c_str(), "--ranks", "3,1,1", "--json"}, 1, "mode 1"},
        {{"cpd", zeros.c_str(), "--json"}, 1, "zero"},
        {{"cpd", not_finite.c_str(), "--json"}, 1, "NaN"},
        {{"cpd", damaged.c_str(), "--json"}, 1, "damaged.npy"},
        {{"cpd", good.c_str(), "--format", "coo", "--json"}, 2, "sparse"},
        {{"cpd", good.c_str(), "--pairwise-perturbation", "--algorithm", "opt", "--json"}, 1, "alternating"},
        {{"cpd", good.c_str(), "--perturbation-threshold", "2", "--json"}, 2, "--perturbation-threshold"},
        {{"cpd", one.c_str(), "--pairwise-perturbation", "--json"}, 2, "dense"},
    });
}

}  // namespace
}  // namespace arges::test
