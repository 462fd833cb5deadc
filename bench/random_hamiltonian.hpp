/// Closed-shell coupled cluster over random numbers: what the equations take does not depend on the molecule.
#pragma once

#include <arges/arges.hpp>

#include "arges/chemistry/rccsd.hpp"

namespace bench {

inline arges::chemistry::Fcidump random_hamiltonian(const arges::World& world, std::int64_t occupied, std::int64_t virtuals) {
    const std::int64_t n = occupied + virtuals;
    arges::chemistry::Fcidump data;
    data.header.orbitals = n;
    data.header.electrons = 2 * occupied;
    data.one_electron = arges::Tensor<double>(world, {n, n}, "pq", "sym(p,q)", "h");
    const double gap = static_cast<double>(n * n);
    data.one_electron.fill([&](arges::Index x) { return x[0] != x[1] ? 0.0 : x[0] < occupied ? -gap : gap; });
    data.two_electron = arges::Tensor<double>(world, {n, n, n, n}, "pqrs", "sym(sym(p,q),sym(r,s))", "(pq|rs)");
    data.two_electron.fill_random(1, -1e-2, 1e-2);
    return data;
}

inline arges::chemistry::TensorSet random_amplitudes(const arges::chemistry::SpatialIntegrals& integrals) {
    auto t = rmp2_amplitudes(integrals);
    t["T1"].fill_random(2, -1e-2, 1e-2);
    t["T2"].fill_random(3, -1e-2, 1e-2);
    return t;
}

/// Multiplications and additions of the ladder terms, of all of their elements.
inline double ladder_flops(std::int64_t occupied, std::int64_t virtuals) {
    const auto o = static_cast<double>(occupied), v = static_cast<double>(virtuals);
    return o * o * v * v * (v * v + 2 * o * o);
}

/// Half of those of a ring term.
inline double ring_flops(std::int64_t occupied, std::int64_t virtuals) {
    const auto o = static_cast<double>(occupied), v = static_cast<double>(virtuals);
    return o * o * o * v * v * v;
}

}  // namespace bench
