// Public functions of chemistry with sets, tensors and worlds that do not fit: one of the library's exceptions, the same on every
// rank. test/decompose/public_calls_test.cpp does this for the rest of the library.
#include "arges/chemistry.hpp"
#include "chemistry/made_up.hpp"
#include "chemistry/temporary_file.hpp"
#include "comm/communicator.hpp"
#include "comm/values.hpp"
#include "support/public_calls.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace arges::chemistry {
namespace {

const std::string water = "examples/data/h2o_sto3g.fcidump";

/// What calls are made on: four electrons in five orbitals, on real ranks (w) and on a dry run (d).
struct Objects {
    explicit Objects(const World& world, const std::string& path)
        : w(world), data(fcidump_of(w, ladder(5), 4, 0.0)), dry_data(empty_fcidump(d, data.header)),
          reference(build_reference(data, "made up")), dry_reference(build_reference(dry_data, "dry run")),
          H(build_integrals(data, reference, IntegralSet::coupled_cluster)),
          S(build_spatial_integrals(data, reference, IntegralSet::coupled_cluster)), t(first_order_amplitudes(H, 2)), s(rmp2_amplitudes(S)),
          other({{"T1", Tensor<double>(w, {3, 2})}}), equations(cc_equations(H, 2)), file(path) {}

    World w, d = World::dry_run(8), out = World::outside();
    Fcidump data, dry_data, no_data = Fcidump();
    Reference reference, dry_reference, no_reference{};
    SpinIntegrals H, no_H{SpinSpaces({}, {})};
    SpatialIntegrals S, no_S{};
    TensorSet t, s, other, no_set;
    AmplitudeEquations equations;
    Tensor<double> none;
    CcOptions options;
    std::string file;
};

using Call = test::PublicCall<Objects>;

#define ARGES_CALL(...)                                                                                                                    \
    {                                                                                                                                      \
#__VA_ARGS__, [](Objects& objects) {                                                                                          \
         [[maybe_unused]] auto& [w, d, out, data, dry_data, no_data, reference, dry_reference, no_reference, H, no_H, S, no_S, t, \
                                 s, other, no_set, equations, none, options, file] = objects;                                      \
         (void)(__VA_ARGS__);                                                                                                      \
     }            \
    }

void check_calls(bool works, const std::vector<Call>& calls) {
    const World world;
    const TemporaryFile file(world, nullptr);
    for (const Call& call : calls) {
        Objects objects(world, file.path() + ".fcidump");
        const std::string found = outcome(call, objects);
        EXPECT_EQ(found.empty(), works) << call.text << ": " << found;
        const Communicator comm(world.communicator());
        const auto all = gathered(comm, to_bytes(std::vector<char>(found.begin(), found.end())));
        std::string expected;
        for (std::int64_t r = 0; r < comm.size(); ++r) expected += found;
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(all.data()), all.size()), expected) << call.text;
    }
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(PublicCallsOfChemistry, OnADryRunDoWhatNeedsNoData) {
    check_calls(true, {
                          ARGES_CALL(empty_fcidump(d, data.header)),
                          ARGES_CALL(build_reference(dry_data, "")),
                          ARGES_CALL(core_orbitals(dry_data, "")),
                          ARGES_CALL(fock_matrix(dry_data, {2, 2}, 0)),
                          ARGES_CALL(without_frozen(dry_data, {1, 1})),
                          ARGES_CALL(semicanonical(dry_data, dry_reference)),
                          ARGES_CALL(mp2_energy(build_integrals(dry_data, dry_reference, IntegralSet::second_order))),
                          ARGES_CALL([&] {
                              const auto V = build_integrals(dry_data, dry_reference, IntegralSet::coupled_cluster);
                              triples_energy(V, solve_amplitudes(cc_equations(V, 2), first_order_amplitudes(V, 2)).amplitudes);
                          }()),
                          ARGES_CALL([&] {
                              const auto V = build_spatial_integrals(dry_data, dry_reference, IntegralSet::coupled_cluster);
                              rtriples_energy(V, solve_amplitudes(rccsd_equations(V), rmp2_amplitudes(V)).amplitudes);
                          }()),
                      });
}

TEST(PublicCallsOfChemistry, ThatNeedDataOrRanksAreRefusedWithoutThem) {
    check_calls(false, {
                           ARGES_CALL(read_integrals(d, water)),
                           ARGES_CALL(read_integrals(out, water)),
                           ARGES_CALL(write_integrals(file, dry_data)),
                           ARGES_CALL(plan_coupled_cluster(d, water, options)),
                           ARGES_CALL(plan_coupled_cluster(out, water, options)),
                           ARGES_CALL(run_coupled_cluster(d, water, options)),
                           ARGES_CALL(run_coupled_cluster(out, water, options)),
                           ARGES_CALL(empty_fcidump(out, data.header)),
                           ARGES_CALL(H.spaces.tensor(out, "ai", "", "")),
                       });
}

TEST(PublicCallsOfChemistry, OnObjectsWithoutContentsAreRefused) {
    check_calls(true, {ARGES_CALL(no_set.norm(), no_set.dot(no_set), no_set.contains("T1")), ARGES_CALL(TensorSet(no_set))});
    check_calls(false, {
                           ARGES_CALL(write_integrals(file, no_data)),
                           ARGES_CALL(build_reference(no_data, "")),
                           ARGES_CALL(core_orbitals(no_data, "")),
                           ARGES_CALL(fock_matrix(no_data, {0, 0}, 0)),
                           ARGES_CALL(without_frozen(no_data, {})),
                           ARGES_CALL(semicanonical(no_data, no_reference)),
                           ARGES_CALL(semicanonical(data, no_reference)),
                           ARGES_CALL(build_integrals(no_data, reference, IntegralSet::second_order)),
                           ARGES_CALL(build_integrals(data, no_reference, IntegralSet::second_order)),
                           ARGES_CALL(build_spatial_integrals(no_data, reference, IntegralSet::second_order)),
                           ARGES_CALL(build_spatial_integrals(data, no_reference, IntegralSet::second_order)),
                           ARGES_CALL(zero_amplitudes(no_H, 2)),
                           ARGES_CALL(first_order_amplitudes(no_H, 2)),
                           ARGES_CALL(mp2_energy(no_H)),
                           ARGES_CALL(cc_energy(no_H, t)),
                           ARGES_CALL(cc_residuals(no_H, t)),
                           ARGES_CALL(triples_energy(no_H, t)),
                           ARGES_CALL(rmp2_amplitudes(no_S)),
                           ARGES_CALL(rmp2_energy(no_S)),
                           ARGES_CALL(rccsd_residuals(no_S, s)),
                           ARGES_CALL(rccsd_energy(no_S, s)),
                           ARGES_CALL(rtriples_energy(no_S, s)),
                           ARGES_CALL(cc_residuals(H, no_set)),
                           ARGES_CALL(cc_energy(H, no_set)),
                           ARGES_CALL(triples_energy(H, no_set)),
                           ARGES_CALL(rccsd_residuals(S, no_set)),
                           ARGES_CALL(rccsd_energy(S, no_set)),
                           ARGES_CALL(rtriples_energy(S, no_set)),
                           ARGES_CALL(divide_by_denominators(none, {}, {})),
                           ARGES_CALL(no_set["T1"]),
                           ARGES_CALL(TensorSet({{"T1", none}})),
                           ARGES_CALL(solve_amplitudes(equations, no_set)),
                           ARGES_CALL(solve_amplitudes({}, t)),
                           ARGES_CALL(AmplitudeFile({file}, "ccsd", false, reference).load(no_set)),
                           ARGES_CALL(AmplitudeFile({file}, "ccsd", false, reference).save(no_set, {}, true)),
                           ARGES_CALL(diis_coefficients({})),
                           ARGES_CALL(cc_residuals(build_integrals(data, reference, IntegralSet::second_order), t)),
                           ARGES_CALL(rccsd_residuals(build_spatial_integrals(data, reference, IntegralSet::second_order), s)),
                       });
}

TEST(PublicCallsOfChemistry, WithArgumentsThatDoNotFitTogetherAreRefused) {
    check_calls(false, {
                           ARGES_CALL(read_integrals(w, "")),
                           ARGES_CALL(write_integrals("", data)),
                           ARGES_CALL(write_integrals(file + "x", data)),
                           ARGES_CALL(empty_fcidump(w, {-1, 0})),
                           ARGES_CALL(data.header.electrons = 9, build_reference(data, "")),
                           ARGES_CALL(data.header.electrons = 12, build_reference(data, "")),
                           ARGES_CALL(data.header.ms2 = 6, build_reference(data, "")),
                           ARGES_CALL(data.header.orbitals = 6, build_reference(data, "")),
                           ARGES_CALL(data.header.form = OrbitalForm::spin_blocks, build_reference(data, "")),
                           ARGES_CALL(data.orbital_energies = {1}, build_reference(data, "")),
                           ARGES_CALL(data.one_electron = Tensor<double>(data.one_electron.world(), {5, 5}), build_reference(data, "")),
                           ARGES_CALL(reference.spin[1].fock.clear(), build_integrals(data, reference, IntegralSet::coupled_cluster)),
                           ARGES_CALL(data.two_electron = Tensor<double>(World(), {5, 5, 5, 5}, "pqrs", "sym(sym(p,q),sym(r,s))"),
                                      build_reference(data, "")),
                           ARGES_CALL(fock_matrix(data, {2, 2}, 2)),
                           ARGES_CALL(fock_matrix(data, {6, 2}, 0)),
                           ARGES_CALL(fock_matrix(data, {2, -1}, 0)),
                           ARGES_CALL(without_frozen(data, {3, 0})),
                           ARGES_CALL(without_frozen(data, {0, -1})),
                           ARGES_CALL(without_frozen(data, {0, 4})),
                           ARGES_CALL(zero_amplitudes(H, 1)),
                           ARGES_CALL(zero_amplitudes(H, 5)),
                           ARGES_CALL(first_order_amplitudes(H, -1)),
                           ARGES_CALL(cc_equations(H, 0)),
                           ARGES_CALL(cc_residuals(H, s)),
                           ARGES_CALL(cc_residuals(H, other)),
                           ARGES_CALL(cc_energy(H, other)),
                           ARGES_CALL(rccsd_residuals(S, t)),
                           ARGES_CALL(rtriples_energy(S, t)),
                           ARGES_CALL(rccsd_energy(S, t)),
                           ARGES_CALL(triples_energy(H, s)),
                           ARGES_CALL(divide_by_denominators(t["T2"], H.virtuals, {1})),
                           ARGES_CALL(divide_by_denominators(H.vvvv, H.occupied, H.virtuals)),
                           ARGES_CALL(t.dot(other)),
                           ARGES_CALL(t.add(1, other)),
                           ARGES_CALL(t.dot(s)),
                           ARGES_CALL(t["T3"]),
                           ARGES_CALL(TensorSet({{"T1", t["T1"]}, {"T1", t["T2"]}})),
                           ARGES_CALL([&] {
                               Diis diis(2);
                               diis.extrapolate(t, t);
                               diis.extrapolate(other, other);
                           }()),
                           ARGES_CALL(diis_coefficients({{1, 2}, {1}})),
                           ARGES_CALL(parse_method("ccsdtqp")),
                           ARGES_CALL(name_of(static_cast<Method>(99))),
                           ARGES_CALL(plan_coupled_cluster(w, water, options, -1)),
                           ARGES_CALL(options.method = static_cast<Method>(99), run_coupled_cluster(w, water, options)),
                           ARGES_CALL(options.checkpoint.interval = 0, run_coupled_cluster(w, water, options)),
                           ARGES_CALL(options.solver.tolerance = nan, run_coupled_cluster(w, water, options)),
                           ARGES_CALL(solve_amplitudes(equations, t, {.max_iterations = 0})),
                           ARGES_CALL(solve_amplitudes(equations, t, {.diis_vectors = -1})),
                           ARGES_CALL(solve_amplitudes(equations, t, {.tolerance = -1})),
                           ARGES_CALL(solve_amplitudes(equations, other)),
                           ARGES_CALL(AmplitudeFile({file, 0}, "ccsd", false, reference)),
                           ARGES_CALL(AmplitudeFile({"/", 1}, "ccsd", false, reference).load(t)),
                       });
}

}  // namespace
}  // namespace arges::chemistry
