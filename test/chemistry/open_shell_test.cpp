#include "arges/chemistry/cc_driver.hpp"

#include "arges/chemistry/fcidump.hpp"
#include "arges/error.hpp"
#include "chemistry/integrals/integral_file.hpp"
#include "chemistry/made_up.hpp"
#include "chemistry/temporary_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace arges::chemistry {
namespace {

const char* const water_file = "examples/data/h2o_sto3g.fcidump";

/// Energies of a Hamiltonian that goes through a file.
CcResult result_of(const World& world, const Fcidump& data, Method method) {
    const TemporaryFile file(world, nullptr);
    write_fcidump(file.path(), data);
    CcOptions options;
    options.method = method;
    options.solver.tolerance = 1e-11;
    return run_coupled_cluster(world, file.path(), options);
}

double correlation(const World& world, const Fcidump& data, Method method) { return result_of(world, data, method).energy(method).value(); }

/// Electrons and unpaired electrons, and a method that is exact for them.
struct Exact {
    std::int64_t electrons, ms2;
    Method method;
};

class ExactMethods : public testing::TestWithParam<Exact> {};

TEST_P(ExactMethods, give_the_full_ci_energy_over_any_orbitals) {
    const World world;
    const auto [electrons, ms2, method] = GetParam();
    const Dense shared = rotated(ladder(5), 1, 4, 0.1);
    SpinDense split = rotated(unrestricted(shared), 1, 0, 3, 0.07);
    split = rotated(rotated(split, 0, 3, 4, 0.3), 1, 2, 4, -0.2);
    for (const bool unrestricted : {false, true}) {
        // On many ranks, which are slow, each case goes over orbitals of one kind.
        if (world.size() > 4 && unrestricted == (electrons % 2 == 0)) continue;
        const Fcidump data =
            unrestricted ? fcidump_of(world, split, electrons, 0.25, ms2) : fcidump_of(world, shared, electrons, 0.25, ms2);
        const double exact = 0.25 + full_ci_energy(world, over_spin_orbitals(data));
        const CcResult result = result_of(world, data, method);
        EXPECT_NEAR(result.scf + result.energy(method).value(), exact, 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(Electrons, ExactMethods,
                         testing::Values(Exact{1, 1, Method::ccsd}, Exact{2, 2, Method::ccsd}, Exact{2, 0, Method::ccsd},
                                         Exact{3, 1, Method::ccsdt}, Exact{3, 3, Method::ccsdt}, Exact{3, -1, Method::ccsdt},
                                         Exact{4, 2, Method::ccsdtq}));

TEST(UnrestrictedOrbitals, that_both_spins_share_give_the_restricted_energies) {
    const World world;
    const Fcidump water = read_integrals(world, water_file);
    const CcResult restricted = result_of(world, water, Method::ccsd_t);
    const CcResult split = result_of(world, fcidump_of(world, unrestricted(dense_of(water)), 10, water.core_energy), Method::ccsd_t);
    EXPECT_NEAR(split.scf, restricted.scf, 1e-10);
    for (Method method : {Method::mp2, Method::ccsd, Method::ccsd_t})
        EXPECT_NEAR(split.energy(method).value(), restricted.energy(method).value(), 1e-10) << name_of(method);
}

TEST(UnrestrictedOrbitals, may_be_rotated_among_occupied_and_among_virtual_ones) {
    const World world;
    const Fcidump water = read_integrals(world, water_file);
    const SpinDense straight = unrestricted(dense_of(water));
    const SpinDense turned = rotated(rotated(rotated(straight, 0, 3, 4, 0.3), 0, 5, 6, 0.5), 1, 2, 4, -0.4);
    // The same with eight electrons, two of them unpaired: alpha has 5 and beta 3 occupied
    // orbitals.
    const SpinDense turned_open = rotated(rotated(rotated(straight, 0, 3, 4, 0.3), 0, 5, 6, 0.5), 1, 3, 6, -0.4);
    EXPECT_NEAR(correlation(world, fcidump_of(world, turned, 10, 0), Method::ccsd_t),
                correlation(world, fcidump_of(world, straight, 10, 0), Method::ccsd_t), 1e-10);
    EXPECT_NEAR(correlation(world, fcidump_of(world, turned_open, 8, 0, 2), Method::ccsd_t),
                correlation(world, fcidump_of(world, straight, 8, 0, 2), Method::ccsd_t), 1e-10);
}

TEST(UnrestrictedOrbitals, are_read_as_numbered_spin_orbitals_too) {
    // Two orbitals, other ones for beta, one electron of each spin.
    const World world;
    const TemporaryFile numbered(world, "&FCI\nNORB=4,\nNELEC=2,\nMS2=0,\nUHF=.TRUE.,\nORBSYM=1,1,2,2,\n&END\n"
                                        "0.7 1 1 1 1\n0.2 3 1 3 1\n0.6 3 3 1 1\n0.5 3 3 3 3\n"
                                        "0.71 2 2 2 2\n0.21 4 2 4 2\n0.61 4 4 2 2\n0.51 4 4 4 4\n"
                                        "0.72 1 1 2 2\n0.22 3 1 4 2\n0.62 3 3 2 2\n0.63 4 4 1 1\n0.52 3 3 4 4\n0.01 4 2 1 1\n"
                                        "-1.2 1 1 0 0\n-0.4 3 3 0 0\n-1.21 2 2 0 0\n-0.41 4 4 0 0\n0.9 0 0 0 0\n");
    const TemporaryFile blocks(world, "&FCI NORB=2,NELEC=2,MS2=0,IUHF=1 &END\n"
                                      "0.7 1 1 1 1\n0.2 2 1 2 1\n0.6 2 2 1 1\n0.5 2 2 2 2\n0. 0 0 0 0\n"
                                      "0.71 1 1 1 1\n0.21 2 1 2 1\n0.61 2 2 1 1\n0.51 2 2 2 2\n0. 0 0 0 0\n"
                                      "0.72 1 1 1 1\n0.22 2 1 2 1\n0.62 2 2 1 1\n0.63 1 1 2 2\n0.52 2 2 2 2\n0.01 1 1 2 "
                                      "1\n0. 0 0 0 0\n"
                                      "-1.2 1 1 0 0\n-0.4 2 2 0 0\n0. 0 0 0 0\n-1.21 1 1 0 0\n-0.41 2 2 0 0\n0. 0 0 0 "
                                      "0\n0.9 0 0 0 0\n");
    const Fcidump a = read_integrals(world, numbered.path()), b = read_integrals(world, blocks.path());
    EXPECT_EQ(a.header.orbitals, 2);
    EXPECT_EQ(a.header.orbital_symmetries, (std::vector<int>{1, 2}));
    for (int spin : {0, 1}) {
        EXPECT_EQ(a.one(spin).gather(), b.one(spin).gather());
        EXPECT_EQ(a.two(spin).gather(), b.two(spin).gather());
    }
    EXPECT_EQ(a.mixed().gather(), b.mixed().gather());
    const auto mixed = [&](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
        return a.mixed().gather()[static_cast<std::size_t>(p + 2 * (q + 2 * (r + 2 * s)))];
    };
    EXPECT_EQ(mixed(1, 1, 0, 0), 0.62);
    EXPECT_EQ(mixed(0, 0, 1, 1), 0.63);
    EXPECT_EQ(mixed(0, 0, 0, 1), 0.01);
    EXPECT_EQ(mixed(0, 1, 0, 0), 0);

    const TemporaryFile again(world, nullptr);
    write_fcidump(again.path(), a);
    const Fcidump back = read_integrals(world, again.path());
    EXPECT_EQ(back.mixed().gather(), a.mixed().gather());
    EXPECT_EQ(back.one(1).gather(), a.one(1).gather());
}

TEST(UnrestrictedOrbitals, have_energies_of_both_spins) {
    const World world;
    const std::string blocks = "&FCI NORB=1,NELEC=1,MS2=1,IUHF=1 &END\n0.7 1 1 1 1\n0 0 0 0 0\n0.7 "
                               "1 1 1 1\n0 0 0 0 0\n0.7 1 1 1 1\n"
                               "0 0 0 0 0\n-1.2 1 1 0 0\n-1.2 1 0 0 0\n0 0 0 0 0\n-1.2 1 1 0 "
                               "0\n-0.5 1 0 0 0\n0 0 0 0 0\n0.9 0 0 0 0\n";
    const TemporaryFile file(world, blocks.c_str());
    const Fcidump data = read_integrals(world, file.path());
    EXPECT_EQ(data.orbital_energies, std::vector<double>{-1.2});
    EXPECT_EQ(data.beta->orbital_energies, std::vector<double>{-0.5});
    EXPECT_NEAR(build_reference(data, "file").energy, -0.3, 1e-14);
    Fcidump wrong = data;
    wrong.beta->orbital_energies = {-0.4};
    EXPECT_THROW(build_reference(wrong, "file"), InvalidArgument);
}

TEST(OpenShells, the_shipped_cation_has_its_energies) {
    const World world;
    if (world.rank() != 0) return;
    const World alone(MPI_COMM_SELF);
    const std::string path = "examples/data/h2o_cation_uhf_sto3g.fcidump";
    const Fcidump data = read_integrals(alone, path);
    const double exact = full_ci_energy(alone, over_spin_orbitals(data)) + data.core_energy;
    CcOptions options;
    options.method = Method::ccsdtq;
    const CcResult result = run_coupled_cluster(alone, path, options);
    EXPECT_NEAR(result.scf, -74.66178436045594, 1e-10);
    EXPECT_NEAR(result.scf + result.energy(Method::ccsdtq).value(), exact, 2e-7);
}

/// A file that Psi4 wrote, or that has its orbitals, and the energies of Psi4 1.3.2.
struct Psi4Row {
    const char* file;
    double scf, mp2, ccsd, triples;  ///< mp2: 0 where it was not computed
};

class EnergiesOfPsi4 : public testing::TestWithParam<Psi4Row> {};

TEST_P(EnergiesOfPsi4, are_those_of_open_shells) {
    const World world;
    const Psi4Row& row = GetParam();
    CcOptions options;
    options.method = Method::ccsd_t;
    options.solver.tolerance = 1e-10;
    const CcResult result = run_coupled_cluster(world, std::string("test/data/") + row.file, options);
    EXPECT_NEAR(result.scf, row.scf, 1e-10);
    if (row.mp2 != 0) {
        EXPECT_NEAR(result.energy(Method::mp2).value(), row.mp2, 1e-10);
    }
    const double ccsd = result.energy(Method::ccsd).value();
    EXPECT_NEAR(ccsd, row.ccsd, 2e-9);
    EXPECT_NEAR(result.energy(Method::ccsd_t).value() - ccsd, row.triples, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(WaterCation, EnergiesOfPsi4,
                         testing::Values(Psi4Row{"h2o_cation_psi4_uhf.fcidump", -74.655924389768, -0.027681633032813, -0.038948708441704,
                                                 -0.000123359155347},
                                         Psi4Row{"h2o_cation_rohf.fcidump", -74.653912158078, 0, -0.040969761388196, -0.000120187467142}));

TEST(OpenShells, are_refused_by_spin_adapted_methods) {
    const World world;
    const Fcidump water = read_integrals(world, water_file);
    const Fcidump triplet = fcidump_of(world, dense_of(water), 10, 0, 2);
    EXPECT_THROW(result_of(world, triplet, Method::rccsd), InvalidArgument);
    EXPECT_THROW(result_of(world, fcidump_of(world, unrestricted(dense_of(water)), 10, 0), Method::rccsd_t), InvalidArgument);
}

TEST(OpenShells, with_one_spin_only_need_no_beta_electrons) {
    const World world;
    const Fcidump data = fcidump_of(world, ladder(5), 2, 0, 2);
    const CcResult result = result_of(world, data, Method::ccsdtq), lower = result_of(world, data, Method::ccsd);
    EXPECT_NEAR(result.energy(Method::ccsdtq).value(), lower.energy(Method::ccsd).value(), 1e-10);
}

}  // namespace
}  // namespace arges::chemistry
