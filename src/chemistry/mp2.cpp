#include "chemistry/mp2.hpp"

namespace arges::chemistry {

Tensor<double> first_order_doubles(const SpinIntegrals& integrals) {
    const World& world = integrals.oovv.world();
    Tensor<double> t2 = integrals.spaces.tensor(world, "abij", "antisym(a,b) antisym(i,j)", "T2");
    t2["abij"] = integrals.oovv["ijab"];
    divide_by_denominators(t2, integrals);
    return t2;
}

double mp2_energy(const SpinIntegrals& integrals) {
    const Tensor<double> t2 = first_order_doubles(integrals);
    Tensor<double> energy(integrals.oovv.world(), {});
    energy[""] = 0.25 * integrals.oovv["ijab"] * t2["abij"];
    return energy.scalar();
}

}  // namespace arges::chemistry
