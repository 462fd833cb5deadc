// exp(-T1) H exp(T1): Koch, Christiansen, Kobayashi, Jorgensen and Helgaker, Chem. Phys. Lett. 228, 233 (1994).
// Blocks are made from the bare ones below them. Where two indices of one pair are dressed, the sum
// over one of them uses a block in which the other one is dressed half, so that antisymmetrized()
// makes t_i^e <mn||ej> + t_j^e <mn||ie> + t_i^e t_j^f <mn||ef> of a single product. Integrals in an
// order that SpinIntegrals has not are <pq||rs> = <rs||pq> = -<qp||rs>.
#include "chemistry/equations/dressed_hamiltonian.hpp"

namespace arges::chemistry {

namespace {

using Block = Tensor<double>;

/// Mean field of the electrons that T1 moves, then both indices dressed.
void dress_fock(const SpinIntegrals& V, const Block& t1, DressedHamiltonian& H) {
    const World& world = V.oovv.world();
    H.f_ov = V.spaces.tensor(world, "me", "", "dressed f(me)");
    H.f_oo = V.spaces.tensor(world, "mi", "", "dressed f(mi)");
    H.f_vv = V.spaces.tensor(world, "ae", "", "dressed f(ae)");
    H.f_vo = V.spaces.tensor(world, "ai", "", "dressed f(ai)");
    Block field_vv = V.f_vv;
    field_vv["ae"] += t1["fm"] * V.ovvv["mafe"];
    H.f_ov["me"] = V.f_ov["me"] + t1["fn"] * V.oovv["mnef"];
    H.f_oo["mi"] = V.f_oo["mi"] + t1["en"] * V.ooov["mnie"] + t1["ei"] * H.f_ov["me"];
    H.f_vv["ae"] = field_vv["ae"] - t1["am"] * H.f_ov["me"];
    H.f_vo["ai"] = V.f_ov["ia"] + t1["em"] * V.ovvo["maei"] - t1["am"] * H.f_oo["mi"] + t1["ei"] * field_vv["ae"];
}

/// Blocks with one or two dressed indices, all of one kind.
void dress_like_pairs(const SpinIntegrals& V, const Block& t1, DressedHamiltonian& H) {
    const World& world = V.oovv.world();
    H.oovv = V.oovv;
    H.ooov = V.ooov;
    H.ovvv = V.ovvv;
    Block half_ooov = V.ooov, half_ovvv = V.ovvv;
    half_ooov["mnie"] += 0.5 * t1["fi"] * V.oovv["mnfe"];
    half_ovvv["maef"] -= 0.5 * t1["an"] * V.oovv["mnef"];
    H.ooov["mnie"] += t1["fi"] * V.oovv["mnfe"];
    H.ovvv["maef"] -= t1["an"] * V.oovv["mnef"];
    H.oooo = V.spaces.tensor(world, "mnij", "antisym(m,n) antisym(i,j)", "dressed <mn||ij>");
    H.oooo["mnij"] = V.oooo["mnij"];
    H.oooo["mnij"] += antisymmetrized(t1["ej"] * half_ooov["mnie"]);
    H.vvvv = V.spaces.tensor(world, "abef", "antisym(a,b) antisym(e,f)", "dressed <ab||ef>");
    H.vvvv["abef"] = V.vvvv["abef"];
    H.vvvv["abef"] -= antisymmetrized(t1["am"] * half_ovvv["mbef"]);
}

/// Blocks with dressed indices of both kinds.
void dress_mixed(const SpinIntegrals& V, const Block& t1, DressedHamiltonian& H) {
    const World& world = V.oovv.world();
    H.ovvo = V.ovvo;
    H.ovvo["mbej"] += t1["fj"] * H.ovvv["mbef"] + t1["bn"] * V.ooov["mnje"];

    // <ab||ej>: a and b first, then j.
    Block half_bra = V.ovvo;
    half_bra["mbej"] += 0.5 * t1["bn"] * V.ooov["mnje"];
    H.vvvo = V.spaces.tensor(world, "abej", "antisym(a,b)", "dressed <ab||ej>");
    H.vvvo["abej"] -= V.ovvv["jeab"];
    H.vvvo["abej"] -= antisymmetrized(t1["am"] * half_bra["mbej"]);
    Block dressed_j = V.spaces.tensor(world, "abej", "antisym(a,b)", "<ab||ej>, j dressed");
    dressed_j["abej"] = t1["fj"] * H.vvvv["abef"];
    Block half_ket = H.vvvo;
    half_ket["abej"] += 0.5 * dressed_j["abej"];
    H.vvvo["abej"] += dressed_j["abej"];

    // <mb||ij>: i and j by half, and b with both dressed.
    Block half_both = V.ovvo;
    half_both["mbej"] += 0.5 * t1["fj"] * V.ovvv["mbef"];
    Block bare_ovoo = V.spaces.tensor(world, "mbij", "antisym(i,j)", "<mb||ij>");
    bare_ovoo["mbij"] = V.ooov["ijmb"];
    H.ovoo = bare_ovoo;
    H.ovoo["mbij"] -= t1["bn"] * H.oooo["mnij"];
    H.ovoo["mbij"] += antisymmetrized(t1["ei"] * half_both["mbej"]);

    // <ab||ij>
    Block half_ovoo = bare_ovoo;
    half_ovoo["mbij"] -= 0.5 * t1["bn"] * V.oooo["mnij"];
    H.vvoo = V.spaces.tensor(world, "abij", "antisym(a,b) antisym(i,j)", "dressed <ab||ij>");
    H.vvoo["abij"] = V.oovv["ijab"];
    H.vvoo["abij"] -= antisymmetrized(t1["am"] * half_ovoo["mbij"]);
    H.vvoo["abij"] += antisymmetrized(t1["ei"] * half_ket["abej"]);
}

}  // namespace

DressedHamiltonian dress(const SpinIntegrals& integrals, const Tensor<double>& t1) {
    DressedHamiltonian H{integrals.spaces};
    dress_fock(integrals, t1, H);
    dress_like_pairs(integrals, t1, H);
    dress_mixed(integrals, t1, H);
    return H;
}

}  // namespace arges::chemistry
