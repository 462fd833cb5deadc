#include "arges/chemistry/cc_driver.hpp"

#include "arges/chemistry/fcidump.hpp"
#include "arges/error.hpp"
#include "chemistry/integrals/integral_file.hpp"
#include "chemistry/made_up.hpp"
#include "chemistry/temporary_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace arges::chemistry {
namespace {

const std::string data_folder = "examples/data/";

/// Energies by file and method.
std::map<std::string, std::map<std::string, double>> references() {
    std::map<std::string, std::map<std::string, double>> result;
    std::ifstream stream(data_folder + "references.csv");
    for (std::string line; std::getline(stream, line);) {
        std::istringstream fields(line);
        std::string file, method, energy;
        if (line.starts_with('#') || !std::getline(fields, file, ',') || !std::getline(fields, method, ',') ||
            !std::getline(fields, energy, ','))
            continue;
        result[file][method] = std::stod(energy);
    }
    return result;
}

CcOptions options_for(Method method) { return {method, {}, {}}; }

class EnergiesOf : public testing::TestWithParam<const char*> {};

TEST_P(EnergiesOf, agree_with_the_references) {
    const World world;
    const auto all = references();
    ASSERT_TRUE(all.contains(GetParam()));
    const auto& expected = all.at(GetParam());
    const CcResult result = run_coupled_cluster(world, data_folder + GetParam(), options_for(Method::ccsd_t));
    EXPECT_NEAR(result.scf, expected.at("scf"), 1e-8);
    EXPECT_NEAR(result.energy(Method::mp2).value(), expected.at("mp2"), 1e-8);
    EXPECT_NEAR(result.energy(Method::ccsd).value(), expected.at("ccsd"), 1e-8);
    EXPECT_NEAR(result.energy(Method::ccsd_t).value(), expected.at("ccsd(t)"), 1e-8);
    EXPECT_EQ(result.ranks, world.size());
    EXPECT_GT(result.forecast_memory_bytes, 0);
    EXPECT_GT(result.peak_memory_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Shipped, EnergiesOf, testing::Values("h2o_sto3g.fcidump", "lih_631g.fcidump", "be_ccpvdz.fcidump"));

/// A file and a method; the row of the reference, where it has another name.
struct Row {
    const char* file;
    Method method;
    const char* reference;
};

class CorrelationOf : public testing::TestWithParam<Row> {};

TEST_P(CorrelationOf, agrees_with_the_references) {
    const World world;
    const auto [file, method, reference] = GetParam();
    CcOptions options = options_for(method);
    options.solver.tolerance = 1e-9;
    const CcResult result = run_coupled_cluster(world, data_folder + file, options);
    EXPECT_NEAR(result.energy(method).value(), references().at(file).at(reference), 1e-8);
}

// Quadruples are exact for four electrons.
INSTANTIATE_TEST_SUITE_P(Shipped, CorrelationOf,
                         testing::Values(Row{"h2o_sto3g.fcidump", Method::ccsdt, "ccsdt"}, Row{"lih_631g.fcidump", Method::ccsdt, "ccsdt"},
                                         Row{"lih_631g.fcidump", Method::ccsdtq, "fci"}));

/// Energies of a Hamiltonian that goes through a file.
CcResult result_of(const World& world, const Fcidump& data, Method method) {
    const TemporaryFile file(world, nullptr);
    write_fcidump(file.path(), data);
    CcOptions options = options_for(method);
    options.solver.tolerance = 1e-10;
    return run_coupled_cluster(world, file.path(), options);
}

TEST(NonCanonicalOrbitals, give_the_same_energies) {
    const World world;
    const Fcidump water = read_integrals(world, data_folder + "h2o_sto3g.fcidump");
    const Dense dense = rotated(rotated(dense_of(water), 3, 4, 0.4), 5, 6, -0.7);
    const Fcidump data = fcidump_of(world, dense, 10, water.core_energy);
    const CcResult result = result_of(world, data, Method::ccsd_t);
    const auto expected = references().at("h2o_sto3g.fcidump");
    EXPECT_NEAR(result.scf, expected.at("scf"), 1e-9);
    EXPECT_NEAR(result.energy(Method::mp2).value(), expected.at("mp2"), 1e-9);
    EXPECT_NEAR(result.energy(Method::ccsd).value(), expected.at("ccsd"), 1e-9);
    EXPECT_NEAR(result.energy(Method::ccsd_t).value(), expected.at("ccsd(t)"), 1e-9);
    const CcResult adapted = result_of(world, data, Method::rccsd_t);
    EXPECT_NEAR(adapted.energy(Method::rccsd_t).value(), expected.at("ccsd(t)"), 1e-9);
}

TEST(NonCanonicalOrbitals, that_contradict_the_orbital_energies_of_the_file_are_refused) {
    const World world;
    const Fcidump water = read_integrals(world, data_folder + "h2o_sto3g.fcidump");
    Fcidump data = fcidump_of(world, rotated(dense_of(water), 3, 4, 0.4), 10, water.core_energy);
    data.orbital_energies = water.orbital_energies;
    EXPECT_THROW(result_of(world, data, Method::ccsd), InvalidArgument);
}

TEST(NonHartreeFockOrbitals, give_the_exact_energy_of_two_electrons) {
    // CCSD is exact for two electrons, whatever the orbitals: this needs f(i,a) in every equation.
    const World world;
    const Fcidump water = read_integrals(world, data_folder + "h2o_sto3g.fcidump");
    const Dense dense = dense_of(water);
    const CcResult straight = result_of(world, fcidump_of(world, dense, 2, water.core_energy), Method::ccsd);
    const CcResult turned = result_of(world, fcidump_of(world, rotated(dense, 0, 5, 0.1), 2, water.core_energy), Method::ccsd);
    EXPECT_GT(std::abs(straight.scf - turned.scf), 1e-3);
    EXPECT_NEAR(straight.scf + straight.energy(Method::ccsd).value(), turned.scf + turned.energy(Method::ccsd).value(), 1e-9);
}

/// Orbitals by irreducible representation, of which OCC and CLOSED name the occupied ones; the energies are those of the same integrals
/// with the orbitals ordered by energy.
TEST(Molpro, names_the_occupied_orbitals) {
    const World world;
    const std::string file = "test/data/h2o_molpro_irreps.fcidump";
    CcOptions options = options_for(Method::ccsd);
    const CcResult result = run_coupled_cluster(world, file, options);
    EXPECT_NEAR(result.scf, -74.963063129729, 1e-9);
    EXPECT_NEAR(result.energy(Method::mp2).value(), -0.035566836270, 1e-9);
    EXPECT_NEAR(result.energy(Method::ccsd).value(), -0.049467495799, 1e-8);
    EXPECT_EQ(result.header.file_orbitals, (std::vector<std::int64_t>{1, 2, 3, 5, 6, 4, 7}));
    EXPECT_EQ(result.header.orbital_symmetries, (std::vector<int>{1, 1, 1, 2, 3, 1, 3}));
    options.frozen.core = 2;  // the second occupied orbital of the first representation is no inner shell
    EXPECT_THROW(run_coupled_cluster(world, file, options), InvalidArgument);
    options.find_core = true;
    EXPECT_EQ(run_coupled_cluster(world, file, options).frozen.core, 1);
}

TEST(DegenerateSystems, have_an_extent_of_zero_or_no_triples) {
    const World world;
    const TemporaryFile full(world, "&FCI NORB=1,NELEC=2 &END\n0.5 1 1 1 1\n-1.0 1 1 0 0\n0.7 0 0 0 0\n");
    for (Method method : {Method::ccsd_t, Method::rccsd_t, Method::ccsdt, Method::ccsdtq}) {
        const CcResult no_virtuals = run_coupled_cluster(world, full.path(), options_for(method));
        EXPECT_NEAR(no_virtuals.scf, -0.8, 1e-14);
        EXPECT_EQ(no_virtuals.energy(method).value(), 0) << name_of(method);
    }

    const TemporaryFile empty(world, "&FCI NORB=1,NELEC=0 &END\n0.5 1 1 1 1\n-1.0 1 1 0 0\n0.7 0 0 0 0\n");
    const CcResult no_electrons = run_coupled_cluster(world, empty.path(), options_for(Method::ccsd_t));
    EXPECT_NEAR(no_electrons.scf, 0.7, 1e-14);
    EXPECT_EQ(no_electrons.energy(Method::ccsd_t).value(), 0);
}

/// Two electrons in two orbitals of different symmetry.
const char* const two_in_two = "&FCI NORB=2,NELEC=2 &END\n0.7 1 1 1 1\n0.2 2 1 2 1\n0.6 2 2 1 1\n0.5 2 2 2 2\n"
                               "-1.2 1 1 0 0\n-0.4 2 2 0 0\n0.9 0 0 0 0\n";

TEST(DegenerateSystems, two_electrons_in_two_orbitals_are_a_two_by_two_problem) {
    // H2-like, orbitals of different symmetry: E = lowest eigenvalue of {{2 h11 + g1111, g1212},
    // {g1212, 2 h22 + g2222}}.
    const World world;
    const TemporaryFile file(world, two_in_two);
    CcOptions options = options_for(Method::ccsd_t);
    options.solver.tolerance = 1e-11;
    const CcResult result = run_coupled_cluster(world, file.path(), options);
    const double gap = (2 * -0.4 + 0.5) - (2 * -1.2 + 0.7);
    EXPECT_NEAR(result.scf, 2 * -1.2 + 0.7 + 0.9, 1e-13);
    EXPECT_NEAR(result.energy(Method::ccsd).value(), gap / 2 - std::sqrt(gap * gap / 4 + 0.2 * 0.2), 1e-10);
    EXPECT_EQ(result.energy(Method::ccsd_t).value(), result.energy(Method::ccsd).value());
}

TEST(CoupledCluster, that_does_not_converge_is_an_error) {
    const World world;
    CcOptions options;
    options.solver.max_iterations = 3;
    EXPECT_THROW(run_coupled_cluster(world, data_folder + "h2o_sto3g.fcidump", options), NotConverged);
}

TEST(CoupledCluster, without_diis_takes_longer_to_the_same_energy) {
    const World world;
    const TemporaryFile file(world, two_in_two);
    const std::string molecule = world.size() > 4 ? file.path() : data_folder + "h2o_sto3g.fcidump";
    CcOptions options;
    const CcResult fast = run_coupled_cluster(world, molecule, options);
    options.solver.diis_vectors = 0;
    const CcResult slow = run_coupled_cluster(world, molecule, options);
    EXPECT_GT(slow.iterations, fast.iterations);
    EXPECT_NEAR(slow.energy(Method::ccsd).value(), fast.energy(Method::ccsd).value(), 1e-8);
}

TEST(CoupledCluster, starts_from_amplitudes_that_were_kept) {
    const World world;
    const TemporaryFile file(world, two_in_two);
    CcOptions options = options_for(Method::rccsd);
    options.keep_amplitudes = true;
    const CcResult first = run_coupled_cluster(world, file.path(), options);
    ASSERT_TRUE(first.amplitudes.contains("T2"));
    options.guess = &first.amplitudes;
    options.keep_amplitudes = false;
    const CcResult again = run_coupled_cluster(world, file.path(), options);
    EXPECT_TRUE(again.amplitudes.members().empty());
    EXPECT_LE(again.iterations, 2);
    EXPECT_NEAR(again.energy(Method::rccsd).value(), first.energy(Method::rccsd).value(), 1e-8);
    options.method = Method::ccsd;  // whose amplitudes are over spin orbitals
    EXPECT_THROW(run_coupled_cluster(world, file.path(), options), InvalidArgument);
}

TEST(CoupledCluster, refuses_arguments_that_differ_between_ranks) {
    const World world;
    if (world.size() == 1) GTEST_SKIP() << "needs two ranks";
    const bool is_other = world.rank() == world.size() - 1;
    const TemporaryFile file(world, two_in_two);
    std::vector<CcOptions> all(7, options_for(Method::ccsd));
    if (is_other) {
        all[0].method = Method::rccsd;
        all[1].solver.tolerance = 1e-7;
        all[2].solver.max_iterations = 99;
        all[3].frozen.core = 1;
        all[4].checkpoint.path = "other";
        all[5].find_core = true;
        all[6].keep_amplitudes = true;
    }
    for (const CcOptions& options : all) {
        EXPECT_THROW(run_coupled_cluster(world, file.path(), options), InvalidArgument);
        EXPECT_THROW(plan_coupled_cluster(world, file.path(), options), InvalidArgument);
        EXPECT_THROW(run_coupled_cluster(read_integrals(world, file.path()), options), InvalidArgument);
    }
    EXPECT_THROW(plan_coupled_cluster(world, FcidumpHeader{8, is_other ? 4 : 6}, {}), InvalidArgument);
    Fcidump data = read_integrals(world, file.path());
    data.core_energy += is_other ? 1 : 0;
    EXPECT_THROW(run_coupled_cluster(std::move(data), {}), InvalidArgument);
}

TEST(CoupledCluster, refuses_a_reference_without_a_gap) {
    const World world;
    const TemporaryFile file(world, "&FCI NORB=2,NELEC=2 &END\n0.7 1 1 1 1\n0.5 2 2 2 2\n0.6 2 2 1 1\n0.1 2 1 2 1\n"
                                    "-0.4 1 1 0 0\n-1.2 2 2 0 0\n");
    EXPECT_THROW(run_coupled_cluster(world, file.path(), {}), InvalidArgument);
}

TEST(ParseMethod, accepts_the_names_in_upper_and_lower_case) {
    EXPECT_EQ(parse_method("MP2"), Method::mp2);
    EXPECT_EQ(parse_method("ccsd"), Method::ccsd);
    EXPECT_EQ(parse_method("RCCSD(T)"), Method::rccsd_t);
    for (Method method : {Method::mp2, Method::ccsd, Method::ccsd_t, Method::rccsd, Method::rccsd_t, Method::ccsdt, Method::ccsdtq})
        EXPECT_EQ(parse_method(name_of(method)), method);
    EXPECT_EQ(to_string(Method::ccsd_t), "CCSD(T)");
    EXPECT_THROW(parse_method("ccsdtqp"), InvalidArgument);
}

}  // namespace
}  // namespace arges::chemistry
