// The dressed Hamiltonian with T2, T3 and T4 folded in, for the terms of Noga and Bartlett (1987) and Kucharski and Bartlett (1992).
// Letters as in cc_equations.cpp. A block takes in those products of an integral with one amplitude
// that leave its own open lines; an amplitude that is attached to it afterwards by fewer lines than
// remain completes a product of two. Each product of two is so formed once: the amplitude with the
// larger number of lines to the integral goes into the block.
#include "chemistry/equations/effective_hamiltonian.hpp"

namespace arges::chemistry {

namespace {

/// Blocks that are dressed with T2 through <mn||ef>.
void add_two_line_blocks(const DressedHamiltonian& H, const Tensor<double>& t2, EffectiveHamiltonian& E) {
    E.X_vv = H.f_vv;
    E.X_vv.set_name("X(ae)");
    E.X_vv["ae"] -= 0.5 * H.oovv["mnef"] * t2["afmn"];
    E.X_oo = H.f_oo;
    E.X_oo.set_name("X(mi)");
    E.X_oo["mi"] += 0.5 * H.oovv["mnef"] * t2["efin"];
    E.X_oooo = H.oooo;
    E.X_oooo.set_name("X(mnij)");
    E.X_oooo["mnij"] += 0.5 * H.oovv["mnef"] * t2["efij"];
    E.X_ovvo = H.ovvo;
    E.X_ovvo.set_name("X(mbej)");
    E.X_ovvo["mbej"] += H.oovv["mnef"] * t2["bfjn"];
}

/// Blocks that are multiplied by amplitudes of one excitation less than the residual has.
void add_three_line_blocks(const DressedHamiltonian& H, const Tensor<double>& t2, const Tensor<double>& open_t3, EffectiveHamiltonian& E) {
    E.W_vvvo = H.vvvo;
    E.W_vvvo.set_name("W(bcek)");
    E.W_vvvo["bcek"] += H.f_ov["me"] * t2["bckm"];
    E.W_vvvo["bcek"] -= antisymmetrized(H.ovvv["mbef"] * t2["fcmk"]);
    E.W_vvvo["bcek"] -= 0.5 * H.ooov["mnke"] * t2["bcmn"];
    E.W_vvvo["bcek"] += 0.5 * H.oovv["mnef"] * open_t3["bckfmn"];
    E.W_ovoo = H.ovoo;
    E.W_ovoo.set_name("W(mcjk)");
    E.W_ovoo["mcjk"] += 0.5 * H.ovvv["mcef"] * t2["efjk"];
    E.W_ovoo["mcjk"] += antisymmetrized(H.ooov["mnje"] * t2["ecnk"]);
    E.W_ovoo["mcjk"] -= 0.5 * H.oovv["mnef"] * open_t3["efncjk"];
}

/// Three-electron blocks: I(abcije) takes t_kl^ed, I(abmijk) takes t_ml^cd.
void add_three_electron_terms(const DressedHamiltonian& H, const EffectiveHamiltonian& E, const TensorSet& t, Tensor<double>& R4) {
    const World& world = H.oovv.world();
    const Tensor<double>&t2 = t["T2"], &t3 = t["T3"], &t4 = t["T4"];
    Tensor<double> I_vvvoov = H.spaces.tensor(world, "abcije", "antisym(a,b,c) antisym(i,j)", "I(abcije)");
    I_vvvoov["abcije"] += 0.5 * antisymmetrized(E.X_vvvv["abef"] * t2["fcij"]);
    I_vvvoov["abcije"] += antisymmetrized(E.X_ovvo["mcej"] * t2["abim"]);
    I_vvvoov["abcije"] -= antisymmetrized(H.ovvv["maef"] * t3["bcfijm"]);
    I_vvvoov["abcije"] -= 0.5 * antisymmetrized(H.ooov["mnie"] * t3["abcmnj"]);
    I_vvvoov["abcije"] -= 0.5 * H.oovv["mnef"] * t4["abcfijmn"];
    R4["abcdijkl"] += antisymmetrized(I_vvvoov["abcije"] * t2["edkl"]);

    Tensor<double> I_vvoooo = H.spaces.tensor(world, "abmijk", "antisym(a,b) antisym(i,j,k)", "I(abmijk)");
    I_vvoooo["abmijk"] += 0.5 * antisymmetrized(E.X_oooo["mnij"] * t2["abnk"]);
    I_vvoooo["abmijk"] -= antisymmetrized(H.ooov["mnie"] * t3["abejkn"]);
    I_vvoooo["abmijk"] -= 0.5 * antisymmetrized(H.ovvv["maef"] * t3["efbijk"]);
    I_vvoooo["abmijk"] -= 0.5 * H.oovv["mnef"] * t4["abefijkn"];
    R4["abcdijkl"] += antisymmetrized(I_vvoooo["abmijk"] * t2["cdml"]);
}

/// Products of two T3, each with two lines to <mn||ef>.
void add_triples_squared(const DressedHamiltonian& H, const Tensor<double>& t3, Tensor<double>& R4) {
    const World& world = H.oovv.world();
    Tensor<double> ladder = H.spaces.tensor(world, "amnijk", "antisym(m,n) antisym(i,j,k)", "<mn||ef> t(aefijk)");
    ladder["amnijk"] = H.oovv["mnef"] * t3["aefijk"];
    R4["abcdijkl"] += 0.25 * antisymmetrized(ladder["amnijk"] * t3["bcdmnl"]);
    Tensor<double> ring = H.spaces.tensor(world, "abnijf", "antisym(a,b) antisym(i,j)", "<mn||ef> t(abeijm)");
    ring["abnijf"] = H.oovv["mnef"] * t3["abeijm"];
    R4["abcdijkl"] += 0.5 * antisymmetrized(ring["abnijf"] * t3["cdfkln"]);
}

}  // namespace

EffectiveHamiltonian effective_hamiltonian(const DressedHamiltonian& H, const TensorSet& t, const Tensor<double>& open_t3) {
    EffectiveHamiltonian E;
    add_two_line_blocks(H, t["T2"], E);
    if (!t.contains("T3")) return E;
    E.X_vvvv = H.vvvv;
    E.X_vvvv.set_name("X(abef)");
    E.X_vvvv["abef"] += 0.5 * H.oovv["mnef"] * t["T2"]["abmn"];
    add_three_line_blocks(H, t["T2"], open_t3, E);
    return E;
}

void add_quadruples(const DressedHamiltonian& H, const EffectiveHamiltonian& E, const TensorSet& t, Tensor<double>& R4) {
    const Tensor<double>&t2 = t["T2"], &t3 = t["T3"], &t4 = t["T4"];
    // In the equation of triples f(m,e) t t is in W_vvvo as a whole; here its two factors differ.
    Tensor<double> W_ovoo = E.W_ovoo;
    W_ovoo["mdkl"] += H.f_ov["me"] * t2["edkl"];
    R4["abcdijkl"] += antisymmetrized(E.W_vvvo["cdel"] * t3["abeijk"]);
    R4["abcdijkl"] -= antisymmetrized(W_ovoo["mdkl"] * t3["abcijm"]);
    R4["abcdijkl"] += antisymmetrized(E.X_vv["de"] * t4["abceijkl"]);
    R4["abcdijkl"] -= antisymmetrized(E.X_oo["ml"] * t4["abcdijkm"]);
    R4["abcdijkl"] += 0.5 * antisymmetrized(E.X_vvvv["abef"] * t4["efcdijkl"]);
    R4["abcdijkl"] += 0.5 * antisymmetrized(E.X_oooo["mnij"] * t4["abcdmnkl"]);
    R4["abcdijkl"] += antisymmetrized(E.X_ovvo["mdel"] * t4["abceijkm"]);
    add_three_electron_terms(H, E, t, R4);
    add_triples_squared(H, t3, R4);
}

}  // namespace arges::chemistry
