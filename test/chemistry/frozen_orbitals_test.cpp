#include "arges/chemistry/frozen_orbitals.hpp"

#include "arges/chemistry/cc_driver.hpp"
#include "arges/chemistry/fcidump.hpp"
#include "arges/chemistry/reference.hpp"
#include "io/refused.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace arges::chemistry {
namespace {

const std::string frozen_molecules = "examples/data/";

/// MP2 over spin orbitals by its definition, from full arrays: i, j, a, b run over what is not frozen.
double mp2_by_loops(const Fcidump& data, const FrozenOrbitals& frozen) {
    const Reference reference = build_reference(data, "file");
    const auto n = static_cast<std::size_t>(data.header.orbitals);
    const std::vector<double> g[] = {data.two(0).gather(), data.two(1).gather(), data.mixed().gather()};
    const auto integral = [&](int s, int t, std::size_t p, std::size_t q, std::size_t r, std::size_t u) {
        if (s == t) return g[s][p + n * (q + n * (r + n * u))];
        return s == 0 ? g[2][p + n * (q + n * (r + n * u))] : g[2][r + n * (u + n * (p + n * q))];
    };
    double energy = 0;
    for (int s : {0, 1})
        for (int t : {0, 1}) {
            const auto &first = reference.spin[static_cast<std::size_t>(s)], &second = reference.spin[static_cast<std::size_t>(t)];
            const auto e = [](const SpinReference& spin, std::size_t p) {
                return spin.f(static_cast<std::int64_t>(p), static_cast<std::int64_t>(p));
            };
            const auto core = static_cast<std::size_t>(frozen.core), end = n - static_cast<std::size_t>(frozen.virtuals);
            for (auto i = core; i < static_cast<std::size_t>(first.occupied); ++i)
                for (auto j = core; j < static_cast<std::size_t>(second.occupied); ++j)
                    for (auto a = static_cast<std::size_t>(first.occupied); a < end; ++a)
                        for (auto b = static_cast<std::size_t>(second.occupied); b < end; ++b) {
                            const double direct = integral(s, t, i, a, j, b), exchange = s == t ? integral(s, t, i, b, j, a) : 0;
                            const double denominator = e(first, i) + e(second, j) - e(first, a) - e(second, b);
                            energy += 0.5 * direct * (direct - exchange) / denominator;
                        }
        }
    return energy;
}

TEST(FrozenOrbitals, LeaveTheReferenceAndTheOtherElectrons) {
    const World world;
    for (const char* const file : {"h2o_sto3g.fcidump", "lih_631g.fcidump", "be_ccpvdz.fcidump", "h2o_cation_uhf_sto3g.fcidump"})
        for (const FrozenOrbitals& frozen : {FrozenOrbitals{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
            SCOPED_TRACE(std::string(file) + ", core " + std::to_string(frozen.core) + ", virtuals " + std::to_string(frozen.virtuals));
            const std::string path = frozen_molecules + file;
            const Fcidump whole = read_integrals(world, path), rest = without_frozen(whole, frozen);
            EXPECT_NEAR(build_reference(rest, path).energy, build_reference(whole, path).energy, 1e-10);
            CcOptions options{Method::mp2};
            options.frozen = frozen;
            const CcResult result = run_coupled_cluster(world, path, options);
            EXPECT_NEAR(result.energy(Method::mp2).value(), mp2_by_loops(whole, frozen), 1e-10);
            EXPECT_EQ(result.frozen.core, frozen.core);
        }
}

/// The core of two-electron atoms is all there is; freezing it leaves two electrons, for which CCSD is exact.
TEST(FrozenOrbitals, AreSeenByEveryMethod) {
    const World world;
    const std::string path = frozen_molecules + "lih_631g.fcidump";
    CcOptions options{Method::ccsd};
    options.frozen.core = 1;
    const double ccsd = run_coupled_cluster(world, path, options).energy(Method::ccsd).value();
    options.method = Method::rccsd;
    EXPECT_NEAR(run_coupled_cluster(world, path, options).energy(Method::rccsd).value(), ccsd, 1e-8);
    options.method = Method::ccsdt;
    EXPECT_NEAR(run_coupled_cluster(world, path, options).energy(Method::ccsdt).value(), ccsd, 1e-8) << "two electrons have no triples";
}

TEST(FrozenOrbitals, OfTheCoreAreFoundByTheirEnergies) {
    const World world;
    for (const auto& [file, core] :
         {std::pair{"h2o_sto3g.fcidump", 1}, {"lih_631g.fcidump", 1}, {"be_ccpvdz.fcidump", 1}, {"h2o_cation_uhf_sto3g.fcidump", 1}}) {
        const std::string path = frozen_molecules + file;
        EXPECT_EQ(core_orbitals(read_integrals(world, path), path), core) << file;
        CcOptions options{Method::mp2};
        options.find_core = true;
        EXPECT_EQ(run_coupled_cluster(world, path, options).frozen.core, core) << file;
    }
}

TEST(FrozenOrbitals, ThatAreNotThereAreRefused) {
    const World world;
    const Fcidump water = read_integrals(world, frozen_molecules + "h2o_sto3g.fcidump");
    for (const FrozenOrbitals& frozen : {FrozenOrbitals{6, 0}, {-1, 0}, {0, 3}, {0, -1}})
        test::expect_refused_with("at most 5 are occupied in both spins, and 2 virtual", [&] { without_frozen(water, frozen); });
}

}  // namespace
}  // namespace arges::chemistry
