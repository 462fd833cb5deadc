// Closed-shell coupled cluster against the same equations over spin orbitals.
#include "arges/chemistry/rccsd.hpp"

#include "arges/chemistry/cc_equations.hpp"
#include "arges/chemistry/fcidump.hpp"
#include "arges/chemistry/mp2.hpp"
#include "arges/chemistry/rtriples.hpp"
#include "arges/chemistry/triples.hpp"
#include "arges/machine.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace arges::chemistry {
namespace {

/// A Hamiltonian of random numbers whose first orbitals lie low: not Hartree-Fock orbitals, so that
/// no block of the Fock matrix is zero.
Fcidump random_hamiltonian(const World& world, std::int64_t occupied, std::int64_t virtuals) {
    const std::int64_t n = occupied + virtuals;
    Fcidump data;
    data.header.orbitals = n;
    data.header.electrons = 2 * occupied;
    data.one_electron = Tensor<double>(world, {n, n}, "pq", "sym(p,q)", "h");
    data.one_electron.fill_random(7);
    data.one_electron.for_each_local([&](Index x, double& value) {
        if (x[0] == x[1]) value += x[0] < occupied ? -40.0 : 40.0;
    });
    data.two_electron = Tensor<double>(world, {n, n, n, n}, "pqrs", "sym(sym(p,q),sym(r,s))", "g");
    data.two_electron.fill_random(8);
    return data;
}

/// Both sets of integrals, and amplitudes that have nothing to do with them.
struct Problem {
    Problem(const World& world, std::int64_t o, std::int64_t v)
        : data(random_hamiltonian(world, o, v)), reference(build_reference(data, "random")),
          spatial(build_spatial_integrals(data, reference, IntegralSet::coupled_cluster)),
          spin(build_integrals(data, reference, IntegralSet::coupled_cluster)), t(rmp2_amplitudes(spatial)) {
        t["T1"].fill_random(1);
        t["T2"].fill_random(2);
    }
    Fcidump data;
    Reference reference;
    SpatialIntegrals spatial;
    SpinIntegrals spin;
    TensorSet t;
};

/// Closed-shell amplitudes over spin orbitals: t(a up, i up) = t1(ai) and
/// t(a up, b down, i up, j down) = t2(abij); the others follow from antisymmetry.
TensorSet over_spin_orbitals(const SpinIntegrals& spin, const TensorSet& t) {
    TensorSet result = zero_amplitudes(spin, 2);
    const std::vector<double> t1 = t["T1"].gather(), t2 = t["T2"].gather();
    const SpinSpace a = spin.spaces.of('a'), i = spin.spaces.of('i');
    const std::int64_t v = a.size() / 2, o = i.size() / 2;
    result["T1"].fill([&](Index x) {
        const std::int64_t at = x[0] % v + v * (x[1] % o);
        return a.spin(x[0]) == i.spin(x[1]) ? t1[static_cast<std::size_t>(at)] : 0.0;
    });
    result["T2"].fill([&](Index x) {
        const auto straight = [&](std::int64_t p, std::int64_t q) {
            if (a.spin(x[0]) != i.spin(p) || a.spin(x[1]) != i.spin(q)) return 0.0;
            return t2[static_cast<std::size_t>(x[0] % v + v * (x[1] % v + v * (p % o + o * (q % o))))];
        };
        return straight(x[2], x[3]) - straight(x[3], x[2]);
    });
    return result;
}

struct Sizes {
    std::int64_t occupied, virtuals;
};

class RandomAmplitudes : public testing::TestWithParam<Sizes> {};

TEST_P(RandomAmplitudes, have_residuals_and_energies_of_the_spin_orbital_equations) {
    const World world;
    const Problem problem(world, GetParam().occupied, GetParam().virtuals);
    const TensorSet spin_t = over_spin_orbitals(problem.spin, problem.t);
    const TensorSet wanted = cc_residuals(problem.spin, spin_t);
    TensorSet got = over_spin_orbitals(problem.spin, rccsd_residuals(problem.spatial, problem.t));
    got.add(-1.0, wanted);
    for (const char* const name : {"T1", "T2"}) EXPECT_LE(got[name].norm(), 1e-12 * std::max(1.0, wanted[name].norm())) << name;

    const double energy = cc_energy(problem.spin, spin_t);
    EXPECT_NEAR(rccsd_energy(problem.spatial, problem.t), energy, 1e-12 * std::max(1.0, std::abs(energy)));
    EXPECT_NEAR(rmp2_energy(problem.spatial), mp2_energy(problem.spin), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Extents, RandomAmplitudes, testing::Values(Sizes{0, 2}, Sizes{2, 0}, Sizes{1, 1}, Sizes{3, 1}, Sizes{3, 5}));

class RandomTriples : public testing::TestWithParam<Sizes> {};

TEST_P(RandomTriples, have_the_energy_of_the_spin_orbital_formula) {
    const World world;
    Problem problem(world, GetParam().occupied, GetParam().virtuals);
    problem.spin.f_ov.fill(0);  // the closed-shell formula is for Hartree-Fock orbitals
    const double wanted = triples_energy(problem.spin, over_spin_orbitals(problem.spin, problem.t));
    EXPECT_NEAR(rtriples_energy(problem.spatial, problem.t), wanted, 1e-12 * std::max(1.0, std::abs(wanted)));
}

INSTANTIATE_TEST_SUITE_P(Extents, RandomTriples, testing::Values(Sizes{0, 2}, Sizes{2, 0}, Sizes{1, 4}, Sizes{2, 3}, Sizes{5, 9}));

// More memory than a rank needs lets it keep parts; less makes ranges of virtual orbitals shorter.
TEST(ClosedShellTriples, are_the_same_in_any_memory) {
    World world;
    const Problem problem(world, 4, 17);
    const double wanted = rtriples_energy(problem.spatial, problem.t);
    int computed = 0, refused = 0;
    for (std::int64_t kib = 4096; kib > 0; kib = kib * 3 / 4) {
        const std::int64_t limit = world.memory_in_use() + kib * 1024;
        world.set_memory_limit(limit);
        world.reset_peak();
        try {
            EXPECT_NEAR(rtriples_energy(problem.spatial, problem.t), wanted, 1e-12 * std::abs(wanted)) << kib << " KiB";
            EXPECT_LE(world.memory_peak(), world.memory_limit()) << kib << " KiB";
            ++computed;
        } catch (const OutOfMemory&) {
            ++refused;
        }
    }
    EXPECT_GE(computed, 3);
    EXPECT_GE(refused, 3);
}

// With and without room for all of it there.
TEST(ClosedShellTriples, are_the_same_on_a_device) {
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    const Problem problem(host, 3, 11);
    const double wanted = rtriples_energy(problem.spatial, problem.t);
    const test::TestDevice device;
    MachineModel slow;
    slow.flops_per_second = 1;
    int computed = 0;
    for (const std::int64_t kib : {4096, 800, 400, 200, 50, 10}) {
        const World world(slow, Device(DeviceKind::cuda, kib * 1024));
        const Problem there(world, 3, 11);
        const auto calls = test::TestDevice::calls();
        EXPECT_NEAR(rtriples_energy(there.spatial, there.t), wanted, 1e-11 * std::abs(wanted)) << kib << " KiB";
        if (world.maximum(test::TestDevice::calls() - calls) > 100) ++computed;  // more than slices take
        EXPECT_LE(world.maximum(world.device_memory_in_use()), kib * 1024);
    }
    EXPECT_GE(computed, 3);
}

TEST(ClosedShellTriples, tell_how_far_they_are) {
    const World world;
    const Problem problem(world, 3, 5);
    std::vector<double> done;
    rtriples_energy(problem.spatial, problem.t, [&](double part) { done.push_back(part); });
    ASSERT_FALSE(done.empty());
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_EQ(done.back(), 1.0);
}

const std::string data_folder = "examples/data/";

/// The energy of a file by a method.
double reference_energy(const std::string& file, const std::string& method) {
    std::ifstream stream(data_folder + "references.csv");
    const std::string row = file + "," + method + ",";
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with(row)) return std::stod(line.substr(row.size()));
    throw InvalidArgument("no reference for " + row);
}

class SpinAdaptedEnergiesOf : public testing::TestWithParam<const char*> {};

TEST_P(SpinAdaptedEnergiesOf, closed_shells_agree_with_the_references) {
    const World world;
    const std::string file = GetParam();
    const Fcidump data = read_integrals(world, data_folder + file);
    const SpatialIntegrals integrals = build_spatial_integrals(data, build_reference(data, file), IntegralSet::coupled_cluster);
    EXPECT_NEAR(rmp2_energy(integrals), reference_energy(file, "mp2"), 1e-8);
    SolverOptions options;
    options.tolerance = 1e-9;
    const Solution solution = solve_amplitudes(rccsd_equations(integrals), rmp2_amplitudes(integrals), options, {});
    EXPECT_NEAR(solution.energy, reference_energy(file, "ccsd"), 1e-9);
    EXPECT_NEAR(solution.energy + rtriples_energy(integrals, solution.amplitudes), reference_energy(file, "ccsd(t)"), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Shipped, SpinAdaptedEnergiesOf, testing::Values("be_ccpvdz.fcidump"));

TEST(ClosedShell, blocks_of_an_open_shell_are_refused) {
    const World world;
    Fcidump data = random_hamiltonian(world, 1, 2);
    const Reference reference = build_reference(data, "random");
    data.header.ms2 = 2;
    EXPECT_THROW(build_spatial_integrals(data, reference, IntegralSet::coupled_cluster), InvalidArgument);
}

TEST(ClosedShell, amplitudes_take_half_the_storage_and_dry_runs_all_statements) {
    const World world = World::dry_run(4);
    FcidumpHeader header;
    header.orbitals = 12;
    header.electrons = 8;
    const Fcidump data = empty_fcidump(world, header);
    const SpatialIntegrals integrals = build_spatial_integrals(data, build_reference(data, "dry run"), IntegralSet::coupled_cluster);
    const std::int64_t held = world.memory_in_use();
    const Solution solution = solve_amplitudes(rccsd_equations(integrals), rmp2_amplitudes(integrals), {}, {});
    EXPECT_EQ(solution.amplitudes["T2"].packed_size(), 32 * 33 / 2);
    rtriples_energy(integrals, solution.amplitudes);
    EXPECT_GT(world.memory_peak(), held);
}

}  // namespace
}  // namespace arges::chemistry
