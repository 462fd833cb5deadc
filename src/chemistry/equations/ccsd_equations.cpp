// The equations of Stanton, Gauss, Watts and Bartlett, J. Chem. Phys. 94, 4334 (1991), by their
// numbers. Letters as there: i j k l m n are occupied, a b c d e f virtual spin orbitals; t1["ai"]
// is t_i^a, t2["abij"] is t_ij^ab. All orbitals are real, so <pq||rs> = <rs||pq>. Three things
// differ in form only:
//  - The diagonal of the Fock matrix stays in eqs. 3 and 4, so that the right-hand sides of eqs. 1
//    and 2 minus their left-hand sides come out: residuals that are zero for the solution.
//  - W_abef (eq. 7), as large as the integrals over four virtuals, is never formed. Its third term
//    pairs with that of eq. 6 to 1/2 tau tau <mn||ef>, so the 1/4 of eq. 6 becomes 1/2; its second
//    term goes to Z below.
//  - Z_mbij collects all that is multiplied by -P(ab) t_m^a in eq. 2.
#include "chemistry/equations/effective_hamiltonian.hpp"

#include "arges/chemistry/cc_equations.hpp"

namespace arges::chemistry {

namespace {

const char* const antisymmetric_pairs = "antisym(a,b) antisym(i,j)";

/// t1, t2 and what is made of them.
struct Intermediates {
    Tensor<double> tau;               // eq. 10
    Tensor<double> F_ae, F_mi, F_me;  // eqs. 3 to 5
};

/// t2(abij) + factor * (t_i^a t_j^b - t_i^b t_j^a): eqs. 9 (factor 1/2) and 10 (factor 1).
Tensor<double> tau_of(const SpinIntegrals& V, const TensorSet& t, double factor) {
    const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
    Tensor<double> tau = V.spaces.tensor(V.oovv.world(), "abij", antisymmetric_pairs, "tau");
    tau["abij"] = t2["abij"] + factor * (t1["ai"] * t1["bj"] - t1["bi"] * t1["aj"]);
    return tau;
}

Intermediates intermediates_of(const SpinIntegrals& V, const TensorSet& t) {
    const World& world = V.oovv.world();
    const Tensor<double>& t1 = t["T1"];
    Intermediates I{tau_of(V, t, 1.0), V.spaces.tensor(world, "ae", "", "F_ae"), V.spaces.tensor(world, "mi", "", "F_mi"),
                    V.spaces.tensor(world, "me", "", "F_me")};
    const Tensor<double> tau_tilde = tau_of(V, t, 0.5);
    // eq. 3
    I.F_ae["ae"] = V.f_vv["ae"] - 0.5 * V.f_ov["me"] * t1["am"] + t1["fm"] * V.ovvv["mafe"] - 0.5 * tau_tilde["afmn"] * V.oovv["mnef"];
    // eq. 4
    I.F_mi["mi"] = V.f_oo["mi"] + 0.5 * t1["ei"] * V.f_ov["me"] + t1["en"] * V.ooov["mnie"] + 0.5 * tau_tilde["efin"] * V.oovv["mnef"];
    // eq. 5
    I.F_me["me"] = V.f_ov["me"] + t1["fn"] * V.oovv["mnef"];
    return I;
}

/// eq. 6 with 1/2 in place of 1/4, see above.
Tensor<double> W_mnij(const SpinIntegrals& V, const TensorSet& t, const Tensor<double>& tau) {
    const Tensor<double>& t1 = t["T1"];
    Tensor<double> W = V.spaces.tensor(V.oovv.world(), "mnij", "antisym(m,n) antisym(i,j)", "W_mnij");
    W["mnij"] = V.oooo["mnij"] + antisymmetrized(t1["ej"] * V.ooov["mnie"]) + 0.5 * tau["efij"] * V.oovv["mnef"];
    return W;
}

/// eq. 8; <mn||ej> = -<mn||je>.
Tensor<double> W_mbej(const SpinIntegrals& V, const TensorSet& t) {
    const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
    const World& world = V.oovv.world();
    Tensor<double> half_tau = V.spaces.tensor(world, "fbjn", "", "t2/2 + t1 t1");
    half_tau["fbjn"] = 0.5 * t2["fbjn"] + t1["fj"] * t1["bn"];
    Tensor<double> W = V.spaces.tensor(world, "mbej", "", "W_mbej");
    W["mbej"] = V.ovvo["mbej"] + t1["fj"] * V.ovvv["mbef"] + t1["bn"] * V.ooov["mnje"] - half_tau["fbjn"] * V.oovv["mnef"];
    return W;
}

/// <mb||ij> + 1/2 tau_ij^ef <mb||ef> + P(ij) t_i^e <mb||ej>.
Tensor<double> Z_mbij(const SpinIntegrals& V, const TensorSet& t, const Tensor<double>& tau) {
    const Tensor<double>& t1 = t["T1"];
    Tensor<double> Z = V.spaces.tensor(V.oovv.world(), "mbij", "antisym(i,j)", "Z_mbij");
    Z["mbij"] = V.ooov["ijmb"] + 0.5 * tau["efij"] * V.ovvv["mbef"] + antisymmetrized(t1["ei"] * V.ovvo["mbej"]);
    return Z;
}

/// eq. 1; <na||if> = -<na||fi> and <nm||ei> = <mn||ie>.
void add_singles(const SpinIntegrals& V, const TensorSet& t, const Intermediates& I, Tensor<double>& R1) {
    const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
    R1["ai"] = V.f_ov["ia"] + t1["ei"] * I.F_ae["ae"] - t1["am"] * I.F_mi["mi"] + t2["aeim"] * I.F_me["me"] + t1["fn"] * V.ovvo["nafi"] -
               0.5 * t2["efim"] * V.ovvv["maef"] - 0.5 * t2["aemn"] * V.ooov["mnie"];
}

/// eq. 2; P(ij) and P(ab) are what antisymmetrized() does; <ab||ej> = -<je||ab>.
void add_doubles(const SpinIntegrals& V, const TensorSet& t, const Intermediates& I, Tensor<double>& R2) {
    const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
    Tensor<double> F_be = I.F_ae;
    F_be["be"] -= 0.5 * t1["bm"] * I.F_me["me"];
    Tensor<double> F_mj = I.F_mi;
    F_mj["mj"] += 0.5 * t1["ej"] * I.F_me["me"];
    R2["abij"] = V.oovv["ijab"];
    R2["abij"] += antisymmetrized(t2["aeij"] * F_be["be"]);
    R2["abij"] -= antisymmetrized(t2["abim"] * F_mj["mj"]);
    R2["abij"] += 0.5 * I.tau["abmn"] * W_mnij(V, t, I.tau)["mnij"];
    R2["abij"] += 0.5 * I.tau["efij"] * V.vvvv["abef"];
    R2["abij"] += antisymmetrized(t2["aeim"] * W_mbej(V, t)["mbej"]);
    R2["abij"] -= antisymmetrized(t1["ei"] * V.ovvv["jeab"]);
    R2["abij"] -= antisymmetrized(t1["am"] * Z_mbij(V, t, I.tau)["mbij"]);
}

}  // namespace

TensorSet ccsd_residuals(const SpinIntegrals& integrals, const TensorSet& t) {
    TensorSet residuals = zero_amplitudes(integrals, 2);
    const Intermediates intermediates = intermediates_of(integrals, t);
    add_singles(integrals, t, intermediates, residuals["T1"]);
    add_doubles(integrals, t, intermediates, residuals["T2"]);
    return residuals;
}

}  // namespace arges::chemistry
