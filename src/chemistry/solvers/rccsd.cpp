// MP2 amplitudes, energies and the parts of an iteration for closed shells over spatial orbitals; the residuals are in rccsd_equations.cpp.
#include "arges/chemistry/rccsd.hpp"

#include "arges/chemistry/denominators.hpp"

#include <utility>

namespace arges::chemistry {

TensorSet rmp2_amplitudes(const SpatialIntegrals& integrals) {
    Tensor<double> t1 = integrals.spaces.tensor(integrals.V.world(), "ai", "", "T1");
    t1["ai"] = integrals.f_ov["ia"];
    Tensor<double> t2 = integrals.V;
    divide_by_denominators(t1, integrals.occupied, integrals.virtuals);
    divide_by_denominators(t2, integrals.occupied, integrals.virtuals);
    return TensorSet({{"T1", std::move(t1)}, {"T2", std::move(t2)}});
}

double rmp2_energy(const SpatialIntegrals& integrals) {
    const TensorSet t = rmp2_amplitudes(integrals);
    Tensor<double> singles(integrals.V.world(), {});
    singles[""] = 2.0 * integrals.f_ov["ia"] * t["T1"]["ai"];
    return singles.scalar() + integrals.L.dot(t["T2"]);
}

double rccsd_energy(const SpatialIntegrals& integrals, const TensorSet& t) {
    // E = 2 f_ia t_i^a + L(abij) (t_ij^ab + t_i^a t_j^b)
    const Tensor<double>& t1 = t["T1"];
    const World& world = integrals.V.world();
    Tensor<double> field = integrals.spaces.tensor(world, "ia", "", "2 f(ia) + L t1");
    field["ia"] = 2.0 * integrals.f_ov["ia"] + integrals.L["abij"] * t1["bj"];
    Tensor<double> energy(world, {});
    energy[""] = field["ia"] * t1["ai"];
    return energy.scalar() + integrals.L.dot(t["T2"]);
}

AmplitudeEquations rccsd_equations(const SpatialIntegrals& integrals) {
    AmplitudeEquations equations{"RCCSD"};
    equations.residuals = [&](const TensorSet& t) { return rccsd_residuals(integrals, t); };
    equations.energy = [&](const TensorSet& t) { return rccsd_energy(integrals, t); };
    equations.divide = [&](Tensor<double>& residual) { divide_by_denominators(residual, integrals.occupied, integrals.virtuals); };
    return equations;
}

}  // namespace arges::chemistry
