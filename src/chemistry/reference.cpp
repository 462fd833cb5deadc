#include "chemistry/reference.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace arges::chemistry {

namespace {

std::string number(double value, const char* form) {
    char text[40] = {};
    std::snprintf(text, sizeof text, form, value);
    return text;
}

void measure(Reference& reference) {
    const std::int64_t o = reference.occupied, n = o + reference.virtuals;
    for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t q = 0; q < p; ++q) {
            double& largest = (p < o) == (q < o) ? reference.off_diagonal : reference.brillouin;
            largest = std::max(largest, std::abs(reference.f(p, q)));
        }
}

void check_orbital_energies(const Reference& reference, const Fcidump& data,
                            const std::string& source) {
    for (std::size_t p = 0; p < data.orbital_energies.size(); ++p) {
        const auto orbital = static_cast<std::int64_t>(p);
        const double built = reference.f(orbital, orbital);
        if (std::abs(built - data.orbital_energies[p]) > 1e-5)
            throw InvalidArgument(source + ": orbital " + std::to_string(p + 1) +
                                  " has the energy " + number(data.orbital_energies[p], "%.8f") +
                                  " in the file, but its integrals with " + "the first " +
                                  std::to_string(reference.occupied) + " orbitals occupied give " +
                                  number(built, "%.8f") +
                                  "; put the occupied orbitals first, or leave the energies out " +
                                  "if the orbitals are not canonical");
    }
}

void check_gap(const Reference& reference, const std::string& source) {
    const std::int64_t o = reference.occupied, n = o + reference.virtuals;
    if (o == 0 || o == n) return;
    double highest = reference.f(0, 0), lowest = reference.f(o, o);
    for (std::int64_t p = 0; p < o; ++p) highest = std::max(highest, reference.f(p, p));
    for (std::int64_t p = o; p < n; ++p) lowest = std::min(lowest, reference.f(p, p));
    if (lowest - highest < 1e-6)
        throw InvalidArgument(
            source + ": the highest occupied orbital (" + number(highest, "%.6f") +
            " hartree) is not below the lowest virtual one (" + number(lowest, "%.6f") +
            "), so the amplitudes have zero denominators; the first " + std::to_string(o) +
            " orbitals must be the occupied ones of an RHF ground state");
}

}  // namespace

Reference build_reference(const Fcidump& data, const std::string& source) {
    const World& world = data.one_electron.world();
    const std::int64_t n = data.header.orbitals;
    Reference reference;
    reference.occupied = data.header.electrons / 2;
    reference.virtuals = n - reference.occupied;

    // Szabo and Ostlund, Modern Quantum Chemistry (1989), eqs. 3.145, 3.154 and 3.184:
    //   D_kl = 2 delta_kl for occupied k,  F_pq = h_pq + sum_kl D_kl [(pq|kl) - (pk|ql)/2],
    //   E = sum_pq D_pq (h_pq + F_pq) / 2
    const Tensor<double>& h = data.one_electron;
    const Tensor<double>& g = data.two_electron;
    Tensor<double> D(world, {n, n}, "pq", "sym(p,q)", "density matrix");
    Tensor<double> F(world, {n, n}, "pq", "sym(p,q)", "Fock matrix");
    D.fill([&](Index x) { return x[0] == x[1] && x[0] < reference.occupied ? 2.0 : 0.0; });
    F["pq"] = h["pq"] + canonical(g["pqkl"] * D["kl"]) - 0.5 * canonical(g["pkql"] * D["kl"]);
    reference.energy = data.core_energy + 0.5 * (D.dot(h) + D.dot(F));

    if (world.is_dry_run()) {
        reference.fock.assign(static_cast<std::size_t>(n * n), 0.0);
        return reference;
    }
    reference.fock = F.gather();
    measure(reference);
    check_orbital_energies(reference, data, source);
    check_gap(reference, source);
    return reference;
}

void require_canonical(const Reference& reference, const std::string& method) {
    if (reference.is_canonical()) return;
    const bool rotated = reference.off_diagonal > 1e-6;
    throw InvalidArgument(
        method +
        " needs canonical RHF orbitals, but the Fock matrix of this file has an element of " +
        number(rotated ? reference.off_diagonal : reference.brillouin, "%.2e") +
        (rotated ? " off the diagonal" : " between an occupied and a virtual orbital") +
        "; use canonical orbitals, or --method ccsd, which takes any orbitals");
}

}  // namespace arges::chemistry
