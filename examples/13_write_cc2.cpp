// CC2 (Christiansen, Koch and Jorgensen, Chem. Phys. Lett. 243, 409 (1995)) of a molecule in a file: the singles equation of CCSD,
// and doubles <Phi_ij^ab| exp(-T1) H exp(T1) + [F, T2] |0> = 0. exp(T1) changes two kinds of indices of <ab||ij>, a to a - t_m^a m
// and i to i + t_i^e e. i j m n are occupied, a b e f virtual spin orbitals. The energy is that of PySCF.
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
        const SpinIntegrals H = build_integrals(data, build_reference(data, file), IntegralSet::coupled_cluster);

        AmplitudeEquations cc2 = cc_equations(H, 2);  // CCSD: its energy and denominators are those of CC2
        cc2.method = "CC2";
        cc2.residuals = [&](const TensorSet& t) {
            const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
            TensorSet R = t;
            Tensor<double> tt = t2, tau = t2;  // t_i^a t_j^b - t_i^b t_j^a, and half of it with t_ij^ab
            tt["abij"] = t1["ai"] * t1["bj"] - t1["bi"] * t1["aj"];
            tau["abij"] += 0.5 * tt["abij"];

            Tensor<double> F_ae = H.f_vv, F_mi = H.f_oo, F_me = H.f_ov;
            F_me["me"] += t1["fn"] * H.oovv["mnef"];
            F_ae["ae"] += t1["fm"] * H.ovvv["mafe"] - t1["am"] * H.f_ov["me"] - 0.5 * tau["afmn"] * H.oovv["mnef"];
            F_mi["mi"] += t1["en"] * H.ooov["mnie"] + 0.5 * tau["efin"] * H.oovv["mnef"];
            R["T1"]["ai"] = H.f_ov["ia"] + t1["ei"] * F_ae["ae"] - t1["am"] * F_mi["mi"] + t2["aeim"] * F_me["me"] +
                            t1["fn"] * H.ovvo["nafi"] - 0.5 * t2["efim"] * H.ovvv["maef"] - 0.5 * t2["aemn"] * H.ooov["mnie"];

            Tensor<double> W_mnij = H.oooo, W_mbij = H.spaces.tensor(world, "mbij", "antisym(i,j)", "W_mbij");
            W_mnij["mnij"] += antisymmetrized(t1["ej"] * H.ooov["mnie"]) + 0.5 * tt["efij"] * H.oovv["mnef"];
            W_mbij["mbij"] = H.ooov["ijmb"] + antisymmetrized(t1["ei"] * H.ovvo["mbej"]) + 0.5 * tt["efij"] * H.ovvv["mbef"];
            R["T2"]["abij"] = H.oovv["ijab"] + 0.5 * tt["efij"] * H.vvvv["abef"] + 0.5 * tt["abmn"] * W_mnij["mnij"] -
                              antisymmetrized(t1["ei"] * H.ovvv["jeab"]) - antisymmetrized(t1["am"] * W_mbij["mbij"]) +
                              antisymmetrized(H.f_vv["be"] * t2["aeij"]) - antisymmetrized(H.f_oo["mj"] * t2["abim"]);
            return R;
        };
        const Solution solution = solve_amplitudes(cc2, first_order_amplitudes(H, 2));
        const bool right = std::abs(solution.energy + 0.0493991396) < 1e-8;
        if (world.rank() == 0) std::printf("CC2 %.8f hartree%s\n", solution.energy, right ? "" : "  WRONG");
        return right;
    });
}
