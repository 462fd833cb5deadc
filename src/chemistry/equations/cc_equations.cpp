// Amplitude equations of CCSD, CCSDT and CCSDTQ: the terms of Noga and Bartlett, J. Chem. Phys. 86, 7041 (1987), and Kucharski and
// Bartlett, J. Chem. Phys. 97, 4282 (1992), arranged anew.
// Letters: i j k l m n are occupied, a b c d e f virtual spin orbitals. t2["abij"] is t_ij^ab,
// t3["abcijk"] is t_ijk^abc. H is the Hamiltonian dressed with T1 (see dressed_hamiltonian.hpp), so
// T1 is not in the equations; H.ovvv["maef"] is <ma||ef> of it. antisymmetrized() is the P(a/bc)
// P(ij/k) of papers: the signed sum over the distinct permutations of open labels.
#include "arges/chemistry/cc_equations.hpp"

#include "arges/chemistry/denominators.hpp"
#include "arges/error.hpp"
#include "chemistry/equations/effective_hamiltonian.hpp"

#include <array>
#include <string>

namespace arges::chemistry {

namespace {

const std::array<const char*, 5> letters{"", "ai", "abij", "abcijk", "abcdijkl"};
const std::array<const char*, 5> antisymmetry{"", "", "antisym(a,b) antisym(i,j)", "antisym(a,b,c) antisym(i,j,k)",
                                              "antisym(a,b,c,d) antisym(i,j,k,l)"};

/// Zero triples of which one virtual and one occupied index stand apart: (abmeij), antisymmetric in
/// a, b and in i, j alone, nine times the size of T3 or less.
Tensor<double> open_triples(const SpinSpaces& spaces, const World& world, std::string name) {
    return spaces.tensor(world, "abmeij", "antisym(a,b) antisym(i,j)", std::move(name));
}

/// <Phi_i^a|
void add_singles(const DressedHamiltonian& H, const TensorSet& t, const Tensor<double>& open_t3, Tensor<double>& R1) {
    const Tensor<double>& t2 = t["T2"];
    R1["ai"] = H.f_vo["ai"] + H.f_ov["me"] * t2["aeim"] - 0.5 * H.ovvv["maef"] * t2["efim"] - 0.5 * H.ooov["mnie"] * t2["aemn"];
    if (t.contains("T3")) R1["ai"] += 0.25 * H.oovv["mnef"] * open_t3["efiamn"];
}

/// <Phi_ij^ab|; X_ovvo has <mn||ef> t_jn^bf once, the equation needs half of it.
void add_doubles(const DressedHamiltonian& H, const EffectiveHamiltonian& E, const TensorSet& t, const Tensor<double>& open_t3,
                 Tensor<double>& R2) {
    const Tensor<double>& t2 = t["T2"];
    R2["abij"] = H.vvoo["abij"];
    R2["abij"] += antisymmetrized(E.X_vv["be"] * t2["aeij"]);
    R2["abij"] -= antisymmetrized(E.X_oo["mj"] * t2["abim"]);
    R2["abij"] += 0.5 * H.vvvv["abef"] * t2["efij"];
    R2["abij"] += 0.5 * E.X_oooo["mnij"] * t2["abmn"];
    R2["abij"] += 0.5 * antisymmetrized((H.ovvo["mbej"] + E.X_ovvo["mbej"]) * t2["aeim"]);
    if (t.contains("T3")) {
        R2["abij"] += H.f_ov["me"] * open_t3["abmeij"];
        R2["abij"] -= 0.5 * antisymmetrized(H.ovvv["mbef"] * open_t3["efmaij"]);
        R2["abij"] -= 0.5 * antisymmetrized(H.ooov["mnje"] * open_t3["abiemn"]);
    }
    if (t.contains("T4")) R2["abij"] += 0.25 * H.oovv["mnef"] * t["T4"]["abefijmn"];
}

/// <Phi_ijk^abc|; the terms that leave one virtual and one occupied line apart from the others are
/// summed first and antisymmetrized together.
void add_triples(const DressedHamiltonian& H, const EffectiveHamiltonian& E, const TensorSet& t, const Tensor<double>& open_t3,
                 Tensor<double>& R3) {
    const Tensor<double>&t2 = t["T2"], &t3 = t["T3"];
    Tensor<double> open_R3 = open_triples(H.spaces, H.oovv.world(), "open R3");
    open_R3["abkcij"] = E.X_ovvo["mcek"] * open_t3["abmeij"];
    open_R3["bckaij"] += E.W_vvvo["bcek"] * t2["aeij"];
    open_R3["abicjk"] -= E.W_ovoo["mcjk"] * t2["abim"];
    R3["abcijk"] += antisymmetrized(open_R3["abkcij"]);
    R3["abcijk"] += antisymmetrized(E.X_vv["ce"] * t3["abeijk"]);
    R3["abcijk"] -= antisymmetrized(E.X_oo["mk"] * t3["abcijm"]);
    R3["abcijk"] += 0.5 * antisymmetrized(E.X_vvvv["abef"] * t3["efcijk"]);
    R3["abcijk"] += 0.5 * antisymmetrized(E.X_oooo["mnij"] * t3["abcmnk"]);
    if (t.contains("T4")) {
        const Tensor<double>& t4 = t["T4"];
        R3["abcijk"] += H.f_ov["me"] * t4["abceijkm"];
        R3["abcijk"] -= 0.5 * antisymmetrized(H.ovvv["mcef"] * t4["abefijkm"]);
        R3["abcijk"] -= 0.5 * antisymmetrized(H.ooov["mnke"] * t4["abceijmn"]);
    }
}

void check_rank(int rank) {
    if (rank < 2 || rank > 4)
        throw InvalidArgument("coupled cluster with " + std::to_string(rank) +
                              " kinds of excitations; use 2 (CCSD), 3 (CCSDT) or 4 (CCSDTQ)");
}

}  // namespace

TensorSet zero_amplitudes(const SpinIntegrals& integrals, int rank) {
    check_rank(rank);
    std::vector<std::pair<std::string, Tensor<double>>> members;
    for (std::size_t n = 1; n <= static_cast<std::size_t>(rank); ++n) {
        const std::string name = "T" + std::to_string(n);
        members.emplace_back(name, integrals.spaces.tensor(integrals.oovv.world(), letters[n], antisymmetry[n], name));
    }
    return TensorSet(std::move(members));
}

TensorSet cc_residuals(const SpinIntegrals& integrals, const TensorSet& t) {
    TensorSet residuals = zero_amplitudes(integrals, t.members().size());
    for (const Tensor<double>& residual : residuals.members()) t[residual.name()];  // throws if one is missing
    const DressedHamiltonian H = dress(integrals, t["T1"]);
    Tensor<double> open_t3;
    if (t.contains("T3")) {
        open_t3 = open_triples(integrals.spaces, integrals.oovv.world(), "open T3");
        open_t3["abmeij"] = t["T3"]["abeijm"];
    }
    const EffectiveHamiltonian E = effective_hamiltonian(H, t, open_t3);
    add_singles(H, t, open_t3, residuals["T1"]);
    add_doubles(H, E, t, open_t3, residuals["T2"]);
    if (t.contains("T3")) add_triples(H, E, t, open_t3, residuals["T3"]);
    if (t.contains("T4")) add_quadruples(H, E, t, residuals["T4"]);
    return residuals;
}

double cc_energy(const SpinIntegrals& integrals, const TensorSet& t) {
    // E = f_ia t_i^a + 1/4 <ij||ab> t_ij^ab + 1/2 <ij||ab> t_i^a t_j^b
    const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
    const World& world = integrals.oovv.world();
    Tensor<double> field = integrals.spaces.tensor(world, "ia", "", "f(ia) + <ij||ab> t(bj) / 2");
    field["ia"] = integrals.f_ov["ia"] + 0.5 * integrals.oovv["ijab"] * t1["bj"];
    Tensor<double> energy(world, {});
    energy[""] = field["ia"] * t1["ai"] + 0.25 * integrals.oovv["ijab"] * t2["abij"];
    return energy.scalar();
}

AmplitudeEquations cc_equations(const SpinIntegrals& integrals, int rank) {
    check_rank(rank);
    AmplitudeEquations equations{rank == 2 ? "CCSD" : rank == 3 ? "CCSDT" : "CCSDTQ"};
    equations.residuals = [&integrals, rank](const TensorSet& t) {
        return rank == 2 ? ccsd_residuals(integrals, t) : cc_residuals(integrals, t);
    };
    equations.energy = [&integrals](const TensorSet& t) { return cc_energy(integrals, t); };
    equations.divide = [&integrals](Tensor<double>& residual) { divide_by_denominators(residual, integrals.occupied, integrals.virtuals); };
    return equations;
}

}  // namespace arges::chemistry
