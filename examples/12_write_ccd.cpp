// A method of one's own, written from its equations: MP2 and coupled cluster doubles (CCD) of a molecule in a file. The equations
// are those of Stanton et al., J. Chem. Phys. 94, 4334 (1991), without t1: i j m n are occupied, a b e f virtual spin orbitals.
// The energies are those of Psi4 (MP2) and PySCF (CCD).
#include <arges/arges.hpp>
#include <arges/chemistry.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;
using namespace arges::chemistry;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        const std::string file = "examples/data/h2o_sto3g.fcidump";
        const Fcidump data = read_integrals(world, file);
        const Reference reference = build_reference(data, file);
        const SpinIntegrals H = build_integrals(data, reference, IntegralSet::coupled_cluster);

        AmplitudeEquations ccd{"CCD"};
        ccd.residuals = [&](const TensorSet& amplitudes) {  // <Phi_ij^ab| exp(-T2) H exp(T2) |0>
            const Tensor<double>& t = amplitudes["T2"];
            Tensor<double> F_ae = H.f_vv, F_mi = H.f_oo, W_mnij = H.oooo, W_mbej = H.ovvo, R = t;
            F_ae["ae"] -= 0.5 * t["afmn"] * H.oovv["mnef"];
            F_mi["mi"] += 0.5 * t["efin"] * H.oovv["mnef"];
            W_mnij["mnij"] += 0.5 * t["efij"] * H.oovv["mnef"];
            W_mbej["mbej"] -= 0.5 * t["fbjn"] * H.oovv["mnef"];
            R["abij"] = H.oovv["ijab"];
            R["abij"] += antisymmetrized(t["aeij"] * F_ae["be"]);  // P(ab)
            R["abij"] -= antisymmetrized(t["abim"] * F_mi["mj"]);  // P(ij)
            R["abij"] += 0.5 * t["abmn"] * W_mnij["mnij"];
            R["abij"] += 0.5 * t["efij"] * H.vvvv["abef"];             // the particle-particle ladder
            R["abij"] += antisymmetrized(t["aeim"] * W_mbej["mbej"]);  // P(ij) P(ab)
            return TensorSet({{"T2", R}});
        };
        ccd.energy = [&](const TensorSet& t) { return double(0.25 * H.oovv["ijab"] * t["T2"]["abij"]); };
        ccd.divide = [&](Tensor<double>& R) { divide_by_denominators(R, H.occupied, H.virtuals); };

        const TensorSet start({{"T2", first_order_amplitudes(H, 2)["T2"]}});  // <ij||ab> / (e_i + e_j - e_a - e_b)
        const Solution solution = solve_amplitudes(ccd, start);
        const double mp2 = ccd.energy(start);
        const bool right = std::abs(mp2 + 0.0491496361) < 1e-8 && std::abs(solution.energy + 0.0701504872) < 1e-8;
        if (world.rank() == 0)
            std::printf("SCF %.8f hartree\nMP2 %.8f\nCCD %.8f after %d iterations%s\n", reference.energy, mp2, solution.energy,
                        solution.iterations, right ? "" : "  WRONG");
        return right;
    });
}
