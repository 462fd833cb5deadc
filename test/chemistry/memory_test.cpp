// What coupled cluster takes, what is forecast, and what happens where memory is short.
#include "arges/chemistry/cc_driver.hpp"
#include "arges/error.hpp"
#include "comm/communicator.hpp"
#include "interface/world/world_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace arges::chemistry {
namespace {

const std::string molecules = "examples/data/";

CcOptions rough_options(Method method) {
    CcOptions options;
    options.method = method;
    options.solver.tolerance = 1e-2;
    return options;
}

/// Starts a new measurement of the largest resident size of this process; false where the system
/// cannot do that.
bool reset_process_peak() {
    std::ofstream stream("/proc/self/clear_refs");
    stream << "5" << std::flush;
    return stream.good();
}

struct Calculation {
    const char* file;
    Method method;
};

class Forecast : public testing::TestWithParam<Calculation> {};

TEST_P(Forecast, is_above_what_is_taken_but_not_far) {
    const World world;
    const auto [file, method] = GetParam();
    if (world.size() > 4) GTEST_SKIP() << "takes long on many ranks";
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "freed memory that the sanitizer keeps would count";
#endif
    if (Communicator(world.communicator()).minimum(reset_process_peak()) == 0)
        GTEST_SKIP() << "the peak of this process cannot be set back";
    const CcResult result = run_coupled_cluster(world, molecules + file, rough_options(method));
    EXPECT_LE(result.peak_memory_bytes, result.forecast_memory_bytes);
    EXPECT_LT(result.forecast_memory_bytes, 2 * result.peak_memory_bytes);
}

INSTANTIATE_TEST_SUITE_P(Methods, Forecast,
                         testing::Values(Calculation{"h2o_631g.fcidump", Method::mp2},
                                         Calculation{"../../test/data/h2o_sto3g_trexio.h5", Method::mp2},
                                         Calculation{"be_ccpvdz.fcidump", Method::ccsd}, Calculation{"lih_631g.fcidump", Method::ccsd_t},
                                         Calculation{"be_ccpvdz.fcidump", Method::rccsd}, Calculation{"be_ccpvdz.fcidump", Method::rccsd_t},
                                         Calculation{"h2o_sto3g.fcidump", Method::ccsdt},
                                         Calculation{"h2o_cation_uhf_sto3g.fcidump", Method::ccsdtq}));

class AccountedForecast : public testing::TestWithParam<Calculation> {};

/// What every calculation takes for the round of reading and for the copies of its products, which only the forecast counts.
constexpr std::int64_t not_noted = std::int64_t{6} << 20;

TEST_P(AccountedForecast, is_at_least_what_the_world_accounts_for_and_at_most_1_3_of_it) {
    const World world;
    const auto [file, method] = GetParam();
    if (world.size() > 4) GTEST_SKIP() << "takes long on many ranks";
    const CcResult result = run_coupled_cluster(world, molecules + file, rough_options(method));
    const std::int64_t taken = Communicator(world.communicator()).maximum(world.state()->taken_peak());
    EXPECT_GE(result.forecast_taken_bytes, taken);
    EXPECT_LE(result.forecast_taken_bytes, taken + taken * 3 / 10 + not_noted);
}

INSTANTIATE_TEST_SUITE_P(Methods, AccountedForecast,
                         testing::Values(Calculation{"h2o_631g.fcidump", Method::mp2}, Calculation{"be_ccpvdz.fcidump", Method::ccsd},
                                         Calculation{"h2o_cation_uhf_sto3g.fcidump", Method::ccsd_t},
                                         Calculation{"lih_631g.fcidump", Method::ccsd_t}, Calculation{"h2o_631g.fcidump", Method::rccsd},
                                         Calculation{"be_ccpvdz.fcidump", Method::rccsd_t}, Calculation{"h2o_631g.fcidump", Method::ccsdt},
                                         Calculation{"h2o_sto3g.fcidump", Method::ccsdtq}));

/// The correlation energy with a memory limit; nothing if that is refused, which must happen before
/// the start.
std::optional<double> energy_within(World& world, std::int64_t limit, const Calculation& what) {
    world.set_memory_limit(limit);
    bool started = false;
    CcProgress progress;
    progress.planned = [&](const CcResult&) { started = true; };
    try {
        const CcResult result = run_coupled_cluster(world, molecules + what.file, rough_options(what.method), progress);
        EXPECT_LE(world.memory_in_use(), limit);
        return result.energy(what.method);
    } catch (const OutOfMemory& error) {
        const std::string message = error.what();
        EXPECT_FALSE(started) << message;
        for (const std::string& part :
             {molecules + what.file, "limit of " + std::to_string(limit), std::string("use more ranks or raise the limit")})
            EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
        return std::nullopt;
    }
}

class ShortMemory : public testing::TestWithParam<Calculation> {};

TEST_P(ShortMemory, leads_to_the_same_energy_or_to_an_error_before_the_start) {
    World world;
    if (world.size() > 4) GTEST_SKIP() << "takes long on many ranks";
    const Calculation what = GetParam();
    const double expected = energy_within(world, world.memory_limit(), what).value();
    const std::int64_t need = Communicator(world.communicator()).maximum(world.memory_peak());
    int refused = 0;
    const std::vector<std::int64_t> percents =
        world.size() > 2 ? std::vector<std::int64_t>{80, 20} : std::vector<std::int64_t>{90, 65, 40, 20, 5};
    for (const std::int64_t percent : percents) {
        const auto energy = energy_within(world, need * percent / 100, what);
        if (energy)
            EXPECT_NEAR(*energy, expected, 1e-9) << percent << " %";
        else
            ++refused;
        // What the open-shell (T) takes is cut along free labels.
        if (percent >= 65 && percent <= 80 && what.method == Method::ccsd_t) {
            EXPECT_TRUE(energy);
        }
    }
    EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Triples, ShortMemory,
                         testing::Values(Calculation{"lih_631g.fcidump", Method::ccsd_t},
                                         Calculation{"lih_631g.fcidump", Method::rccsd_t}));

TEST(ClosedShellTriples, fit_where_the_iterations_fit) {
    World world;
    if (world.size() > 2) GTEST_SKIP() << "takes long on many ranks";
    const Calculation iterations{"be_ccpvdz.fcidump", Method::rccsd}, triples{iterations.file, Method::rccsd_t};
    const double expected = energy_within(world, world.memory_limit(), triples).value();
    const std::int64_t need = Communicator(world.communicator()).maximum(world.memory_peak());
    std::int64_t limit = need / 2;
    while (!energy_within(world, limit, iterations)) limit += limit / 4;
    EXPECT_NEAR(energy_within(world, limit, triples).value_or(0), expected, 1e-9) << limit << " of " << need;
}

}  // namespace
}  // namespace arges::chemistry
