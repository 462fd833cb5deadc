// --device of the subcommands: numbers and files as on the host. The device is that of the tests (support/test_device.hpp).
#include "arges/tensor.hpp"
#include "arges/tensor_io.hpp"
#include "arges/tucker.hpp"
#include "cli/json_output.hpp"
#include "io/temporary_folder.hpp"
#include "support/program_run.hpp"
#include "support/test_device.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace arges::test {
namespace {

const char* const water = "examples/data/h2o_sto3g.fcidump";

class ProgramsOnADevice : public ::testing::Test {
protected:
    /// What a command line prints on the host and on the device.
    struct Both {
        Json host, device;
        /// Numbers, or lists of numbers.
        void expect_near(const char* key, double tolerance) const {
            const auto numbers = [&](const Json& object) {
                return object.at(key).is_array() ? object.at(key).get<std::vector<double>>() : std::vector{object.at(key).get<double>()};
            };
            const auto wanted = numbers(host), found = numbers(device);
            ASSERT_EQ(found.size(), wanted.size()) << key;
            for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], tolerance) << key;
        }
    };
    Both both(std::vector<const char*> words) {
        words.insert(words.end(), {"--json", "--device", "none"});
        Both result;
        result.host = parsed(run_program(words));
        const auto before = TestDevice::calls();
        words.back() = "cuda";
        result.device = parsed(run_program(words));
        calls = TestDevice::calls() - before;
        return result;
    }
    /// Constants of a machine whose device is faster than the host at anything.
    std::string fast_machine() {
        return folder.write("fast.conf", "device_copied_bytes_per_second = 1e18\ndevice_link_bytes_per_second = 1e18\n"
                                         "device_call_seconds = 1e-18\n");
    }
    /// A small array with fractions, in a file.
    std::string array() {
        Tensor<double> X(world, {12, 9, 10});
        X.fill([](Index i) { return 1 / (1 + 0.3 * static_cast<double>(i[0]) + 0.2 * static_cast<double>(i[1] * i[2])); });
        write_npy(X, folder / "x.npy");
        return folder / "x.npy";
    }

    const TestDevice test_device;
    const World world;
    const TemporaryFolder folder{world};
    std::int64_t calls = 0;  ///< kernels that the latest run on the device started
};

TEST_F(ProgramsOnADevice, CcHasTheSameEnergies) {
    const auto found = both({"cc", water, "--method", "ccsd(t)"});
    EXPECT_GT(calls, 100);
    for (const char* key : {"scf", "mp2", "ccsd", "ccsd(t)"}) found.expect_near(key, 1e-10);
}

TEST_F(ProgramsOnADevice, CpdOfADenseArrayHasTheSameFit) {
    const auto file = array();
    const auto found = both({"cpd", file.c_str(), "--rank", "3", "--iterations", "6", "--tolerance", "0"});
    found.expect_near("fit", 1e-10);
    found.expect_near("lambda", 1e-6);
}

TEST_F(ProgramsOnADevice, CpdOfASparseTensorHasTheSameFit) {
    std::vector<const char*> words{"cpd", "test/data/yago-4d.tns.gz", "--rank", "3", "--iterations", "2", "--tolerance", "0"};
    const auto wanted = both(words);
    wanted.expect_near("fit", 1e-10);
    words.insert(words.end(), {"--format", "device", "--device", "cuda", "--json"});
    const auto found = parsed(run_program(words));
    EXPECT_EQ(found["format"], "device");
    EXPECT_NEAR(found["fit"].get<double>(), wanted.host["fit"].get<double>(), 1e-10);
    words[words.size() - 2] = "none";
    EXPECT_NE(run_program(words).err.find("needs a device"), std::string::npos);
}

TEST_F(ProgramsOnADevice, TuckerHasTheSameErrorAndFiles) {
    const auto file = array(), first = folder / "first", second = folder / "second";
    const auto found = both({"tucker", file.c_str(), "--ranks", "3,2,4", "--method", "hooi"});
    found.expect_near("error", 1e-10);
    EXPECT_GT(calls, 0);
    for (const auto& [device, output] : {std::pair{"none", first}, std::pair{"cuda", second}})
        EXPECT_EQ(run_program({"tucker", file.c_str(), "--ranks", "3,2,4", "--output", output.c_str(), "--device", device}).code, 0);
    const auto model = load_tucker_model<double>(world, first), other = load_tucker_model<double>(world, second);
    EXPECT_EQ(model.ranks(), other.ranks());
    EXPECT_NEAR(model.core().norm(), other.core().norm(), 1e-10);
}

TEST_F(ProgramsOnADevice, TuckerOfASparseTensorHasTheSameError) {
    const MachineFile machine(fast_machine());
    const auto found = both({"tucker", "test/data/yago-4d.tns.gz", "--ranks", "2,2,2,2", "--iterations", "2"});
    found.expect_near("error", 1e-10);
    EXPECT_EQ(found.host["device_ranks"], 0);
    EXPECT_EQ(found.device["device_ranks"], world.size());
}

TEST_F(ProgramsOnADevice, CompleteHasTheSameErrors) {
    std::string text;
    for (int i = 1; i <= 6; ++i)
        for (int j = 1; j <= 5; ++j)
            for (int k = 1; k <= 4; ++k)
                if ((i + j + k) % 3 != 0)
                    text += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(k) + " " + std::to_string(1.25 * i * j * k) +
                            "\n";
    const auto file = folder.write("known.tns", text);
    const MachineFile machine(fast_machine());
    const auto found = both({"complete", file.c_str(), "--rank", "2", "--iterations", "5", "--tolerance", "0"});
    found.expect_near("rmse", 1e-9);
    found.expect_near("losses", 1e-6);
    EXPECT_EQ(found.host["device_ranks"], 0);
    EXPECT_GT(found.device["device_ranks"].get<int>(), 0);
}

TEST_F(ProgramsOnADevice, ItsMemoryHasALimit) {
    const auto file = array();
    // What it has no room for lies on the host; what neither has room for is refused.
    const auto outcome = run_program({"tucker", file.c_str(), "--ranks", "3,2,4", "--device", "cuda", "--device-memory", "1K"});
    EXPECT_EQ(outcome.code, cli::exit_success) << outcome.err;
    const auto refused =
        run_program({"tucker", file.c_str(), "--ranks", "3,2,4", "--device", "cuda", "--device-memory", "1K", "--memory", "2K"});
    EXPECT_EQ(refused.code, cli::exit_error);
    check_wrong_lines(
        {{{"tucker", "x.npy", "--ranks", "3", "--device", "opencl"}, cli::exit_usage, "use cuda or none"},
         {{"tucker", "x.npy", "--ranks", "3", "--device-memory", "1G"}, cli::exit_usage, "--device-memory requires --device"}});
}

/// What is measured of a device is what plans for machines with such devices rest on.
TEST_F(ProgramsOnADevice, ItsRatesAreMeasured) {
    const auto file = folder / "machine.conf";
    const auto measured = parsed(run_program({"calibrate", "--device", "cuda", "--output", file.c_str(), "--json"}));
    for (const char* name : {"device_flops_per_second", "device_copied_bytes_per_second", "device_link_bytes_per_second",
                             "device_call_seconds", "device_listed_element_seconds", "device_memory_bytes"})
        EXPECT_GT(measured.at(name).get<double>(), 0) << name;
    const auto plan = parsed(run_program({"plan", "ij,jk->ik", "--sizes", "i=2000,j=2000,k=2000", "--machine", file.c_str(), "--json"}));
    EXPECT_TRUE(plan["steps"][0].contains("place"));
}

TEST(ProgramsWithoutADevice, SayWhatIsMissing) {
    const auto outcome = run_program({"cc", water, "--method", "mp2", "--device", "cuda"});
    if (outcome.code == cli::exit_success) GTEST_SKIP() << "there is a device";
    EXPECT_EQ(outcome.code, cli::exit_error);
    EXPECT_TRUE(outcome.err.starts_with("arges: error: ")) << outcome.err;
    EXPECT_NE(outcome.err.find("use no device (Device, --device none, ARGES_DEVICE=none)"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace arges::test
