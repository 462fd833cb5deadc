// The (T) over spin orbitals: Raghavachari, Trucks, Pople and Head-Gordon, Chem. Phys. Lett. 157, 479 (1989); with f(i,a), Watts, Gauss and
// Bartlett, J. Chem. Phys. 98, 8718 (1993).
#include "arges/chemistry/triples.hpp"

#include "arges/chemistry/denominators.hpp"

namespace arges::chemistry {

double triples_energy(const SpinIntegrals& integrals, const TensorSet& t) {
    const World& world = integrals.oovv.world();
    const Tensor<double>&t1 = t["T1"], &t2 = t["T2"];
    const char* const antisymmetry = "antisym(a,b,c) antisym(i,j,k)";
    // Connected part, D_ijk^abc t_ijk^abc(c) =
    //     P(i/jk) P(a/bc) [sum_e t_jk^ae <ei||bc> - sum_m t_im^bc <ma||jk>].
    // antisymmetrized() is P(i/jk) P(a/bc), since integrals and amplitudes are antisymmetric in bc
    // and jk already. <ei||bc> = -<ie||bc> and <ma||jk> = <jk||ma>.
    Tensor<double> connected = integrals.spaces.tensor(world, "abcijk", antisymmetry, "T3 connected");
    connected["abcijk"] -= antisymmetrized(t2["aejk"] * integrals.ovvv["iebc"]);
    connected["abcijk"] -= antisymmetrized(t2["bcim"] * integrals.ooov["jkma"]);

    // With the disconnected part,
    // D_ijk^abc t_ijk^abc(d) = P(i/jk) P(a/bc) [t_i^a <jk||bc> + f_ia t_jk^bc].
    Tensor<double> both = connected;
    both["abcijk"] += antisymmetrized(t1["ai"] * integrals.oovv["jkbc"]);
    both["abcijk"] += antisymmetrized(integrals.f_ov["ia"] * t2["bcjk"]);
    divide_by_denominators(both, integrals.occupied, integrals.virtuals);

    // E(T) = 1/36 sum t(c) D [t(c) + t(d)]
    return connected.dot(both) / 36;
}

}  // namespace arges::chemistry
