// First-order amplitudes over spin orbitals and the MP2 energy (Szabo and Ostlund, Modern Quantum Chemistry (1989), eq. 6.74).
#include "arges/chemistry/mp2.hpp"

#include "arges/chemistry/cc_equations.hpp"
#include "arges/chemistry/denominators.hpp"

namespace arges::chemistry {

TensorSet first_order_amplitudes(const SpinIntegrals& integrals, int rank) {
    TensorSet t = zero_amplitudes(integrals, rank);
    t["T1"]["ai"] = integrals.f_ov["ia"];
    t["T2"]["abij"] = integrals.oovv["ijab"];
    for (const char* const name : {"T1", "T2"}) divide_by_denominators(t[name], integrals.occupied, integrals.virtuals);
    return t;
}

double mp2_energy(const SpinIntegrals& integrals) {
    const TensorSet t = first_order_amplitudes(integrals, 2);
    Tensor<double> energy(integrals.oovv.world(), {});
    energy[""] = integrals.f_ov["ia"] * t["T1"]["ai"] + 0.25 * integrals.oovv["ijab"] * t["T2"]["abij"];
    return energy.scalar();
}

}  // namespace arges::chemistry
