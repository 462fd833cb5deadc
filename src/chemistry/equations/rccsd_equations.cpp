// The closed-shell equations with T1 in the integrals: Koch, Sanchez de Meras, Helgaker and
// Christiansen, J. Chem. Phys. 104, 4157 (1996). In exp(-T1) H exp(T1) an occupied orbital i that
// is emptied becomes i + sum_e t_i^e e, and a virtual a that is filled a - sum_m t_m^a m. Letters:
// i j k l m n are occupied, a b c d e f virtual spatial orbitals; t1["ai"] is t_i^a, t2["abij"] is
// t_ij^ab = t_ji^ba. All orbitals are real. Letters that occur twice are summed over; P X(ai,bj) is
// X(ai,bj) + X(bj,ai), which symmetrized() does.
//
// Integrals over four or three virtuals are not transformed. With tau = t2 + t1 t1 and
//     W(pq,ij) = (pi|qj) + t_i^e (pe|qj) + t_j^f (pi|qf) + tau_ij^ef (pe|qf)
// all terms with two particle or two hole lines together, and (ai|bj) transformed, are
//     W(ab,ij) - P t_m^a W(mb,ij) + tau_mn^ab W(mn,ij).
// Sums over pairs are done in the halves of W and tau that are symmetric and antisymmetric in
// both pairs, a quarter of the flops together: Scuseria, Janssen and Schaefer, J. Chem. Phys. 89,
// 7382 (1988).
#include "arges/chemistry/rccsd.hpp"

namespace arges::chemistry {

namespace {

/// Makes the residuals; members are the intermediates that several of them share.
class RccsdEquations {
public:
    RccsdEquations(const SpatialIntegrals& integrals, const TensorSet& t);
    TensorSet residuals() const;

private:
    Tensor<double> zeros(std::string_view letters, std::string_view symmetry, const std::string& name) const {
        return V.spaces.tensor(t1.world(), letters, symmetry, name);
    }
    SplitBlock W_mnij() const;
    Tensor<double> W_mbij() const;
    Tensor<double> unsymmetric_doubles() const;
    void add_singles(Tensor<double>& R1) const;
    void add_doubles(Tensor<double>& R2) const;

    const SpatialIntegrals& V;
    const Tensor<double>&t1, &t2;
    Tensor<double> tau;         // t_ij^ab + t_i^a t_j^b
    SplitBlock split;           // (tau_ij^ab +- tau_ij^ba) / 2
    Tensor<double> u;           // 2 t_ij^ab - t_ij^ba
    SplitBlock G;               // t_i^e <ka|ce> = plus + minus, t_i^e <ka|ec> = plus - minus
    Tensor<double> F_me;        // transformed Fock matrix
    Tensor<double> F_mi, F_ae;  // with F_me and tau, without other integrals times t1
};

RccsdEquations::RccsdEquations(const SpatialIntegrals& integrals, const TensorSet& t) : V(integrals), t1(t["T1"]), t2(t["T2"]), tau(t2) {
    tau.set_name("tau");
    tau["abij"] += t1["ai"] * t1["bj"];
    split.plus = zeros("abij", "sym(a,b) sym(i,j)", "tau+");
    split.plus["abij"] = 0.5 * symmetrized(tau["abij"]);
    split.minus = zeros("abij", "antisym(a,b) antisym(i,j)", "tau-");
    split.minus["abij"] = 0.5 * antisymmetrized(tau["abij"]);
    u = zeros("abij", pairs_abij, "u");
    u["abij"] = 2.0 * t2["abij"] - t2["baij"];

    G.plus = zeros("aick", "", "G+");
    G.plus["aick"] = V.ovvv.plus["kace"] * t1["ei"];
    G.minus = zeros("aick", "", "G-");
    G.minus["aick"] = V.ovvv.minus["kace"] * t1["ei"];

    F_me = zeros("me", "", "F_me");
    F_me["me"] = V.f_ov["me"] + V.L["efmn"] * t1["fn"];
    F_mi = zeros("mi", "", "F_mi");
    F_mi["mi"] = V.f_oo["mi"] + V.f_ov["me"] * t1["ei"] + V.L["efmn"] * tau["efin"];
    F_ae = zeros("ae", "", "F_ae");
    F_ae["ae"] = V.f_vv["ae"] - t1["am"] * V.f_ov["me"] - tau["afmn"] * V.L["efmn"];
}

/// Both halves of W(mn,ij).
SplitBlock RccsdEquations::W_mnij() const {
    SplitBlock W{zeros("mnij", "sym(m,n) sym(i,j)", "W+"), zeros("mnij", "antisym(m,n) antisym(i,j)", "W-")};
    W.plus["mnij"] = V.oooo.plus["mnij"] + 0.5 * symmetrized(t1["ei"] * V.K["njme"]) + V.oovv.plus["mnef"] * split.plus["efij"];
    W.minus["mnij"] = V.oooo.minus["mnij"] + 0.5 * antisymmetrized(t1["ei"] * V.K["njme"]) + V.oovv.minus["mnef"] * split.minus["efij"];
    return W;
}

Tensor<double> RccsdEquations::W_mbij() const {
    Tensor<double> W = zeros("mbij", "", "W_mbij");
    W["mbij"] = V.K["mijb"] + t1["ei"] * V.V["ebmj"] + t1["fj"] * V.J["bfmi"] + V.ovvv.plus["mbef"] * split.plus["efij"] +
                V.ovvv.minus["mbef"] * split.minus["efij"];
    return W;
}

/// R1(ai) = F(ai) + u_ki^cd (ad|kc) - u_kl^ac (ki|lc) + u_ik^ac F(kc), the integrals transformed.
/// In the sums over integrals tau in place of t2 makes up for F_ae and F_mi without them.
void RccsdEquations::add_singles(Tensor<double>& R1) const {
    Tensor<double> f_mi = F_mi;
    f_mi["mi"] -= F_me["me"] * t1["ei"];
    R1["ai"] = V.f_ov["ia"] + V.M["aeim"] * t1["em"] + F_ae["ae"] * t1["ei"] - t1["am"] * f_mi["mi"] + u["aeim"] * F_me["me"] -
               tau["aemn"] * V.N["mine"] + V.ovvv.plus["maef"] * split.plus["efmi"] + 3.0 * V.ovvv.minus["maef"] * split.minus["efmi"];
}

TensorSet RccsdEquations::residuals() const {
    TensorSet R({{"T1", zeros("ai", "", "T1")}, {"T2", zeros("abij", pairs_abij, "T2")}});
    add_singles(R["T1"]);
    add_doubles(R["T2"]);
    return R;
}

/// All of R2 under P: rings, Fock matrices in t2, and t1 by W(mb,ij).
Tensor<double> RccsdEquations::unsymmetric_doubles() const {
    // Rings: C(ai,ck) = (ki|ac) - 1/2 t_li^ad (kd|lc) and
    // D(ai,ck) = 2 (ai|kc) - (ac|ki) + 1/2 u_il^ad [2 (ld|kc) - (lc|kd)], the integrals
    // transformed: what two t1 do to them is here added to t2 / 2 and u / 2.
    Tensor<double> exchange = tau;
    exchange["abij"] -= 0.5 * t2["abij"];
    Tensor<double> direct = t2;
    direct["abij"] -= exchange["baij"];
    Tensor<double> C = zeros("aick", "", "ring C");
    C["aick"] = V.J["acki"] + G.plus["aick"] - G.minus["aick"] - t1["am"] * V.K["kimc"] - exchange["aemi"] * V.V["eckm"];
    Tensor<double> D = zeros("aick", "", "ring D");
    D["aick"] = V.M["acik"] + G.plus["aick"] + 3.0 * G.minus["aick"] - t1["am"] * V.N["mikc"] + direct["aeim"] * V.L["ecmk"];

    // Fock matrices: F(bc) and F(kj), transformed, with u in them.
    Tensor<double> F_bc = F_ae;
    F_bc["bc"] += G.plus["bmcm"] - 3.0 * G.minus["bmcm"];
    Tensor<double> F_kj = F_mi;
    F_kj["kj"] += t1["en"] * V.N["kjne"];

    Tensor<double> Y = zeros("aibj", "", "C t2");
    Y["aibj"] = C["aick"] * t2["bckj"];
    Tensor<double> R = zeros("aibj", "", "R2 unsymmetric");
    R["aibj"] = G.plus["bjai"] + G.minus["bjai"] + 0.5 * D["aick"] * u["bcjk"] - 0.5 * Y["aibj"] - Y["ajbi"] + t2["acij"] * F_bc["bc"] -
                t2["abik"] * F_kj["kj"] - t1["am"] * W_mbij()["mbij"];
    return R;
}

/// R2(ai,bj) = W(ab,ij) + tau_mn^ab W(mn,ij) + P [unsymmetric_doubles()].
void RccsdEquations::add_doubles(Tensor<double>& R2) const {
    const SplitBlock W = W_mnij();
    R2["abij"] = V.V["abij"] + V.vvvv.plus["abef"] * split.plus["efij"] + V.vvvv.minus["abef"] * split.minus["efij"] +
                 split.plus["abmn"] * W.plus["mnij"] + split.minus["abmn"] * W.minus["mnij"] + symmetrized(unsymmetric_doubles()["aibj"]);
}

}  // namespace

TensorSet rccsd_residuals(const SpatialIntegrals& integrals, const TensorSet& t) { return RccsdEquations(integrals, t).residuals(); }

}  // namespace arges::chemistry
