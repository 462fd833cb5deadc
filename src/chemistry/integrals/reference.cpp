// Fock matrices and energy of a determinant from its integrals (Szabo and Ostlund, Modern Quantum Chemistry (1989), exercise 3.40).
#include "arges/chemistry/reference.hpp"

#include "arges/chemistry/frozen_orbitals.hpp"
#include "arges/error.hpp"
#include "base/text.hpp"
#include "chemistry/solvers/check_arguments.hpp"

#include <algorithm>
#include <cmath>

namespace arges::chemistry {

namespace {

constexpr const char* spin_names[] = {"alpha ", "beta "};

void measure(Reference& reference) {
    for (const SpinReference& spin : reference.spin) {
        const std::int64_t o = spin.occupied, n = o + spin.virtuals;
        for (std::int64_t p = 0; p < n; ++p)
            for (std::int64_t q = 0; q < p; ++q) {
                double& largest = (p < o) == (q < o) ? reference.off_diagonal : reference.brillouin;
                largest = std::max(largest, std::abs(spin.f(p, q)));
            }
    }
}

void check_orbital_energies(const SpinReference& spin, const std::vector<double>& energies, const std::string& where) {
    for (std::size_t p = 0; p < energies.size(); ++p) {
        const std::int64_t orbital = p;
        const double built = spin.f(orbital, orbital);
        if (!(std::abs(built - energies[p]) <= 1e-5))
            throw InvalidArgument(where + "orbital " + std::to_string(p + 1) + " has the energy " + printed("%.8f", energies[p]) +
                                  " in the file, but its integrals " + "with the first " + std::to_string(spin.occupied) +
                                  " orbitals occupied give " + printed("%.8f", built) +
                                  "; put the occupied orbitals first, or leave the energies out " + "if the orbitals are not canonical");
    }
}

void check_gap(const SpinReference& spin, const std::string& where) {
    const std::int64_t o = spin.occupied, n = o + spin.virtuals;
    if (o == 0 || o == n) return;
    double highest = spin.f(0, 0), lowest = spin.f(o, o);
    for (std::int64_t p = 0; p < o; ++p) highest = std::max(highest, spin.f(p, p));
    for (std::int64_t p = o; p < n; ++p) lowest = std::min(lowest, spin.f(p, p));
    if (!(lowest - highest >= 1e-6))
        throw InvalidArgument(where + "the highest occupied orbital (" + printed("%.6f", highest) +
                              " hartree) is not below the lowest virtual one (" + printed("%.6f", lowest) +
                              "), so the amplitudes have zero denominators; the first " + std::to_string(o) +
                              " orbitals must be the occupied ones of a Hartree-Fock ground state");
}

void check(const Reference& reference, const Fcidump& data, const std::string& source) {
    // Energies of an open shell over restricted orbitals are those of no one Fock matrix.
    const bool closed = data.header.closed_shell();
    for (std::size_t s = 0; s < (closed ? 1 : 2); ++s) {
        const std::string where = source + ": " + (closed ? "" : spin_names[s]);
        if (closed || data.beta)
            check_orbital_energies(reference.spin[s], s == 0 ? data.orbital_energies : data.beta->orbital_energies, where);
        check_gap(reference.spin[s], where);
    }
}

}  // namespace

Reference build_reference(const Fcidump& data, const std::string& source) {
    check_hamiltonian(data, source);
    const World& world = data.one_electron.world();
    const std::int64_t n = data.header.orbitals;
    Reference reference;
    reference.energy = data.core_energy;
    // E = 1/2 sum over spins of D_pq (h_pq + F_pq): Szabo and Ostlund (1989), exercise 3.40.
    const std::array<std::int64_t, 2> electrons{data.header.electrons_of(0), data.header.electrons_of(1)};
    for (std::size_t s : {0, 1}) {
        const std::int64_t occupied = electrons[s];
        if (s == 1 && data.header.closed_shell()) {
            reference.spin[1] = reference.spin[0];
            reference.energy += reference.energy - data.core_energy;
            break;
        }
        const Tensor<double> F = fock_matrix(data, electrons, s);
        std::vector<double> h(n * n);
        reference.spin[s] = {occupied, n - occupied, h};
        if (world.is_dry_run()) continue;
        h = data.one(s).gather();
        reference.spin[s].fock = F.gather();
        for (std::int64_t i = 0; i < occupied; ++i) reference.energy += 0.5 * (h[i + i * n] + reference.spin[s].f(i, i));
    }
    if (world.is_dry_run()) {
        const bool shared = !data.beta && !data.header.closed_shell();
        reference.off_diagonal = shared ? HUGE_VAL : 0;
        return reference;
    }
    measure(reference);
    check(reference, data, source);
    return reference;
}

}  // namespace arges::chemistry
